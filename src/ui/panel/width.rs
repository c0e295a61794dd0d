//! The panel's width: as its type has it, or as somebody has made it, which this browser keeps by type.

use leptos::{ev, prelude::*};

use super::{Panel, handlers::Handler};
use crate::ui::{browser, erase::Erase, tray::use_tray};

/// The narrowest that it can be.
const LEAST: u32 = 320;
/// What the list and the conversation need beside it.
const OTHERS: u32 = 280 + 352;
/// How far an arrow moves the edge.
const STEP: u32 = 32;

/// The widest that it can be now, beside the list and a page that has its tray or is the conversation itself.
fn widest(panel: Panel) -> u32 {
    let beside = if panel.live.page.get().has_tray() {
        use_tray().width()
    } else {
        0
    };
    browser::viewport_width()
        .saturating_sub(OTHERS + beside)
        .max(LEAST)
}

fn key(handler: &Handler) -> String {
    ["parlor-panel-width:", handler.kind].concat()
}

/// The edge towards the conversation, which can be moved: by dragging it, or with the arrows. A double click puts it back.
pub fn separator(panel: Panel, handler: Handler) -> AnyView {
    let kept = browser::stored(&key(&handler)).and_then(|kept| kept.parse().ok());
    // As it is wanted: the style sheet keeps it within what there is room for, whatever becomes of the window.
    let width = RwSignal::new(kept.unwrap_or(handler.width));
    Effect::new(move |_| {
        let pixels = [&width.get().to_string(), "px"].concat();
        browser::set_style("panel", "--panel-width", &pixels);
    });
    let most = move || untrack(|| widest(panel));
    let within = move |width: u32| width.clamp(LEAST, most());
    let keep = move || browser::store(&key(&handler), Some(&width.get_untracked().to_string()));
    let pressed = move |event: ev::KeyboardEvent| {
        let now = within(width.get_untracked());
        let new = match event.key().as_str() {
            "ArrowLeft" => now + STEP,
            "ArrowRight" => now.saturating_sub(STEP),
            "Home" => LEAST,
            "End" => most(),
            _ => return,
        };
        event.prevent_default();
        width.set(within(new));
        keep();
    };
    // While it is dragged: where the panel's other edge is, which may be that of a tray and not the window's.
    let dragged = RwSignal::new(None::<i32>);
    let taken = move |event: ev::PointerEvent| {
        browser::capture_pointer(&event);
        dragged.set(
            i32::try_from(within(width.get_untracked()))
                .ok()
                .map(|width| event.client_x() + width),
        );
    };
    let moved = move |event: ev::PointerEvent| {
        if let Some(right) = dragged.get_untracked() {
            width.set(within(u32::try_from(right - event.client_x()).unwrap_or(0)));
        }
    };
    let let_go = move |_: ev::PointerEvent| {
        if dragged.get_untracked().is_some() {
            dragged.set(None);
            keep();
        }
    };
    let put_back = move |_: ev::MouseEvent| {
        browser::store(&key(&handler), None);
        width.set(handler.width);
    };
    // Where it covers all there is nothing to be moved.
    let view = move || {
        (!panel.full.get()).then(|| {
            view! {
                <div
                    class="panel-edge"
                    class:dragged=move || dragged.get().is_some()
                    role="separator"
                    tabindex="0"
                    aria-orientation="vertical"
                    aria-label="Width of the panel"
                    aria-controls="panel"
                    aria-valuemin=LEAST
                    aria-valuemax=most()
                    aria-valuenow=move || within(width.get())
                    on:keydown=pressed
                    on:pointerdown=taken
                    on:pointermove=moved
                    on:pointerup=let_go
                    on:lostpointercapture=let_go
                    on:dblclick=put_back
                ></div>
            }
        })
    };
    view.erase()
}
