//! Elements: focus, sizes, dialogs, the clipboard.

use super::{popovers::to_pixels, set_timeout};
use leptos::{
    prelude::{Effect, document, window},
    task::spawn_local,
};
use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    ClipboardEvent, Element, Event, HtmlDialogElement, HtmlElement, HtmlTextAreaElement, KeyboardEvent,
    PointerEvent, Text,
};

/// Sets the title of the page. `text` is tracked.
pub fn set_title(text: impl Fn() -> String + 'static) {
    Effect::new(move |_| document().set_title(&text()));
}

/// Tells the start script that the page has been hydrated. Later failures do not undo that.
pub fn set_started() {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-state", "started");
    }
}

/// Copies a text to the clipboard and calls `done` with the success.
pub fn copy_text(text: String, done: impl FnOnce(bool) + 'static) {
    spawn_local(async move {
        let clipboard = window().navigator().clipboard();
        // The clipboard API is missing on insecure pages.
        let copied = !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok();
        done(copied);
    });
}

/// Appends to a text node. A selection in it is kept.
pub fn append_text(node: &Text, more: &str) {
    let _ = node.append_data(more);
}

/// The poll interval for the selection, in milliseconds.
const SELECTION_POLL_INTERVAL_MS: f64 = 500.0;

/// Calls when nothing in an element is selected: at once, if nothing is.
pub fn when_unselected(element: &HtmlElement, call: impl FnOnce() + 'static) {
    let selection = window().get_selection().ok().flatten();
    let is_selected = selection.is_some_and(|selection| {
        !selection.is_collapsed()
            && selection.contains_node_with_allow_partial_containment(element, true) == Ok(true)
    });
    if is_selected {
        let element = element.clone();
        set_timeout(SELECTION_POLL_INTERVAL_MS, move || {
            when_unselected(&element, call)
        })
        .detach();
    } else {
        call();
    }
}

/// Focuses an element without scrolling.
pub fn focus(element: &HtmlElement) {
    let options = web_sys::FocusOptions::new();
    options.set_prevent_scroll(true);
    let _ = element.focus_with_options(&options);
}

/// Focuses the first element that matches.
pub fn focus_selector(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    if let Some(element) = found.and_then(|element| element.dyn_into().ok()) {
        focus(&element);
    }
}

/// Gives the focus back with the next frame if the element that has it loses it until then: browsers take it from one that is
/// moved. A link that was made anew in the same container gets it too, and the element around it that has the same id again.
pub fn keep_focus() {
    let focused = document().active_element();
    let Some(focused) = focused.and_then(|element| element.dyn_into::<HtmlElement>().ok()) else {
        return;
    };
    if is_body(&focused) {
        return;
    }
    let container = focused.closest("[id]").ok().flatten();
    super::on_next_frame(move || {
        if document().active_element().is_some_and(|now| !is_body(&now)) {
            return;
        }
        if focused.is_connected() {
            focus(&focused);
        } else if let Some(container) = container {
            let container = container.id();
            match focused.get_attribute("href") {
                Some(href) => focus_selector(&["#", &container, " a[href=\"", &href, "\"]"].concat()),
                None => focus_selector(&["#", &container].concat()),
            }
        }
    });
}

fn is_body(element: &Element) -> bool {
    element.tag_name() == "BODY"
}

/// Returns true if an element matches.
pub fn exists(selector: &str) -> bool {
    matches!(document().query_selector(selector), Ok(Some(_)))
}

/// Writes accents as characters of their own (NFD).
pub fn decompose(text: &str) -> String {
    String::from(js_sys::JsString::from(text).normalize("NFD"))
}

/// Returns true on a Mac, an iPhone or an iPad: their keyboards have Command where others have Control.
pub fn is_mac() -> bool {
    let platform = window().navigator().platform().unwrap_or_default();
    platform.starts_with("Mac") || platform.starts_with("iP")
}

/// Presses a button of the last matching element. Returns false if there is none, or if the button is disabled.
pub fn press_last(selector: &str, button: &str) -> bool {
    let Ok(found) = document().query_selector_all(selector) else {
        return false;
    };
    let last = found.length().checked_sub(1).and_then(|last| found.get(last));
    let last: Option<Element> = last.and_then(|last| last.dyn_into().ok());
    match last.and_then(|last| find_in(&last, button)) {
        Some(button) if button.get_attribute("aria-disabled").is_none() => {
            button.click();
            true
        }
        _ => false,
    }
}

