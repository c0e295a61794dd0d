//! The selection in a text, and its quotation.

use leptos::prelude::{document, window};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{
    Element, Event, EventInit, HtmlElement, HtmlTextAreaElement, MouseEvent, Node, Range, Selection,
};

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

/// Returns the selected text of the matching elements, if the selection begins inside of one: without the labels and buttons
/// between them.
pub fn selected_text(selector: &str) -> Option<String> {
    let selection = selection_in(selector)?;
    let whole = selection.get_range_at(0).ok()?;
    let mut texts = Vec::new();
    let elements = document().query_selector_all(selector).ok()?;
    for element in (0..elements.length()).filter_map(|index| elements.get(index)) {
        if selection.contains_node_with_allow_partial_containment(&element, true) == Ok(true)
            && let Some(part) = part_within(&whole, &element)
        {
            let _ = selection.remove_all_ranges();
            let _ = selection.add_range(&part);
            texts.push(String::from(selection.to_string()).trim().to_owned());
            let _ = selection.remove_all_ranges();
            let _ = selection.add_range(&whole);
        }
    }
    texts.retain(|text| !text.is_empty());
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns the part of a range that is inside of an element.
fn part_within(range: &Range, element: &Node) -> Option<Range> {
    let part = document().create_range().ok()?;
    part.select_node_contents(element).ok()?;
    if range.compare_boundary_points(Range::START_TO_START, &part) == Ok(1) {
        part.set_start(&range.start_container().ok()?, range.start_offset().ok()?)
            .ok()?;
    }
    if range.compare_boundary_points(Range::END_TO_END, &part) == Ok(-1) {
        part.set_end(&range.end_container().ok()?, range.end_offset().ok()?)
            .ok()?;
    }
    Some(part)
}

/// Selects the whole block at a triple click. Browsers end the selection at a formula.
pub fn select_block_with_formula(event: &MouseEvent) {
    const TRIPLE: i32 = 3;
    let target = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    let block = target.and_then(|target| {
        target
            .closest("p, li, td, th, summary, h1, h2, h3, h4, h5, h6")
            .ok()?
    });
    if let Some(block) = block.filter(|_| event.detail() == TRIPLE)
        && matches!(block.query_selector(".md-formula"), Ok(Some(_)))
        && let Ok(Some(selection)) = window().get_selection()
    {
        let _ = selection.select_all_children(&block);
    }
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
