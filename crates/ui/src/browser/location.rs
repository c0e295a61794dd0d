//! The address bar and the browser's history.

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::window};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement};

use parlor_protocol::sharing::shared_key;

/// The path of the page's URL, with its query.
pub fn current_url() -> String {
    let location = window().location();
    let mut url = location.pathname().unwrap_or_default();
    url.push_str(&location.search().unwrap_or_default());
    url
}

/// Returns the whole URL of a path, for other people.
pub fn full_url(path: &str) -> String {
    let origin = window().location().origin().unwrap_or_default();
    [&origin, path].concat()
}

/// Changes the URL without loading the page. With `replace`, *Back* does not return to the present URL.
pub fn set_url(path: &str, replace: bool) {
    let Ok(history) = window().history() else { return };
    let _ = if replace {
        history.replace_state_with_url(&JsValue::NULL, "", Some(path))
    } else if current_url() == path {
        // Navigating to the present URL does nothing.
        Ok(())
    } else {
        history.push_state_with_url(&JsValue::NULL, "", Some(path))
    };
}

/// Calls with the new URL when the user navigates by a link, or back and forward.
pub fn on_navigate(call: impl Fn(String) + 'static) {
    let call = std::rc::Rc::new(call);
    let pressed = call.clone();
    // The page's own listeners: they live as long as the page.
    let _ = window_event_listener(ev::popstate, move |_| call(current_url()));
    let _ = window_event_listener(ev::click, move |event| {
        if let Some(link) = link_to_follow(&event) {
            event.prevent_default();
            let mut path = link.pathname();
            path.push_str(&link.search());
            set_url(&path, false);
            pressed(path);
        }
    });
}

/// The clicked link, if it leads to another URL of Parlor in this tab. Fragments of the present page are left to
/// the browser.
fn link_to_follow(event: &ev::MouseEvent) -> Option<HtmlAnchorElement> {
    if !super::is_plain_click(event) || event.default_prevented() {
        return None;
    }
    let pressed: Element = event.target()?.dyn_into().ok()?;
    let link: HtmlAnchorElement = pressed.closest("a[href]").ok()??.dyn_into().ok()?;
    let here = window().location().origin().ok()?;
    // The page of a share is none of the chat's.
    let is_chat = shared_key(&link.pathname()).is_none();
    let is_same_site = link.origin() == here && link.hash().is_empty() && is_chat;
    (is_same_site && link.target().is_empty() && !link.has_attribute("download")).then_some(link)
}
