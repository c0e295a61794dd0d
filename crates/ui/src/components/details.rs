//! Foldable sections.

use leptos::{ev, wasm_bindgen::JsCast, web_sys::HtmlDetailsElement};

/// Returns true if the `details` element of a `toggle` event is open now.
pub fn is_details_open(event: &ev::Event) -> bool {
    let details = event.target().and_then(|target| target.dyn_into().ok());
    details.is_some_and(|details: HtmlDetailsElement| details.open())
}
