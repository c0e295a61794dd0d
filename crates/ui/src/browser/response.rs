//! Access of the renderer to the request and the response.

use axum::http::{StatusCode, request::Parts};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// The path of the requested URL, with its query.
pub fn current_url() -> String {
    let request = use_context::<Parts>();
    let url = request.and_then(|request| request.uri.path_and_query().map(ToString::to_string));
    url.unwrap_or_default()
}

/// Sets the title in the head of the server's page.
///
/// leptos_meta 0.8.7 writes the text between the tags without escaping, so it is escaped here. The browser never sees
/// the escaped text: it sets `document.title` itself.
pub fn set_title(text: impl Fn() -> String + Send + Sync + 'static) {
    leptos_meta::provide_meta_context();
    let text = move || html_escape::encode_text(&text()).into_owned();
    // Registers the text for the head; its view is not needed here.
    let _ = leptos_meta::Title(leptos_meta::TitleProps {
        formatter: None,
        text: Some(text.into()),
    });
}

/// Sets the status 404.
pub fn set_not_found() {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.set_status(StatusCode::NOT_FOUND);
    }
}

/// Loads the data of a page.
pub async fn load_for_page<T>(data: impl Future<Output = T>) -> T {
    data.await
}
