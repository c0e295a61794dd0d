//! Elements: focus, sizes, dialogs, the clipboard.

use super::set_timeout;
use leptos::{
    prelude::{Effect, document, window},
    task::spawn_local,
};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Element, Event, HtmlDialogElement, HtmlElement, HtmlTextAreaElement, IntersectionObserver,
    IntersectionObserverEntry, PointerEvent, ResizeObserver, Text,
};

/// What the page is called; what the text reads is followed.
pub fn set_title(text: impl Fn() -> String + 'static) {
    Effect::new(move |_| document().set_title(&text()));
}

/// Tells the script that started the page that it has taken over. A fault from now on does not undo that.
pub fn set_started() {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-state", "started");
    }
}

/// Puts a text on the clipboard and says whether that worked.
pub fn copy_text(text: String, done: impl FnOnce(bool) + 'static) {
    spawn_local(async move {
        let clipboard = window().navigator().clipboard();
        // There is none on a page that is not secure.
        let copied = !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok();
        done(copied);
    });
}

/// Adds to a text node. What is selected in it stays selected.
pub fn append_text(node: &Text, more: &str) {
    let _ = node.append_data(more);
}

/// How often it is looked whether something is still selected, in milliseconds.
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

/// Moves the focus to an element, without scrolling.
pub fn focus(element: &HtmlElement) {
    let options = web_sys::FocusOptions::new();
    options.set_prevent_scroll(true);
    let _ = element.focus_with_options(&options);
}

/// Moves the focus to the first element that fits.
pub fn focus_selector(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    if let Some(element) = found.and_then(|element| element.dyn_into().ok()) {
        focus(&element);
    }
}

/// Whether there is an element that fits.
pub fn exists(selector: &str) -> bool {
    matches!(document().query_selector(selector), Ok(Some(_)))
}

/// Whether one writes with a real keyboard, as far as a page can tell: whoever points with a finger has one on the
/// screen.
pub fn has_hardware_keyboard() -> bool {
    !matches_media("(pointer: coarse)")
}

/// Whether a query about the screen, as style sheets have them, holds now.
pub fn matches_media(query: &str) -> bool {
    matches!(window().match_media(query), Ok(Some(query)) if query.matches())
}

/// How wide the page is, in pixels.
pub fn viewport_width() -> u32 {
    let root = document().document_element();
    root.map_or(0, |root| root.client_width().unsigned_abs())
}

/// Where the element with this id ends on the right, in pixels from the left of the viewport.
pub fn right_edge(id: &str) -> Option<u32> {
    let element = element_by_id(id)?;
    u32::try_from(element.offset_left() + element.offset_width()).ok()
}

/// The widest that the element with this id may be, in pixels, as the style sheet has it; `None` if it sets no limit.
pub fn max_width(id: &str) -> Option<u32> {
    let style = window().get_computed_style(element_by_id(id)?.as_ref()).ok()??;
    let pixels: f64 = style
        .get_property_value("max-width")
        .ok()?
        .strip_suffix("px")?
        .parse()
        .ok()?;
    Some(pixels as u32)
}

/// Sets a property in the style of the element with this id.
pub fn set_style(id: &str, property: &str, value: &str) {
    if let Some(element) = element_by_id(id) {
        let _ = HtmlElement::style(&element).set_property(property, value);
    }
}

/// What the pointer does from now on until it is let go is told to what it has pressed.
pub fn capture_pointer(event: &PointerEvent) {
    let pressed: Option<Element> = event.current_target().and_then(|target| target.dyn_into().ok());
    if let Some(pressed) = pressed {
        let _ = pressed.set_pointer_capture(event.pointer_id());
    }
}

/// Goes to a place on this page, in place of the one in the browser's history.
pub fn go_to_fragment(href: &str) {
    let _ = window().location().replace(href);
}

/// The element that the address names, if it names one.
pub fn fragment_target() -> Option<HtmlElement> {
    let hash = window().location().hash().ok()?;
    element_by_id(hash.strip_prefix('#').filter(|id| !id.is_empty())?)
}

