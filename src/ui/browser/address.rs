//! The address bar and the browser's history.

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::window};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement};

/// The path of the address, with its query.
pub fn current_address() -> String {
    let location = window().location();
    let mut address = location.pathname().unwrap_or_default();
    address.push_str(&location.search().unwrap_or_default());
    address
}

/// Changes the address without loading the page. With `replace`, *Back* does not return to the present address.
pub fn set_address(path: &str, replace: bool) {
    let Ok(history) = window().history() else { return };
    let _ = if replace {
        history.replace_state_with_url(&JsValue::NULL, "", Some(path))
    } else if current_address() == path {
        // Navigating to the present address does nothing.
        Ok(())
    } else {
        history.push_state_with_url(&JsValue::NULL, "", Some(path))
    };
}

/// Calls with the new address when the user navigates by a link, or back and forward.
pub fn on_navigate(call: impl Fn(String) + 'static) {
    let call = std::rc::Rc::new(call);
    let pressed = call.clone();
    // The page's own listeners: they live as long as the page.
    let _ = window_event_listener(ev::popstate, move |_| call(current_address()));
    let _ = window_event_listener(ev::click, move |event| {
        if let Some(link) = link_to_follow(&event) {
            event.prevent_default();
            let mut path = link.pathname();
            path.push_str(&link.search());
            set_address(&path, false);
            pressed(path);
        }
    });
}

/// The clicked link, if it leads to another address of Parlor in this tab. Fragments of the present page are left to
/// the browser.
fn link_to_follow(event: &ev::MouseEvent) -> Option<HtmlAnchorElement> {
    if !super::is_plain_click(event) || event.default_prevented() {
        return None;
    }
    let pressed: Element = event.target()?.dyn_into().ok()?;
    let link: HtmlAnchorElement = pressed.closest("a[href]").ok()??.dyn_into().ok()?;
    let here = window().location().origin().ok()?;
    let is_same_site = link.origin() == here && link.hash().is_empty();
    (is_same_site && link.target().is_empty() && !link.has_attribute("download")).then_some(link)
}
