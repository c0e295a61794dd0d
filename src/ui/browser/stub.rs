//! The server's stand-in for a browser.

use std::time::{SystemTime, UNIX_EPOCH};

use leptos::{
    prelude::{AnyView, IntoAny, RenderHtml},
    web_sys::{Element, Event, HtmlDialogElement, HtmlElement, HtmlTextAreaElement, PointerEvent, Text},
};

use super::{Permission, Presence, StreamEvent};
use crate::protocol::Timestamp;

/// Called by the server: the time that it sends along with the page.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(since.as_millis() as i64)
}

/// Called by tests: the server's days are those of UTC.
pub fn local_day(at: Timestamp) -> i64 {
    at.day()
}

pub fn local_time(at: Timestamp) -> String {
    at.rfc3339()
}

pub fn uptime() -> f64 {
    0.0
}

pub fn random() -> f64 {
    0.5
}

pub async fn sleep(_ms: f64) {}

pub struct Timer;

impl Timer {
    pub fn forget(self) {}
}

pub fn after(_ms: f64, _call: impl FnOnce() + 'static) -> Timer {
    Timer
}

pub fn next_frame(_call: impl FnOnce() + 'static) {}

pub fn set_address(_path: &str, _replace: bool) {}

pub fn on_address(_call: impl Fn(String) + 'static) {}

pub struct EventStream;

pub fn event_stream(_url: &str, _call: impl Fn(StreamEvent) + 'static) -> EventStream {
    EventStream
}

pub fn on_presence(_call: impl Fn(Presence) + 'static) {}

pub struct Lock;

pub fn lock_if_free(_name: &str, _granted: impl FnOnce() + 'static) -> Option<Lock> {
    None
}

pub fn lock(_name: &str, _granted: impl FnOnce() + 'static) -> Option<Lock> {
    None
}

pub fn is_hidden() -> bool {
    false
}

pub fn stored(_key: &str) -> Option<String> {
    None
}

pub fn stored_under(_prefix: &str) -> Vec<String> {
    Vec::new()
}

pub fn store(_key: &str, _value: Option<&str>) {}

pub fn set_theme(_theme: Option<&str>) {}

pub fn set_started() {}

pub fn copy_text(_text: String, _done: impl FnOnce(bool) + 'static) {}

pub fn append_text(_node: &Text, _more: &str) {}

pub fn when_not_selected(_element: &HtmlElement, _call: impl FnOnce() + 'static) {}

pub fn focus(_element: &HtmlElement) {}

pub fn focus_selector(_selector: &str) {}

pub fn is_there(_selector: &str) -> bool {
    false
}

pub fn fit_height(_area: &HtmlTextAreaElement) {}

pub fn show_modal(_dialog: &HtmlDialogElement) {}

pub fn is_within(_event: &Event, _selector: &str) -> bool {
    false
}

pub fn close_popover(_element: &HtmlElement) {}

/// Called by the server.
pub fn erase<V: RenderHtml>(view: V) -> AnyView {
    view.into_any()
}

pub struct Watch;

pub fn on_resize(_element: &Element, _call: impl Fn() + 'static) -> Watch {
    Watch
}

pub fn on_seen(_element: &Element, _call: impl Fn() + 'static) -> Watch {
    Watch
}

pub fn go_to_fragment(_href: &str) {}

pub fn element(_id: &str) -> Option<HtmlElement> {
    None
}

pub fn find_in(_element: &Element, _selector: &str) -> Option<HtmlElement> {
    None
}

pub fn target() -> Option<HtmlElement> {
    None
}

pub fn has_focus_in(_selector: &str) -> bool {
    false
}

pub fn focus_to_go_on() {}

pub fn has_keyboard() -> bool {
    true
}

pub fn matches(_query: &str) -> bool {
    false
}

pub fn viewport_width() -> u32 {
    0
}

pub fn right_edge(_id: &str) -> Option<u32> {
    None
}

pub fn max_width(_id: &str) -> Option<u32> {
    None
}

pub fn set_style(_id: &str, _property: &str, _value: &str) {}

pub fn capture_pointer(_event: &PointerEvent) {}

pub fn focus_to_write(_area: &HtmlTextAreaElement) {}

pub fn notification_permission() -> Permission {
    Permission::Impossible
}

pub fn ask_for_notifications(_answered: impl FnOnce(Permission) + 'static) {}

pub fn notify(_title: &str, _body: &str, _tag: &str, _pressed: impl FnOnce() + 'static) {}

pub fn long_answer_ms() -> f64 {
    f64::INFINITY
}