/// Presses the first element of a selector.
pub fn press(selector: &str) {
    if let Ok(Some(element)) = document().query_selector(selector)
        && let Ok(element) = element.dyn_into::<HtmlElement>()
    {
        element.click();
    }
}

/// Returns the id of the matching element in which an event happened.
pub fn id_around(event: &Event, selector: &str) -> Option<String> {
    let target: Element = event.target()?.dyn_into().ok()?;
    Some(target.closest(selector).ok()??.id())
}

/// Returns true for a key that is pressed together with Alt, Control or Meta: it is a command of the browser.
pub fn has_modifier(event: &KeyboardEvent) -> bool {
    event.alt_key() || event.ctrl_key() || event.meta_key()
}

/// Returns true while an input method composes: Enter and Escape belong to it.
pub fn is_composing(event: &KeyboardEvent) -> bool {
    // Safari ends the composition before the key that ends it, which has this code.
    event.is_composing() || event.key_code() == 229
}

/// Returns the text that the user pastes.
pub fn pasted_text(event: &ClipboardEvent) -> Option<String> {
    event.clipboard_data()?.get_data("text/plain").ok()
}

/// Returns true if the device seems to have a hardware keyboard. Devices with a coarse pointer have one on the screen.
pub fn has_hardware_keyboard() -> bool {
    !matches_media("(pointer: coarse)")
}

/// Evaluates a media query.
pub fn matches_media(query: &str) -> bool {
    matches!(window().match_media(query), Ok(Some(query)) if query.matches())
}

/// Calls when a media query begins or ceases to match, for the whole life of the page.
pub fn on_media_change(query: &str, call: impl Fn() + 'static) {
    if let Ok(Some(list)) = window().match_media(query) {
        let changed = Closure::<dyn Fn()>::new(call);
        let _ = list.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
        changed.forget();
    }
}

/// The width of the viewport, in pixels.
pub fn viewport_width() -> u32 {
    let root = document().document_element();
    root.map_or(0, |root| root.client_width().unsigned_abs())
}

/// The right edge of the element with this id, in pixels from the left of the viewport.
pub fn right_edge(id: &str) -> Option<u32> {
    let element = element_by_id(id)?;
    u32::try_from(element.offset_left() + element.offset_width()).ok()
}

/// The maximum width of the element with this id, in pixels, as set by the style sheet; `None` without a limit.
pub fn max_width(id: &str) -> Option<u32> {
    let style = window().get_computed_style(element_by_id(id)?.as_ref()).ok()??;
    let width = style.get_property_value("max-width").ok()?;
    // `parseFloat` is here already; Rust's own takes 12 KB.
    let pixels = js_sys::parse_float(width.strip_suffix("px")?);
    (!pixels.is_nan()).then_some(pixels as u32)
}

/// Sets a property in the style of the element with this id.
pub fn set_style(id: &str, property: &str, value: &str) {
    if let Some(element) = element_by_id(id) {
        let _ = HtmlElement::style(&element).set_property(property, value);
    }
}

/// Sends all pointer events to the pressed element until the pointer is released.
pub fn capture_pointer(event: &PointerEvent) {
    let pressed: Option<Element> = event.current_target().and_then(|target| target.dyn_into().ok());
    if let Some(pressed) = pressed {
        let _ = pressed.set_pointer_capture(event.pointer_id());
    }
}

/// Navigates to a fragment of this page, replacing the entry in the browser's history.
pub fn go_to_fragment(href: &str) {
    let _ = window().location().replace(href);
}

/// The element that the URL's fragment names, if any.
pub fn fragment_target() -> Option<HtmlElement> {
    let hash = window().location().hash().ok()?;
    element_by_id(hash.strip_prefix('#').filter(|id| !id.is_empty())?)
}

