//! A page that a model has written, in a frame without origin and network. Its scripts run after a click only, and until
//! the user stops them.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::texts;
use crate::{
    browser::{self, FrameKind},
    runtime::{effect::effect, erase::Erase},
};

/// A page, and a bar to run its scripts if it has some. `is_enlarged` is true while a dialog shows the page too.
pub fn framed_page(text: &Arc<str>, is_enlarged: RwSignal<bool>) -> AnyView {
    view! { <div class="md-preview md-preview-page">{page_view(text, is_enlarged)}</div> }.erase()
}

/// The page in a dialog.
pub fn large_page(text: &Arc<str>) -> AnyView {
    view! { <div class="md-large-page">{page_view(text, RwSignal::new(false))}</div> }.erase()
}

/// Renders the page in a frame, with a bar to run its scripts if it has any.
fn page_view(text: &Arc<str>, is_enlarged: RwSignal<bool>) -> AnyView {
    let is_running = RwSignal::new(false);
    let bar = has_scripts(text).then(|| bar(is_running));
    effect(move || {
        if browser::are_frames_paused() {
            is_running.set(false);
        }
    });
    // The dialog runs a copy of its own: two would be heard twice.
    let kind = Memo::new(move |_| match is_running.get() {
        _ if browser::are_frames_paused() => None,
        true if is_enlarged.get() => None,
        true => Some(FrameKind::Scripts),
        false => Some(FrameKind::Static),
    });
    // A frame for each kind: one that changes its name is not found by it.
    let frame_of = move |wanted: FrameKind| {
        let text = text.clone();
        move || (kind.get() == Some(wanted)).then(|| frame(&text, wanted))
    };
    view! { {frame_of(FrameKind::Static)} {frame_of(FrameKind::Scripts)} {bar} }.erase()
}

fn bar(is_running: RwSignal<bool>) -> AnyView {
    let status = move || match is_running.get() {
        true => texts::SCRIPTS_RUN,
        false => texts::SCRIPTS_STOPPED,
    };
    let button = move || {
        let (name, class) = match is_running.get() {
            true => (texts::STOP_SCRIPTS, "button button-danger"),
            false => (texts::RUN_SCRIPTS, "button"),
        };
        view! {
            <button type="button" class=class on:click=move |_| is_running.update(|is_running| *is_running = !*is_running)>
                {name}
            </button>
        }
    };
    view! { <p class="md-preview-note">{status} {button}</p> }.erase()
}

/// True if a page seems to have scripts, also in attributes such as `onclick`.
fn has_scripts(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_handler = |word: &str| {
        let name = word.strip_prefix("on").and_then(|rest| rest.split_once('='));
        name.is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    text.contains("<script") || text.split_ascii_whitespace().any(is_handler)
}

/// A frame with a page.
fn frame(text: &Arc<str>, kind: FrameKind) -> AnyView {
    let frame = NodeRef::<html::Iframe>::new();
    // A name that is given later is not found.
    let name = ["frame-", &browser::random().to_string()].concat();
    let text = text.clone();
    effect(move || {
        if let Some(frame) = frame.get() {
            browser::show_in_frame(&frame, kind, &text);
        }
    });
    view! {
        <iframe node_ref=frame class="md-frame" name=name title=texts::PAGE sandbox=kind.sandbox()></iframe>
    }
    .erase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_scripts() {
        for (text, expected) in [
            ("<SCRIPT>a</SCRIPT>", true),
            ("<p onclick=\"a()\">", true),
            ("<p\n\tonclick=a()>", true),
            ("<p>on = off, go on</p>", false),
            ("<p>a</p>", false),
        ] {
            assert_eq!(has_scripts(text), expected, "{text}");
        }
    }
}
