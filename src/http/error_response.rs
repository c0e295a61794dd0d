//! Error responses in the form that the client can read: the page's server functions, programs, and browsers
//! that show the response to a user.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
};
use serde_json::Value;

use super::{
    openapi, problem,
    problem::{CommonExtensions, Problem},
    rpc,
    security::{is_api, is_path_below, is_rpc},
    texts,
};
use parlor_protocol::{ApiError, ErrorCode, text::truncate_chars};

/// The maximum length of a path that a response quotes, in characters.
const MAX_SHOWN_PATH_CHARS: usize = 200;

/// Returns the response for an error.
pub fn respond(uri: &Uri, request: &HeaderMap, error: ApiError) -> Response {
    let path = uri.path();
    // A client with a token is a program, whatever the path.
    if is_rpc(path) && error.code != ErrorCode::Unauthorized {
        return rpc::respond(&error);
    }
    if !is_program_path(path) && accepts_html(request) {
        let title = texts::REFUSED_TITLE;
        let mut response = message_page(status(&error), title, &error.message, None);
        add_retry_after(response.headers_mut(), error.retry_after);
        return response;
    }
    Problem(error).into_response()
}

/// Adds the number of seconds after which the same request may succeed, if it is known.
pub fn add_retry_after(headers: &mut HeaderMap, seconds: Option<u64>) {
    if let Some(seconds) = seconds {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
}

/// Responds to a method that a path does not support. The router adds `Allow`.
pub async fn method_not_allowed(uri: Uri, headers: HeaderMap) -> Response {
    let why = "This path does not support this method; the header Allow lists the supported ones. Nothing was done.";
    respond(&uri, &headers, ApiError::new(ErrorCode::WrongMethod, why))
}

/// Responds to an unknown path of the API. Lists the known ones.
pub async fn unknown_path(uri: Uri) -> Response {
    let path = truncate_chars(uri.path(), MAX_SHOWN_PATH_CHARS);
    let detail = format!(
        "There is nothing at {path}. Parlor’s API is under /api/: addresses lists it, and GET /api/openapi.json describes it. A turn \
         is POST /api/chat/stream."
    );
    let code = ErrorCode::NotFound.as_str();
    let more = CommonExtensions {
        addresses: Some(&ROUTES),
    };
    problem::respond(StatusCode::NOT_FOUND, code, &detail, &more)
}

/// Every path of the API with its method, such as `GET /api/models`.
static ROUTES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(openapi::document()).unwrap_or_default();
    let paths = document["paths"].as_object().into_iter().flatten();
    let of_path = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().into_iter().flatten();
        let names = methods.map(|(method, _)| format!("{} {path}", method.to_uppercase()));
        names.collect::<Vec<_>>()
    };
    paths.flat_map(of_path).collect()
});

/// Asks the user before a search is sent to PubMed, since a page of another site opened it.
pub fn confirm_search_page(uri: &Uri) -> Response {
    let url = uri.path_and_query().map_or("/", |url| url.as_str());
    let message = texts::SEARCH_WARNING;
    message_page(StatusCode::FORBIDDEN, texts::SEARCH_TITLE, message, Some(url))
}

/// Returns the HTTP status of an error.
pub fn status(error: &ApiError) -> StatusCode {
    StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns true if programs use a path, not browsers.
pub fn is_program_path(path: &str) -> bool {
    is_api(path) || is_path_below("/v1", path)
}

/// Returns true if a request is a browser's for a page.
pub fn accepts_html(request: &HeaderMap) -> bool {
    let mut accepted = request.get_all(header::ACCEPT).iter();
    accepted.any(|value| value.to_str().is_ok_and(|types| types.contains("text/html")))
}

/// Returns a page with one message. It has no styles: where Parlor rejects the page, it may reject them too.
fn message_page(status: StatusCode, title: &str, message: &str, link: Option<&str>) -> Response {
    let message = html_escape::encode_text(message);
    let link = link.map(|url| {
        let url = html_escape::encode_double_quoted_attribute(url);
        format!("<p><a href=\"{url}\">{}</a></p>", texts::OPEN)
    });
    let html = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title} · Parlor</title></head>\
         <body><main><h1>{title}</h1><p role=\"alert\">{message}</p>{}</main></body></html>",
        link.unwrap_or_default()
    );
    (status, [(header::CACHE_CONTROL, "no-store")], Html(html)).into_response()
}
