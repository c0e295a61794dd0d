//! The functions of the browser that the page uses, by the module that has them: the list from which the server's stub is made.
//!
//! The server renders, and runs no effects and no event handlers. Its functions return the value behind `=`, or nothing, and
//! do nothing else; those that are called while it renders say so. In the browser, a function whose type differs from the
//! list does not compile.

use leptos::web_sys::{
    ClipboardEvent, DragEvent, Element, Event, HtmlDialogElement, HtmlElement, HtmlIFrameElement,
    HtmlTextAreaElement, KeyboardEvent, MouseEvent, PointerEvent, Text,
};

use super::{
    ChartFrame, ChartUrls, DrawFailure, ElementObserver, EventStream, FrameKind, LinkedImage, LocalFile,
    NotificationPermission, PresenceEvent, ResponseEvent, SelectionWatch, ServerPart, ShareChoices, TabLock,
    Timer, Upload,
};
use parlor_protocol::Timestamp;

/// Exports the functions of the browser, and compares their types with those of the list.
#[cfg(feature = "hydrate")]
macro_rules! browser_functions {
    ($($module:ident {
        $(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? $(= $value:expr)?;)*
    })*) => {
        $(
            pub use super::$module::{$($name),*};
            $(const _: () = {
                #[expect(dead_code, reason = "only its type matters")]
                fn compare($($argument: $kind),*) $(-> $result)? {
                    super::$module::$name($($argument),*)
                }
            };)*
        )*
    };
}

/// Makes the server's functions.
#[cfg(not(feature = "hydrate"))]
macro_rules! browser_functions {
    ($($module:ident {
        $(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? $(= $value:expr)?;)*
    })*) => {
        $($(
            pub fn $name($($argument: $kind),*) $(-> $result)? {
                let _ = ($(&$argument,)*);
                $($value)?
            }
        )*)*
    };
}

