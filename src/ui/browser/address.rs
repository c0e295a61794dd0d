//! The address, the history and the links.

use leptos::{
    ev,
    leptos_dom::helpers::window_event_listener,
    prelude::{location, window},
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement};

/// The path of the page's address.
pub fn path() -> String {
    location().pathname().unwrap_or_default()
}

/// Gives the page another address: a new one in the history, or in place of the last.
pub fn set_path(path: &str, replace: bool) {
    if let Ok(history) = window().history() {
        let _ = if replace {
            history.replace_state_with_url(&JsValue::NULL, "", Some(path))
        } else {
            history.push_state_with_url(&JsValue::NULL, "", Some(path))
        };
    }
}

/// Tells the new path whenever the person goes back or forward.
pub fn on_back_or_forward(call: impl Fn(String) + 'static) {
    // The page's own listener: it lives as long as it does.
    let _ = window_event_listener(ev::popstate, move |_| call(path()));
}

/// Tells the path of a link of this site that is pressed. If `call` returns true, the browser does not follow it.
pub fn on_link(call: impl Fn(&str) -> bool + 'static) {
    let _ = window_event_listener(ev::click, move |event| {
        // Whoever wants a new tab, or something else of the browser, gets it.
        let plain = event.button() == 0
            && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
        if event.default_prevented() || !plain {
            return;
        }
        let link = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok())
            .and_then(|element| element.closest("a[href]").ok().flatten())
            .and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok());
        let Some(link) = link else { return };
        let ours = location().origin().is_ok_and(|origin| origin == link.origin());
        // A place within a page is the browser's to find, and a query is for the server.
        let whole = link.hash().is_empty() && link.search().is_empty();
        let here = link.target().is_empty() && !link.has_attribute("download");
        if ours && whole && here && call(&link.pathname()) {
            event.prevent_default();
        }
    });
}
