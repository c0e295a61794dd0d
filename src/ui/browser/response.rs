//! What rendering says about the response.

use axum::http::StatusCode;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// There is nothing at the address.
pub fn not_found() {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.set_status(StatusCode::NOT_FOUND);
    }
}