browser_functions! {
    charts {
        fn draw_chart(
            frame: &HtmlIFrameElement,
            urls: ChartUrls,
            is_dark: bool,
            done: impl Fn(Result<String, DrawFailure>) + 'static,
        ) -> ChartFrame = ChartFrame;
    }
    diagrams {
        fn draw_diagram(source: &str, is_dark: bool, done: impl FnOnce(Result<String, DrawFailure>) + 'static);
    }
    documents {
        fn save_file(name: &str, text: &str);
        fn load_math_font();
    }
    dom {
        fn set_started();
        fn copy_text(text: String, done: impl FnOnce(bool) + 'static);
        fn decompose(text: &str) -> String = text.to_owned();
        fn append_text(node: &Text, more: &str);
        fn when_unselected(element: &HtmlElement, call: impl FnOnce() + 'static);
        fn focus(element: &HtmlElement);
        fn focus_selector(selector: &str);
        fn keep_focus();
        fn exists(selector: &str) -> bool = false;
        fn is_mac() -> bool = false;
        fn press(selector: &str);
        fn id_around(event: &Event, selector: &str) -> Option<String> = None;
        fn press_last(selector: &str, button: &str) -> bool = false;
        fn has_modifier(event: &KeyboardEvent) -> bool = false;
        fn is_composing(event: &KeyboardEvent) -> bool = false;
        fn pasted_text(event: &ClipboardEvent) -> Option<String> = None;
        fn has_hardware_keyboard() -> bool = true;
        fn matches_media(query: &str) -> bool = false;
        fn on_media_change(query: &str, call: impl Fn() + 'static);
        fn viewport_width() -> u32 = 0;
        fn right_edge(id: &str) -> Option<u32> = None;
        fn max_width(id: &str) -> Option<u32> = None;
        fn set_style(id: &str, property: &str, value: &str);
        fn capture_pointer(event: &PointerEvent);
        fn go_to_fragment(href: &str);
        fn fragment_target() -> Option<HtmlElement> = None;
        fn element_by_id(id: &str) -> Option<HtmlElement> = None;
        fn find_in(element: &Element, selector: &str) -> Option<HtmlElement> = None;
        fn has_focus_in(selector: &str) -> bool = false;
        fn focus_after_removal();
        fn focus_input(area: &HtmlTextAreaElement);
        fn fit_height(area: &HtmlTextAreaElement);
        fn fix_column_widths(table: &HtmlElement);
        fn show_modal(dialog: &HtmlDialogElement);
        fn is_within(event: &Event, selector: &str) -> bool = false;
        fn scroll_to_top(element: &HtmlElement);
        fn scroll_into_view(element: &HtmlElement);
        fn scroll_to_selector(selector: &str);
        fn show_in_row(row: &str, part: &str);
    }
    events {
        fn open_event_stream(url: &str, call: impl Fn(ResponseEvent) + 'static) -> EventStream = EventStream;
        fn on_presence(call: impl Fn(PresenceEvent) + 'static);
        fn wait_for_lock(name: &str, granted: impl FnOnce() + 'static) -> Option<TabLock> = None;
        fn try_lock(name: &str, granted: impl FnOnce() + 'static) -> Option<TabLock> = None;
        fn is_page_hidden() -> bool = false;
    }
    found {
        fn show_found(scroller: &str, id: &str, part: Option<&str>, words: &[String]) -> bool = false;
        fn clear_found_marks();
    }
    frames {
        fn are_frames_paused() -> bool = false;
        fn show_in_frame(frame: &HtmlIFrameElement, kind: FrameKind, page: &str);
    }
    images {
        fn clicked_image(event: &Event) -> Option<(Vec<LinkedImage>, usize)> = None;
    }
    location {
        fn full_url(path: &str) -> String = path.to_owned();
        fn set_url(path: &str, replace: bool);
        fn on_navigate(call: impl Fn(String) + 'static);
    }
    notification {
        fn notification_permission() -> NotificationPermission = NotificationPermission::Unsupported;
        fn request_notification_permission(answered: impl FnOnce(NotificationPermission) + 'static);
        fn notify(title: &str, body: &str, tag: &str, pressed: impl FnOnce() + 'static);
        fn long_answer_threshold_ms() -> f64 = f64::INFINITY;
    }
    observers {
        fn on_resize(element: &Element, call: impl Fn() + 'static) -> ElementObserver = ElementObserver;
        fn on_visible(element: &Element, call: impl Fn() + 'static) -> ElementObserver = ElementObserver;
    }
    part {
        fn fetch_part(url: &str, done: impl FnOnce(ServerPart) + 'static);
        fn load_page(url: &str);
        fn finish_part(selector: &str);
        fn text_to_copy(event: &Event) -> Option<String> = None;
    }
    popovers {
        fn is_toggled_open(event: &Event) -> bool = false;
        fn show_popover(popover: &HtmlElement, button: &HtmlElement);
        fn place_popover(popover: &HtmlElement, button: &HtmlElement);
        fn place_opened(event: &Event);
        fn place_beside(popover: &HtmlElement, button: &str);
        fn move_focus_among(
            list: &HtmlElement,
            rows: &str,
            focusable: Option<&str>,
            target: impl FnOnce(Option<usize>, usize) -> Option<usize>,
        );
        fn press_in_row(event: &Event, row: &str, button: &str);
        fn close_popover(element: &HtmlElement);
    }
    selection {
        fn on_selection_change(call: impl Fn() + 'static) -> SelectionWatch = SelectionWatch;
        fn has_selection(selector: &str) -> bool = false;
        fn selected_text(selector: &str) -> Option<String> = None;
        fn select_block_with_formula(event: &MouseEvent);
        fn place_at_selection(element: &HtmlElement, scroller: &str);
        fn append_to_field(selector: &str, text: &str);
    }
    storage {
        fn storage_get(key: &str) -> Option<String> = None;
        fn storage_get_all(prefix: &str) -> Vec<String> = Vec::new();
        fn storage_set(key: &str, value: Option<&str>);
        fn set_root_attribute(name: &str, value: Option<&str>);
    }
    theme {
        fn is_dark() -> bool = false;
        fn set_theme(chosen: Option<&str>);
    }
    time {
        // Called by the server: the time that it sends with the page.
        fn now() -> Timestamp = super::stub::system_time();
        // Called by tests: the server's days are those of UTC.
        fn local_day(at: Timestamp) -> i64 = at.days_since_epoch();
        fn time_zone() -> String = "UTC".into();
        fn local_time(at: Timestamp) -> String = at.to_rfc3339();
        fn monotonic_ms() -> f64 = 0.0;
        fn random() -> f64 = 0.5;
        fn sleep(ms: f64) -> impl Future<Output = ()> = std::future::ready(());
        fn set_timeout(ms: f64, call: impl FnOnce() + 'static) -> Timer = Timer;
        fn on_idle(call: impl FnOnce() + 'static);
        fn on_next_frame(call: impl FnOnce() + 'static);
    }
    upload {
        fn file_limits() -> (usize, usize) = (usize::MAX, usize::MAX);
        fn text_file(name: &str, text: &str) -> Option<LocalFile> = None;
        fn pasted_files(event: &ClipboardEvent) -> Vec<LocalFile> = Vec::new();
        fn dropped_files(event: &DragEvent) -> Vec<LocalFile> = Vec::new();
        fn has_files(event: &DragEvent) -> bool = false;
        fn begin_move(event: &DragEvent);
        fn chosen_files(event: &Event) -> Vec<LocalFile> = Vec::new();
        fn open_picker(selector: &str);
        fn upload(
            url: &str,
            file: &LocalFile,
            on_progress: impl Fn(f64) + 'static,
            on_end: impl FnOnce(u16, String) + 'static,
        ) -> Option<Upload> = None;
    }
    user {
        fn share_choices() -> ShareChoices = ShareChoices { links: true, people: true };
        fn has_other_user() -> bool = false;
        fn set_signed_out(is_signed_out: bool);
    }
}