/// The element with this id.
pub fn element_by_id(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// The first element inside of another that fits.
pub fn find_in(element: &Element, selector: &str) -> Option<HtmlElement> {
    element.query_selector(selector).ok().flatten()?.dyn_into().ok()
}

/// Whether the focus is inside of an element that fits.
pub fn has_focus_in(selector: &str) -> bool {
    let focused = document().active_element();
    focused.is_some_and(|focused| matches!(focused.closest(selector), Ok(Some(_))))
}

/// Moves the focus to where one goes on after a button that is gone: to the message, or, where that would bring up a
/// keyboard on the screen, to the messages.
pub fn focus_after_removal() {
    focus_selector(if has_hardware_keyboard() {
        "#message"
    } else {
        ".transcript"
    });
}

/// Moves the focus to where one writes, unless that would bring up a keyboard on the screen or the person is
/// in the middle of something else.
pub fn focus_input(area: &HtmlTextAreaElement) {
    let elsewhere = document()
        .active_element()
        .is_some_and(|element| element.tag_name() == "INPUT");
    if has_hardware_keyboard() && !elsewhere {
        focus(area);
    }
}

/// Makes a text area as high as its text. The style sheet limits it.
pub fn fit_height(area: &HtmlTextAreaElement) {
    let style = HtmlElement::style(area);
    let _ = style.set_property("height", "auto");
    let mut height = area.scroll_height().to_string();
    height.push_str("px");
    let _ = style.set_property("height", &height);
}

/// Opens a dialog over everything else.
pub fn show_modal(dialog: &HtmlDialogElement) {
    if !dialog.open() {
        let _ = dialog.show_modal();
    }
}

/// Whether something happened inside of an element that fits.
pub fn is_within(event: &Event, selector: &str) -> bool {
    let target: Option<Element> = event.target().and_then(|target| target.dyn_into().ok());
    target.is_some_and(|target| matches!(target.closest(selector), Ok(Some(_))))
}

/// Closes a popover. One that is not open stays closed.
pub fn close_popover(element: &HtmlElement) {
    let _ = element.hide_popover();
}

/// An observer; it ends when this is dropped.
pub struct ElementObserver(SendWrapper<Observer>);

/// With what it calls, which must live as long.
enum Observer {
    Size {
        observer: ResizeObserver,
        _call: Closure<dyn Fn()>,
    },
    Intersection {
        observer: IntersectionObserver,
        _call: Closure<dyn Fn(js_sys::Array)>,
    },
}

impl Drop for ElementObserver {
    fn drop(&mut self) {
        match &*self.0 {
            Observer::Size { observer, .. } => observer.disconnect(),
            Observer::Intersection { observer, .. } => observer.disconnect(),
        }
    }
}

/// Calls whenever an element has another size, before that is drawn.
pub fn on_resize(element: &Element, call: impl Fn() + 'static) -> ElementObserver {
    let call = Closure::<dyn Fn()>::new(call);
    let observer =
        ResizeObserver::new(call.as_ref().unchecked_ref()).expect("every browser with WASM has it");
    observer.observe(element);
    ElementObserver(SendWrapper::new(Observer::Size {
        observer,
        _call: call,
    }))
}

/// Calls whenever an element comes into sight.
pub fn on_visible(element: &Element, call: impl Fn() + 'static) -> ElementObserver {
    let call = Closure::<dyn Fn(js_sys::Array)>::new(move |entries: js_sys::Array| {
        let seen = |entry: IntersectionObserverEntry| entry.is_intersecting();
        if entries.iter().any(|entry| seen(entry.unchecked_into())) {
            call();
        }
    });
    let observer =
        IntersectionObserver::new(call.as_ref().unchecked_ref()).expect("every browser with WASM has it");
    observer.observe(element);
    ElementObserver(SendWrapper::new(Observer::Intersection {
        observer,
        _call: call,
    }))
}
