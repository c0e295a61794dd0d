//! The frame of the plain pages: HTML documents without the chat's code and data, such as those of accounts. Their only script
//! applies the chosen theme.

use std::sync::LazyLock;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use leptos::prelude::*;
use ring::digest::{SHA256, digest};

use super::{page::THEME_SCRIPT, texts};
use crate::assets::Manifest;
use parlor_ui::brand_mark;

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(digest(&SHA256, THEME_SCRIPT.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'self'; img-src 'self'; font-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
});

/// A plain page.
pub struct Document<V> {
    pub status: StatusCode,
    pub title: &'static str,
    /// The classes of the body and of the content.
    pub classes: (&'static str, &'static str),
    /// The path of a style sheet besides the common one.
    pub style: Option<&'static str>,
    /// True to show whose page it is, above the title.
    pub has_brand: bool,
    pub content: V,
}

impl<V: IntoView> Document<V> {
    /// Returns the response, which is never stored by a cache.
    pub fn respond(self) -> Response {
        let Self {
            status,
            title,
            classes: (body_class, class),
            style,
            has_brand,
            content,
        } = self;
        let brand = has_brand.then(|| view! { <p class="brand">{brand_mark()} {texts::PARLOR}</p> });
        let page = view! {
            <!DOCTYPE html>
            <html lang="en">
                <head>
                    <meta charset="utf-8"/>
                    <meta name="viewport" content="width=device-width, initial-scale=1"/>
                    <meta name="color-scheme" content="light dark"/>
                    <title>{[title, " · Parlor"].concat()}</title>
                    <script>{THEME_SCRIPT}</script>
                    <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                    <link rel="stylesheet" href=Manifest::current().css/>
                    {style.map(|path| view! { <link rel="stylesheet" href=path/> })}
                </head>
                <body class=body_class>
                    <main class=class>
                        {brand}
                        <h1>{title}</h1>
                        {content}
                    </main>
                </body>
            </html>
        };
        let mut response = (status, Html(page.to_html())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Ok(policy) = HeaderValue::from_str(&POLICY) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        response
    }
}
