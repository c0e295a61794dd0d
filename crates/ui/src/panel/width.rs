//! The panel's width: the default of the payload type, or the user's choice, which this browser stores by type.

use leptos::{ev, prelude::*};

use super::{Panel, texts};
use crate::{
    browser,
    runtime::{effect::effect, erase::Erase},
    state::page_registry::PayloadHandler,
};

/// The minimum width, as in the style sheet.
const MIN_WIDTH: u32 = 320;
/// The step of an arrow key.
const KEY_STEP: u32 = 32;

/// The right edge of the panel: the edge of the window, or of a tray.
fn right_edge() -> u32 {
    browser::right_edge("panel").unwrap_or_else(browser::viewport_width)
}

/// The current maximum width, as in the style sheet: next to the conversation, or over the page and next to a tray.
fn max_width() -> u32 {
    browser::max_width("panel").unwrap_or(u32::MAX).max(MIN_WIDTH)
}

fn clamp_width(width: u32) -> u32 {
    width.clamp(MIN_WIDTH, max_width())
}

fn storage_key(handler: &PayloadHandler) -> String {
    ["parlor-panel-width:", handler.kind].concat()
}

/// The separator between the conversation and the panel, moved by dragging or with the arrow keys. A double click
/// restores the default.
pub fn separator(panel: Panel, handler: PayloadHandler) -> AnyView {
    let kept = browser::storage_get(&storage_key(&handler)).and_then(|kept| kept.parse().ok());
    // The available width may have changed since the last drag.
    let room = RwSignal::new(max_width());
    let measure = move || room.set(max_width());
    // The requested width: the style sheet limits it to the available width.
    let width = RwSignal::new(kept.unwrap_or(handler.width));
    effect(move || {
        let pixels = [&width.get().to_string(), "px"].concat();
        browser::set_style("panel", "--panel-width", &pixels);
    });
    let store =
        move || browser::storage_set(&storage_key(&handler), Some(&width.get_untracked().to_string()));
    let pressed = move |event: ev::KeyboardEvent| {
        let now = clamp_width(width.get_untracked());
        let new = match event.key().as_str() {
            "ArrowLeft" => now + KEY_STEP,
            "ArrowRight" => now.saturating_sub(KEY_STEP),
            "Home" => MIN_WIDTH,
            "End" => max_width(),
            _ => return,
        };
        event.prevent_default();
        width.set(clamp_width(new));
        store();
    };
    let dragged = RwSignal::new(false);
    let taken = move |event: ev::PointerEvent| {
        browser::capture_pointer(&event);
        dragged.set(true);
    };
    let moved = move |event: ev::PointerEvent| {
        if dragged.get_untracked() {
            let left = u32::try_from(event.client_x()).unwrap_or(0);
            width.set(clamp_width(right_edge().saturating_sub(left)));
        }
    };
    let release = move |_: ev::PointerEvent| {
        if dragged.get_untracked() {
            dragged.set(false);
            store();
        }
    };
    let reset = move |_: ev::MouseEvent| {
        browser::storage_set(&storage_key(&handler), None);
        width.set(handler.width);
    };
    // A panel that covers everything cannot be resized.
    let view = move || {
        (!panel.is_fullscreen.get()).then(|| {
            view! {
                <div
                    class="panel-edge"
                    class:dragged=move || dragged.get()
                    role="separator"
                    tabindex="0"
                    aria-orientation="vertical"
                    aria-label=texts::PANEL_WIDTH
                    aria-controls="panel"
                    aria-valuemin=MIN_WIDTH
                    aria-valuemax=move || room.get()
                    aria-valuenow=move || width.get().clamp(MIN_WIDTH, room.get())
                    on:focus=move |_| measure()
                    on:pointerenter=move |_| measure()
                    on:keydown=pressed
                    on:pointerdown=taken
                    on:pointermove=moved
                    on:pointerup=release
                    on:lostpointercapture=release
                    on:dblclick=reset
                ></div>
            }
        })
    };
    view.erase()
}
