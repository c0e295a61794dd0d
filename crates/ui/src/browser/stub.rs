//! The server's stub of the browser.

use std::time::{SystemTime, UNIX_EPOCH};

use leptos::{
    prelude::{AnyView, IntoAny, RenderHtml},
    web_sys::{
        ClipboardEvent, DragEvent, Element, Event, HtmlDialogElement, HtmlElement, HtmlIFrameElement,
        HtmlTextAreaElement, KeyboardEvent, MouseEvent, PointerEvent, Text,
    },
};

use super::{
    ChartUrls, FrameKind, LinkedImage, NotificationPermission, PresenceEvent, ResponseEvent, ShareChoices,
};
use parlor_protocol::Timestamp;

/// Called by the server: the time that it sends with the page.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(since.as_millis() as i64)
}

/// Called by tests: the server's days are those of UTC.
pub fn local_day(at: Timestamp) -> i64 {
    at.days_since_epoch()
}

pub fn local_time(at: Timestamp) -> String {
    at.to_rfc3339()
}

pub fn monotonic_ms() -> f64 {
    0.0
}

pub fn random() -> f64 {
    0.5
}

pub async fn sleep(_ms: f64) {}

pub struct Timer;

impl Timer {
    pub fn detach(self) {}
}

pub fn set_timeout(_ms: f64, _call: impl FnOnce() + 'static) -> Timer {
    Timer
}

