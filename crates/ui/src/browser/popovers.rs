//! Popovers and menus: their positions next to their buttons, and the focus in them.

use std::cell::RefCell;

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::document};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};

use super::{find_in, on_next_frame};

/// Returns true if a `toggle` event says that its popover has opened.
pub fn is_toggled_open(event: &Event) -> bool {
    let element = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    element.is_some_and(|element| element.matches(":popover-open").unwrap_or(false))
}

/// The distance of a popover from its button and from the edges of the window, in pixels.
pub(super) const POPOVER_GAP_PX: f64 = 6.0;

thread_local! {
    /// The open popovers that were placed, with their buttons. `None` until the first: then it follows the window.
    static PLACED: RefCell<Option<Vec<(HtmlElement, HtmlElement)>>> = const { RefCell::new(None) };
}

/// Opens a popover next to a button. If its content shrinks, it keeps its height.
pub fn show_popover(popover: &HtmlElement, button: &HtmlElement) {
    let _ = popover.show_popover();
    place_popover(popover, button);
    // Rows that were never painted have an assumed height until then.
    let popover = popover.clone();
    on_next_frame(move || {
        on_next_frame(move || {
            let height = to_pixels(popover.offset_height().into());
            let _ = HtmlElement::style(&popover).set_property("min-height", &height);
        });
    });
}

/// Formats a length for the style, in whole pixels: the code that formats floating-point numbers is large.
pub(super) fn to_pixels(length: f64) -> String {
    let mut text = (length.round() as i32).to_string();
    text.push_str("px");
    text
}

/// Places an open popover below a button, or above where there is more room. It stays there while the window changes its size.
pub fn place_popover(popover: &HtmlElement, button: &HtmlElement) {
    place(popover, button);
    PLACED.with_borrow_mut(|placed| {
        let placed = placed.get_or_insert_with(|| {
            // It lives as long as the page.
            let _ = window_event_listener(ev::resize, |_| place_again());
            Vec::new()
        });
        placed.retain(|(other, _)| other != popover);
        placed.push((popover.clone(), button.clone()));
    });
}

fn place_again() {
    PLACED.with_borrow_mut(|placed| {
        let Some(placed) = placed else { return };
        placed.retain(|(popover, _)| popover.matches(":popover-open").unwrap_or(false));
        for (popover, button) in placed {
            place(popover, button);
        }
    });
}

fn place(popover: &HtmlElement, button: &HtmlElement) {
    let (window_width, window_height) = viewport_size();
    let at = button.get_bounding_client_rect();
    let (above, below) = (at.top(), window_height - at.bottom());
    let style = HtmlElement::style(popover);
    let set = |property: &str, pixels: f64| {
        let _ = style.set_property(property, &to_pixels(pixels));
    };
    let _ = style.set_property("inset", "auto");
    let _ = style.set_property("margin", "0");
    let room = above.max(below) - 2.0 * POPOVER_GAP_PX;
    set("max-height", room);
    // The height at which it was opened, which the window may have become too small for.
    let kept = style.get_property_value("min-height").unwrap_or_default();
    if kept
        .trim_end_matches("px")
        .parse()
        .is_ok_and(|kept: i32| f64::from(kept) > room)
    {
        set("min-height", room);
    }
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

/// Closes a popover. A closed one stays closed.
pub fn close_popover(element: &HtmlElement) {
    let _ = element.hide_popover();
}

/// Moves the focus among the rows of a list: `target` gets the position of the row that has it, and the number of all. Of a row, the
/// element that `focusable` finds is focused, or the row itself.
pub fn move_focus_among(
    list: &HtmlElement,
    rows: &str,
    focusable: Option<&str>,
    target: impl FnOnce(Option<usize>, usize) -> Option<usize>,
) {
    let Ok(found) = list.query_selector_all(rows) else {
        return;
    };
    let elements: Vec<HtmlElement> = (0..found.length())
        .filter_map(|index| found.get(index)?.dyn_into().ok())
        .collect();
    let focused = document().active_element();
    let from = elements.iter().position(|row| {
        focused
            .as_ref()
            .is_some_and(|focused| row.contains(Some(focused)))
    });
    let row = target(from, elements.len()).and_then(|to| elements.get(to));
    let element = match focusable {
        Some(selector) => row.and_then(|row| find_in(row, selector)),
        None => row.cloned(),
    };
    if let Some(element) = element {
        // The browser scrolls it into view.
        let _ = element.focus();
    }
}

/// Presses a button in the row in which an event happened.
pub fn press_in_row(event: &Event, row: &str, button: &str) {
    let target: Option<Element> = event.target().and_then(|target| target.dyn_into().ok());
    let row = target.and_then(|target| target.closest(row).ok().flatten());
    if let Some(button) = row.and_then(|row| find_in(&row, button)) {
        button.click();
    }
}
