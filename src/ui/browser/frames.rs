//! Frames without origin, filled by the server (`http::framed_page`).
//!
//! Chromium runs all of them in one process, apart from the page: while a script loops in one of them, the page works on, but no
//! other frame loads. The process ends when the last of them is removed. So if a frame does not load, all are removed and
//! made again, without scripts.

use std::cell::Cell;

use leptos::prelude::{ArcRwSignal, Get, GetUntracked, Set, document};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{HtmlFormElement, HtmlIFrameElement, HtmlTextAreaElement};

use super::{FrameKind, Timer, diagrams, set_timeout};

/// The time in which a page without scripts loads, in milliseconds.
const STATIC_TIMEOUT_MS: f64 = 3_000.0;

/// The time in which a page with scripts loads, in milliseconds. They may have much to do at once.
const SCRIPTS_TIMEOUT_MS: f64 = 10_000.0;

/// The time without frames, in milliseconds.
const PAUSE_MS: f64 = 200.0;

thread_local! {
    static ARE_PAUSED: ArcRwSignal<bool> = ArcRwSignal::new(false);
    /// True if a frame has run scripts since all were removed.
    static HAS_RUN: Cell<bool> = const { Cell::new(false) };
}

/// Returns true while there may be no frames. Tracked. Pages are shown without scripts afterwards.
pub fn are_frames_paused() -> bool {
    ARE_PAUSED.with(Get::get)
}

pub(super) fn are_paused() -> bool {
    ARE_PAUSED.with(GetUntracked::get_untracked)
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
    let loaded = Closure::once_into_js(move || drop(deadline.take()));
    let _ = frame.add_event_listener_with_callback("load", loaded.unchecked_ref());
}

/// Shows a page in a frame that has a name, by a form: no URL contains the page, and the server's response sets its policy.
pub fn show_in_frame(frame: &HtmlIFrameElement, kind: FrameKind, page: &str) {
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
