//! The pages: the HTML around the interface, which the server renders first and the browser then takes over.

use axum::{
    Router,
    http::{HeaderValue, StatusCode, header, request::Parts},
    middleware,
    routing::any,
};
use leptos::{nonce::use_nonce, prelude::*};
use leptos_axum::{AxumRouteListing, LeptosRoutes, ResponseOptions};
use leptos_meta::MetaTags;
use leptos_router::{Method, SsrMode};
use tower_http::limit::RequestBodyLimitLayer;

use super::{AppState, rpc_errors};
use crate::{
    assets::{self, Manifest, dev_reload},
    notices::Notice,
    ui::Root,
};

/// Sets the theme that was chosen before anything is painted, so that no page flashes in the wrong one.
const THEME: &str = "try{const t=localStorage.getItem('parlor-theme');\
                     if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}";

/// The pages, the server functions that they call, and what they are made of.
pub fn routes(app: &AppState) -> Router<AppState> {
    // The interface is one view for every address; for axum, `/` is not among "everything below /".
    let page = |path: &str| AxumRouteListing::new(path.into(), SsrMode::Async, [Method::Get], []);
    let pages = vec![page("/"), page("/{*place}")];
    let context = {
        let app = app.clone();
        move || provide_context(app.clone())
    };
    Router::new()
        .leptos_routes_with_context(app, pages, context, shell)
        .route("/rpc/{*unknown}", any(|| async { StatusCode::NOT_FOUND }))
        // Server functions read their bodies themselves, past the limit of the other handlers.
        .layer(RequestBodyLimitLayer::new(app.settings.limits.request_bytes))
        .layer(middleware::from_fn(rpc_errors::complete))
        .merge(assets::router())
}

/// Shows the end of a conversation at once, as the page will once it is taken over.
const SHOW_THE_END: &str = "document.querySelector('.transcript')?.scrollTo(0,1e9)";

fn shell() -> impl IntoView {
    let nonce = use_nonce();
    if let (Some(response), Some(nonce)) = (use_context::<ResponseOptions>(), &nonce) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, content_security_policy(nonce));
        // A page is one person's, and as of now.
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    let long_answer = use_context::<AppState>().map(|app| {
        let seconds = app.settings.timeouts.long_answer_seconds;
        (seconds * 1000.0).ceil().to_string()
    });
    // Behind the interface, which the browser takes over from the first element of the body on; the style sheet has them first.
    let notices = use_context::<AppState>().map_or(Vec::new(), |app| app.notices.all());
    let notices = (!notices.is_empty()).then(|| {
        let notice = |Notice { title, text }| view! { <details open><summary>{title}</summary><p>{text}</p></details> };
        view! { <aside class="notices" aria-label="Notices">{notices.into_iter().map(notice).collect_view()}</aside> }
    });
    let Manifest { js, wasm, css } = Manifest::current();
    // A conversation is not taken over without it, and is not to wait for it after all else.
    let is_conversation = use_context::<Parts>().is_some_and(|parts| parts.uri.path().starts_with("/c/"));
    let markdown = wasm.rsplit_once('/').filter(|_| is_conversation);
    let markdown = markdown.map(|(folder, _)| [folder, "/split_markdown.wasm"].concat());
    let start = format!(
        "import init, {{ hydrate }} from {js:?}; init({{ module_or_path: {wasm:?} }}).then(hydrate);"
    );
    view! {
        <!DOCTYPE html>
        <html lang="en" data-long-answer-ms=long_answer>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content"/>
                <meta name="color-scheme" content="light dark"/>
                <script nonce=nonce.clone()>{THEME}</script>
                <link rel="stylesheet" href=css/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <link rel="modulepreload" href=js/>
                <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin=""/>
                {markdown.map(|file| view! { <link rel="preload" href=file r#as="fetch" r#type="application/wasm" crossorigin=""/> })}
                <script type="module" nonce=nonce.clone()>{start}</script>
                {dev_reload::script().map(|address| view! { <script type="module" src=address></script> })}
                <MetaTags/>
            </head>
            <body>
                <Root/>
                {notices}
                <script nonce=nonce>{SHOW_THE_END}</script>
            </body>
        </html>
    }
}

/// Scripts are our own or carry this page's nonce; nothing is loaded from anywhere else.
fn content_security_policy(nonce: &leptos::nonce::Nonce) -> HeaderValue {
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         connect-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}
