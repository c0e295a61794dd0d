//! Popovers and menus: their positions next to their buttons, and the focus in them.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};

use super::focus;

/// Returns true if a `toggle` event says that its popover has opened.
pub fn is_toggled_open(event: &Event) -> bool {
    let element = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    element.is_some_and(|element| element.matches(":popover-open").unwrap_or(false))
}

/// The distance of a popover from its button and from the edges of the window, in pixels.
pub(super) const POPOVER_GAP_PX: f64 = 6.0;

/// Opens a popover next to a button. If its content shrinks, it keeps its height.
pub fn show_popover(popover: &HtmlElement, button: &HtmlElement) {
    let _ = popover.show_popover();
    place_popover(popover, button);
    let height = to_pixels(popover.offset_height().into());
    let _ = HtmlElement::style(popover).set_property("min-height", &height);
}

/// Formats a length for the style, in whole pixels: the code that formats floating-point numbers is large.
pub(super) fn to_pixels(length: f64) -> String {
    let mut text = (length.round() as i32).to_string();
    text.push_str("px");
    text
}

/// Places an open popover below a button, or above where there is more room.
pub fn place_popover(popover: &HtmlElement, button: &HtmlElement) {
    let (window_width, window_height) = viewport_size();
    let at = button.get_bounding_client_rect();
    let (above, below) = (at.top(), window_height - at.bottom());
    let style = HtmlElement::style(popover);
    let set = |property: &str, pixels: f64| {
        let _ = style.set_property(property, &to_pixels(pixels));
    };
    let _ = style.set_property("inset", "auto");
    let _ = style.set_property("margin", "0");
    set("max-height", above.max(below) - 2.0 * POPOVER_GAP_PX);
    let (width, height) = (
        f64::from(popover.offset_width()),
        f64::from(popover.offset_height()),
    );
    if height + 2.0 * POPOVER_GAP_PX <= below || below >= above {
        set("top", at.bottom() + POPOVER_GAP_PX);
    } else {
        set("bottom", window_height - at.top() + POPOVER_GAP_PX);
    }
    let rightmost = window_width - width - POPOVER_GAP_PX;
    set("left", at.left().min(rightmost).max(POPOVER_GAP_PX));
}

/// Positions a popover that has opened next to the button that names it as its target.
pub fn place_opened(event: &Event) {
    let popover: Option<HtmlElement> = event.target().and_then(|target| target.dyn_into().ok());
    let Some(popover) = popover.filter(|_| is_toggled_open(event)) else {
        return;
    };
    place_beside(&popover, &["[popovertarget='", &popover.id(), "']"].concat());
}

/// Places an open popover next to the button that matches.
pub fn place_beside(popover: &HtmlElement, button: &str) {
    let button = document().query_selector(button).ok().flatten();
    if let Some(button) = button.and_then(|button| button.dyn_into().ok()) {
        place_popover(popover, &button);
    }
}

pub(super) fn viewport_size() -> (f64, f64) {
    let root = document().document_element();
    root.map_or((0.0, 0.0), |root| {
        (root.client_width().into(), root.client_height().into())
    })
}

/// Moves the focus among the buttons of an element, from the last to the first and back.
pub fn move_focus(element: &HtmlElement, step: i32) {
    let buttons = buttons_of(element);
    let focused = document().active_element();
    let is_focused = |button: &HtmlElement| {
        focused
            .as_ref()
            .is_some_and(|focused| focused.is_same_node(Some(button)))
    };
    let count = i32::try_from(buttons.len()).unwrap_or(i32::MAX);
    let next = match buttons.iter().position(is_focused) {
        Some(index) => (i32::try_from(index).unwrap_or(i32::MAX) + step).checked_rem_euclid(count),
        None => Some(0),
    };
    let next = next.and_then(|next| buttons.get(usize::try_from(next).ok()?));
    if let Some(next) = next {
        focus(next);
    }
}

/// Focuses the first button of an element.
pub fn focus_first(element: &HtmlElement) {
    if let Some(first) = buttons_of(element).first() {
        focus(first);
    }
}

/// Focuses the last button of an element.
pub fn focus_last(element: &HtmlElement) {
    if let Some(last) = buttons_of(element).last() {
        focus(last);
    }
}

fn buttons_of(element: &HtmlElement) -> Vec<HtmlElement> {
    let Ok(found) = element.query_selector_all("button, a[role='menuitem']") else {
        return Vec::new();
    };
    let buttons = (0..found.length()).filter_map(|index| found.get(index)?.dyn_into().ok());
    buttons.collect()
}

/// Closes a popover. A closed one stays closed.
pub fn close_popover(element: &HtmlElement) {
    let _ = element.hide_popover();
}
