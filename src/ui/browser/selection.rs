//! The selection in a text, and its quotation.

use leptos::prelude::{document, window};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, Event, EventInit, HtmlElement, HtmlTextAreaElement, Selection};

use super::{
    focus,
    popovers::{POPOVER_GAP_PX, to_pixels, viewport_size},
};

/// A listener for changes of the selection; removed when dropped.
pub struct SelectionWatch(SendWrapper<Closure<dyn Fn()>>);

impl Drop for SelectionWatch {
    fn drop(&mut self) {
        let call = self.0.as_ref().unchecked_ref();
        let _ = document().remove_event_listener_with_callback("selectionchange", call);
    }
}

/// Calls when the selection changes.
pub fn on_selection_change(call: impl Fn() + 'static) -> SelectionWatch {
    let call = Closure::<dyn Fn()>::new(call);
    let _ = document().add_event_listener_with_callback("selectionchange", call.as_ref().unchecked_ref());
    SelectionWatch(SendWrapper::new(call))
}

fn selection() -> Option<Selection> {
    let selection = window().get_selection().ok().flatten()?;
    (!selection.is_collapsed()).then_some(selection)
}

fn selection_in(selector: &str) -> Option<Selection> {
    let selection = selection()?;
    let anchor = selection.anchor_node()?;
    let element = anchor
        .dyn_ref::<Element>()
        .cloned()
        .or_else(|| anchor.parent_element())?;
    element.closest(selector).ok().flatten()?;
    Some(selection)
}

/// Returns true if something is selected and the selection begins inside of a matching element.
pub fn has_selection(selector: &str) -> bool {
    selection_in(selector).is_some()
}

/// Returns the selected text, if the selection begins inside of a matching element.
pub fn selected_text(selector: &str) -> Option<String> {
    let text: String = selection_in(selector)?.to_string().into();
    (!text.trim().is_empty()).then_some(text)
}

/// Places an element below the end of the selection, or hides it if the selection is not seen in its scroller.
pub fn place_at_selection(element: &HtmlElement, scroller: &str) {
    let range = selection().and_then(|selection| selection.get_range_at(0).ok());
    let scroller = document().query_selector(scroller).ok().flatten();
    let (Some(range), Some(scroller)) = (range, scroller) else {
        return;
    };
    let at = range.get_bounding_client_rect();
    let seen = scroller.get_bounding_client_rect();
    let (window_width, _) = viewport_size();
    let style = HtmlElement::style(element);
    let is_seen = at.bottom() > seen.top() && at.top() < seen.bottom();
    let _ = style.set_property("visibility", if is_seen { "visible" } else { "hidden" });
    let (width, height) = (
        f64::from(element.offset_width()),
        f64::from(element.offset_height()),
    );
    let place = |property: &str, wanted: f64, max_px: f64| {
        let _ = style.set_property(property, &to_pixels(wanted.min(max_px).max(POPOVER_GAP_PX)));
    };
    place("left", at.left(), window_width - width - POPOVER_GAP_PX);
    place(
        "top",
        at.bottom() + POPOVER_GAP_PX,
        seen.bottom() - height - POPOVER_GAP_PX,
    );
}

/// Appends a text to a text area as if the user had typed it, and focuses the end.
pub fn append_to_field(selector: &str, text: &str) {
    let found = document().query_selector(selector).ok().flatten();
    let Some(area) = found.and_then(|element| element.dyn_into::<HtmlTextAreaElement>().ok()) else {
        return;
    };
    let before = area.value();
    let gap = if before.trim().is_empty() { "" } else { "\n\n" };
    area.set_value(&[before.trim_end(), gap, text].concat());
    focus(&area);
    let bubbling = EventInit::new();
    bubbling.set_bubbles(true);
    if let Ok(event) = Event::new_with_event_init_dict("input", &bubbling) {
        let _ = area.dispatch_event(&event);
    }
}