/// The element with this id.
pub fn element_by_id(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// The first matching element inside of another.
pub fn find_in(element: &Element, selector: &str) -> Option<HtmlElement> {
    element.query_selector(selector).ok().flatten()?.dyn_into().ok()
}

/// Returns true if the focus is inside of a matching element.
pub fn has_focus_in(selector: &str) -> bool {
    let focused = document().active_element();
    focused.is_some_and(|focused| matches!(focused.closest(selector), Ok(Some(_))))
}

/// Moves the focus after the focused button was removed: to the message input, or to the transcript where that would
/// open an on-screen keyboard.
pub fn focus_after_removal() {
    focus_selector(if has_hardware_keyboard() {
        "#message"
    } else {
        ".transcript"
    });
}

/// Focuses the input, unless that would open an on-screen keyboard or the user is busy in another element.
pub fn focus_input(area: &HtmlTextAreaElement) {
    let elsewhere = document()
        .active_element()
        .is_some_and(|element| element.tag_name() == "INPUT");
    if has_hardware_keyboard() && !elsewhere {
        focus(area);
    }
}

/// Fits a text area's height to its text. The style sheet limits it.
pub fn fit_height(area: &HtmlTextAreaElement) {
    let style = HtmlElement::style(area);
    let _ = style.set_property("height", "auto");
    let mut height = area.scroll_height().to_string();
    height.push_str("px");
    let _ = style.set_property("height", &height);
}

/// Keeps the columns of a table as wide as they are now, in proportion, whatever rows arrive. A hidden table has no
/// widths yet and stays as it is.
pub fn fix_column_widths(table: &HtmlElement) {
    let width = f64::from(table.offset_width());
    if width == 0.0 {
        return;
    }
    let mut columns = Vec::new();
    let mut next = table.query_selector("th").ok().flatten();
    while let Some(cell) = next {
        next = cell.next_element_sibling();
        if let Ok(cell) = cell.dyn_into::<HtmlElement>() {
            // In hundredths of a percent: the code that formats floating-point numbers is large.
            let share = (f64::from(cell.offset_width()) / width * 10_000.0) as u32;
            columns.push((cell, share));
        }
    }
    for (cell, share) in columns {
        let _ =
            HtmlElement::style(&cell).set_property("width", &format!("{}.{:02}%", share / 100, share % 100));
    }
    let style = HtmlElement::style(table);
    let _ = style.set_property("table-layout", "fixed");
    // A table that is wider than its box stays as wide.
    let is_wider = table
        .parent_element()
        .is_some_and(|parent| width > f64::from(parent.client_width()));
    if is_wider {
        let _ = style.set_property("min-width", &to_pixels(width));
    }
}

/// Opens a modal dialog.
pub fn show_modal(dialog: &HtmlDialogElement) {
    if !dialog.open() {
        let _ = dialog.show_modal();
    }
}

/// Returns true if an event happened inside of a matching element.
pub fn is_within(event: &Event, selector: &str) -> bool {
    let target: Option<Element> = event.target().and_then(|target| target.dyn_into().ok());
    target.is_some_and(|target| matches!(target.closest(selector), Ok(Some(_))))
}

/// Scrolls the content of an element to its beginning.
pub fn scroll_to_top(element: &HtmlElement) {
    element.set_scroll_top(0);
}

/// Scrolls to the first element of a selector.
pub fn scroll_to_selector(selector: &str) {
    if let Ok(Some(element)) = document().query_selector(selector) {
        element.scroll_into_view();
    }
}

/// Scrolls the positioned list around an element by the smallest distance that shows the element.
pub fn scroll_into_view(element: &HtmlElement) {
    let Some(list) = element.offset_parent() else {
        return;
    };
    let (top, height) = (element.offset_top(), element.offset_height());
    let (seen_top, seen_height) = (list.scroll_top(), list.client_height());
    if top < seen_top {
        list.set_scroll_top(top);
    } else if top + height > seen_top + seen_height {
        list.set_scroll_top(top + height - seen_height);
    }
}

/// Scrolls a row sideways so that one of its parts is in its middle.
pub fn show_in_row(row: &str, part: &str) {
    let Ok(Some(row)) = document().query_selector(row) else {
        return;
    };
    if let Some(part) = find_in(&row, part) {
        let (row_at, part_at) = (row.get_bounding_client_rect(), part.get_bounding_client_rect());
        let from_middle = part_at.left() + part_at.width() / 2.0 - row_at.left() - row_at.width() / 2.0;
        row.set_scroll_left(row.scroll_left() + from_middle as i32);
    }
}
