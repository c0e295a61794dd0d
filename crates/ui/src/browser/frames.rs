//! Frames without origin, filled by the server (`http::framed_page`).
//!
//! Chromium runs all of them in one process, apart from the page: while a script loops in one of them, the page works on, but no
//! other frame loads. The process ends when the last of them is removed. So if a frame does not load, all are removed and
//! made again, without scripts.

use std::cell::Cell;

use leptos::prelude::{ArcRwSignal, Get, GetUntracked, Set, document, window};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{HtmlFormElement, HtmlIFrameElement, HtmlTextAreaElement, MessageEvent};

use super::{FrameKind, Timer, diagrams, set_timeout};

/// The time in which a page without scripts loads, in milliseconds.
const STATIC_TIMEOUT_MS: f64 = 3_000.0;

/// The time in which a page with scripts loads, in milliseconds. They may have much to do at once.
const SCRIPTS_TIMEOUT_MS: f64 = 10_000.0;

/// The time without frames, in milliseconds.
const PAUSE_MS: f64 = 200.0;

/// The maximum number of messages of all frames in [`MESSAGE_INTERVAL_MS`]. Ours send up to three for a drawing.
const MAX_MESSAGES: u32 = 500;

const MESSAGE_INTERVAL_MS: f64 = 1_000.0;

thread_local! {
    static ARE_PAUSED: ArcRwSignal<bool> = ArcRwSignal::new(false);
    /// True if a frame has run scripts since all were removed.
    static HAS_RUN: Cell<bool> = const { Cell::new(false) };
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    /// The time of the first message of the present interval, and the number of messages in it.
    static RECENT_MESSAGES: Cell<(f64, u32)> = const { Cell::new((0.0, 0)) };
}

/// Returns true while there may be no frames. Tracked. Pages are shown without scripts afterwards.
pub fn are_frames_paused() -> bool {
    ARE_PAUSED.with(Get::get)
}

pub(super) fn are_paused() -> bool {
    ARE_PAUSED.with(GetUntracked::get_untracked)
}

/// Counts the messages of all frames, before any other listener. A frame that floods the page is removed with all others, and
/// what it has sent reaches nobody.
fn guard_messages() {
    if IS_GUARDED.replace(true) {
        return;
    }
    let listener = Closure::<dyn Fn(MessageEvent)>::new(|event: MessageEvent| {
        let (start_ms, count) = RECENT_MESSAGES.get();
        let now_ms = event.time_stamp();
        if now_ms - start_ms > MESSAGE_INTERVAL_MS {
            RECENT_MESSAGES.set((now_ms, 1));
            return;
        }
        RECENT_MESSAGES.set((start_ms, count + 1));
        if count >= MAX_MESSAGES {
            event.stop_immediate_propagation();
            // One that is removed already is no source.
            if event.source().is_some() && !are_paused() {
                restart_frames();
            }
        }
    });
    let call = listener.as_ref().unchecked_ref();
    let _ = window().add_event_listener_with_callback_and_bool("message", call, true);
    listener.forget();
}

/// Notes that a frame runs scripts which are not ours, or draws what a model wrote.
pub(super) fn mark_run() {
    HAS_RUN.set(true);
}

/// Removes all frames for a moment, with the scripts that run in them.
pub(super) fn restart_frames() {
    HAS_RUN.set(false);
    ARE_PAUSED.with(|paused| paused.set(true));
    diagrams::pause();
    set_timeout(PAUSE_MS, || {
        ARE_PAUSED.with(|paused| paused.set(false));
        diagrams::resume();
    })
    .detach();
}

/// Restarts all frames if this one does not load because of the scripts of one of them.
fn watch(frame: &HtmlIFrameElement, kind: FrameKind) {
    let timeout = match kind {
        FrameKind::Static => STATIC_TIMEOUT_MS,
        FrameKind::Scripts | FrameKind::Diagrams | FrameKind::Charts => SCRIPTS_TIMEOUT_MS,
    };
    if kind == FrameKind::Scripts {
        mark_run();
    }
    let deadline: Cell<Option<Timer>> = Cell::default();
    let watched = frame.clone();
    deadline.set(Some(set_timeout(timeout, move || {
        if watched.is_connected() && HAS_RUN.get() {
            restart_frames();
        }
    })));
    // A frame whose page navigates away loads more than once.
    let loaded = Closure::<dyn Fn()>::new(move || drop(deadline.take())).into_js_value();
    let _ = frame.add_event_listener_with_callback("load", loaded.unchecked_ref());
}

/// Shows a page in a frame that has a name, by a form: no URL contains the page, and the server's response sets its policy.
pub fn show_in_frame(frame: &HtmlIFrameElement, kind: FrameKind, page: &str) {
    guard_messages();
    if submit(frame, kind, page).is_ok() {
        watch(frame, kind);
    }
}

fn submit(frame: &HtmlIFrameElement, kind: FrameKind, page: &str) -> Result<(), JsValue> {
    let form: HtmlFormElement = document().create_element("form")?.unchecked_into();
    form.set_method("post");
    form.set_action("/frame");
    form.set_target(&frame.name());
    form.set_hidden(true);
    for (name, value) in [("kind", kind.name()), ("page", page)] {
        let field: HtmlTextAreaElement = document().create_element("textarea")?.unchecked_into();
        field.set_name(name);
        field.set_value(value);
        form.append_child(&field)?;
    }
    let body = document().body().ok_or(JsValue::NULL)?;
    body.append_child(&form)?;
    let submitted = form.submit();
    form.remove();
    submitted
}