pub fn on_next_frame(_call: impl FnOnce() + 'static) {}

pub fn set_url(_path: &str, _replace: bool) {}

pub fn full_url(path: &str) -> String {
    path.to_owned()
}

pub fn on_navigate(_call: impl Fn(String) + 'static) {}

pub fn has_other_user() -> bool {
    false
}

pub fn share_choices() -> ShareChoices {
    ShareChoices {
        links: true,
        people: true,
    }
}

pub fn set_signed_out(_is_signed_out: bool) {}

pub struct EventStream;

pub fn open_event_stream(_url: &str, _call: impl Fn(ResponseEvent) + 'static) -> EventStream {
    EventStream
}

pub fn on_presence(_call: impl Fn(PresenceEvent) + 'static) {}

pub struct TabLock;

pub fn try_lock(_name: &str, _granted: impl FnOnce() + 'static) -> Option<TabLock> {
    None
}

pub fn wait_for_lock(_name: &str, _granted: impl FnOnce() + 'static) -> Option<TabLock> {
    None
}

pub fn is_page_hidden() -> bool {
    false
}

pub fn storage_get(_key: &str) -> Option<String> {
    None
}

pub fn storage_get_all(_prefix: &str) -> Vec<String> {
    Vec::new()
}

pub fn storage_set(_key: &str, _value: Option<&str>) {}

pub fn set_root_attribute(_name: &str, _value: Option<&str>) {}

pub fn set_theme(_chosen: Option<&str>) {}

pub fn set_started() {}

pub fn copy_text(_text: String, _done: impl FnOnce(bool) + 'static) {}

pub fn save_file(_name: &str, _text: &str) {}

pub fn load_math_font() {}

pub fn show_in_frame(_frame: &HtmlIFrameElement, _kind: FrameKind, _page: &str) {}

pub fn are_frames_paused() -> bool {
    false
}

pub fn is_dark() -> bool {
    false
}

pub fn draw_diagram(
    _source: &str,
    _is_dark: bool,
    _done: impl FnOnce(Result<String, super::DrawFailure>) + 'static,
) {
}

pub struct ChartFrame;

impl ChartFrame {
    pub fn set_dark(&self, _is_dark: bool) {}
}

pub fn draw_chart(
    _frame: &HtmlIFrameElement,
    _urls: ChartUrls,
    _is_dark: bool,
    _done: impl Fn(Result<String, super::DrawFailure>) + 'static,
) -> ChartFrame {
    ChartFrame
}

pub fn fix_column_widths(_table: &HtmlElement) {}

pub fn append_text(_node: &Text, _more: &str) {}

pub fn when_unselected(_element: &HtmlElement, _call: impl FnOnce() + 'static) {}

pub fn focus(_element: &HtmlElement) {}

pub fn focus_selector(_selector: &str) {}

pub fn keep_focus() {}

pub fn exists(_selector: &str) -> bool {
    false
}

pub fn has_modifier(_event: &KeyboardEvent) -> bool {
    false
}

pub fn is_composing(_event: &KeyboardEvent) -> bool {
    false
}

pub fn fit_height(_area: &HtmlTextAreaElement) {}

pub fn show_modal(_dialog: &HtmlDialogElement) {}

pub fn is_within(_event: &Event, _selector: &str) -> bool {
    false
}

pub fn is_toggled_open(_event: &Event) -> bool {
    false
}

pub fn scroll_to_top(_element: &HtmlElement) {}

pub fn scroll_into_view(_element: &HtmlElement) {}

pub fn show_popover(_popover: &HtmlElement, _button: &HtmlElement) {}

pub fn place_popover(_popover: &HtmlElement, _button: &HtmlElement) {}

pub fn place_opened(_event: &Event) {}

pub fn move_focus(_element: &HtmlElement, _step: i32) {}

pub struct SelectionWatch;

pub fn on_selection_change(_call: impl Fn() + 'static) -> SelectionWatch {
    SelectionWatch
}

pub fn has_selection(_selector: &str) -> bool {
    false
}

pub fn select_block_with_formula(_event: &MouseEvent) {}

pub fn selected_text(_selector: &str) -> Option<String> {
    None
}

pub fn place_at_selection(_element: &HtmlElement, _scroller: &str) {}

pub fn append_to_field(_selector: &str, _text: &str) {}

pub fn clicked_image(_event: &Event) -> Option<(Vec<LinkedImage>, usize)> {
    None
}

pub fn close_popover(_element: &HtmlElement) {}

/// Called by the server.
pub fn erase<V: RenderHtml>(view: V) -> AnyView {
    view.into_any()
}

pub struct ElementObserver;

pub fn on_resize(_element: &Element, _call: impl Fn() + 'static) -> ElementObserver {
    ElementObserver
}

pub fn on_visible(_element: &Element, _call: impl Fn() + 'static) -> ElementObserver {
    ElementObserver
}

pub fn go_to_fragment(_href: &str) {}

pub fn element_by_id(_id: &str) -> Option<HtmlElement> {
    None
}

pub fn find_in(_element: &Element, _selector: &str) -> Option<HtmlElement> {
    None
}

pub fn fragment_target() -> Option<HtmlElement> {
    None
}

pub fn has_focus_in(_selector: &str) -> bool {
    false
}

pub fn focus_after_removal() {}

pub fn pasted_text(_event: &ClipboardEvent) -> Option<String> {
    None
}

#[derive(Clone, Debug)]
pub struct LocalFile;

impl LocalFile {
    pub fn name(&self) -> String {
        String::new()
    }

    pub fn size(&self) -> f64 {
        0.0
    }
}

pub fn file_limits() -> (usize, usize) {
    (usize::MAX, usize::MAX)
}

pub fn pasted_files(_event: &ClipboardEvent) -> Vec<LocalFile> {
    Vec::new()
}

pub fn dropped_files(_event: &DragEvent) -> Vec<LocalFile> {
    Vec::new()
}

pub fn has_files(_event: &DragEvent) -> bool {
    false
}

pub fn chosen_files(_event: &Event) -> Vec<LocalFile> {
    Vec::new()
}

pub fn open_picker(_selector: &str) {}

#[derive(Debug)]
pub struct Upload;

pub fn upload(
    _url: &str,
    _file: &LocalFile,
    _on_progress: impl Fn(f64) + 'static,
    _on_end: impl FnOnce(u16, String) + 'static,
) -> Option<Upload> {
    None
}

pub fn has_hardware_keyboard() -> bool {
    true
}

pub fn matches_media(_query: &str) -> bool {
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

pub fn focus_input(_area: &HtmlTextAreaElement) {}

pub fn notification_permission() -> NotificationPermission {
    NotificationPermission::Unsupported
}

pub fn request_notification_permission(_answered: impl FnOnce(NotificationPermission) + 'static) {}

pub fn notify(_title: &str, _body: &str, _tag: &str, _pressed: impl FnOnce() + 'static) {}

pub fn long_answer_threshold_ms() -> f64 {
    f64::INFINITY
}
