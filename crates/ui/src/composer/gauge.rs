//! The gauge of the context window's use. It is not needed for the first paint: its code is loaded after the page, and that of the
//! figures ([`super::gauge_figures`]) when somebody points at it.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use super::{gauge_figures::load_figures, texts};
use crate::{
    browser,
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazySlot, LazyView, LoadError, lazy_optional},
        signal::after_hydration,
        when::When,
    },
    state::use_conversations,
};
use parlor_protocol::{Usage, number_format::group_digits};

/// From this percentage on, the oldest messages will soon be shortened or summarized.
const NEARLY_FULL_PERCENT: usize = 80;

/// The gauge, shown when the use is known.
#[component]
pub fn Gauge() -> impl IntoView {
    let conversations = use_conversations();
    let usage = Memo::new(move |_| conversations.current_view().and_then(|view| view.usage.get()));
    // Not rendered on the server, so that hydration works without its code.
    let is_hydrated = after_hydration();
    view! {
        <When when=move || {
            is_hydrated.get() && usage.get().is_some()
        }>{lazy_optional(move || load_view(usage))}</When>
    }
}

/// Loads the view's code on first use.
#[wasm_split(conversation, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(usage: Memo<Option<Usage>>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Ring usage/> }.erase()))
}

/// A ring that fills, with the figures in a popover.
#[component]
fn Ring(usage: Memo<Option<Usage>>) -> impl IntoView {
    let percent = move || usage.get()?.percent().map(|percent| percent.min(100));
    let label = move || usage.get().map(|usage| usage_label(&usage));
    let details = Memo::new(move |_| usage.get().map(|usage| usage_details(&usage)));
    let nearly_full = move || percent().is_some_and(|percent| percent >= NEARLY_FULL_PERCENT);
    let is_open = RwSignal::new(false);
    let (button, popover) = (NodeRef::<html::Button>::new(), NodeRef::<html::Div>::new());
    let figures = LazySlot::new();
    let load = move || figures.load(move || load_figures(usage, is_open));
    effect(move || {
        figures.track();
        // They are on the page by then, and the popover is larger.
        browser::on_next_frame(move || {
            let elements = popover
                .try_get_untracked()
                .flatten()
                .zip(button.try_get_untracked().flatten());
            if let Some((popover, button)) = elements.filter(|_| is_open.try_get_untracked() == Some(true)) {
                browser::place_popover(&popover, &button);
            }
        });
    });
    // Of a hundred: the filled part, and a gap longer than the rest.
    let filled = move || percent().map(|percent| [&percent.to_string(), " 100"].concat());
    view! {
        <button
            node_ref=button
            type="button"
            class="icon-button gauge needs-script"
            class:gauge-full=nearly_full
            aria-label=label
            title=move || details.get()
            popovertarget="gauge-figures"
            on:pointerenter=move |_| load()
            on:focus=move |_| load()
        >
            <svg class="gauge-ring" viewBox="0 0 24 24" aria-hidden="true">
                <circle
                    class:gauge-unknown=move || percent().is_none()
                    cx="12"
                    cy="12"
                    r="8"
                    pathLength="100"
                />
                <circle
                    class="gauge-filled"
                    cx="12"
                    cy="12"
                    r="8"
                    pathLength="100"
                    stroke-dasharray=move || filled().unwrap_or_else(|| "0 100".into())
                />
            </svg>
        </button>
        <div
            node_ref=popover
            id="gauge-figures"
            class="popover"
            popover="auto"
            on:toggle=move |event| {
                load();
                is_open.set(browser::is_toggled_open(&event));
                browser::place_opened(&event);
            }
        >
            <h2>{texts::CONTEXT_WINDOW}</h2>
            <p>{move || details.get()}</p>
            {figures.view(|| ().into_any())}
        </div>
    }
}

/// The accessible name.
fn usage_label(usage: &Usage) -> String {
    match usage.percent() {
        Some(percent) => texts::percent_full(&percent.to_string()),
        None => texts::USE_UNKNOWN.into(),
    }
}

fn usage_details(usage: &Usage) -> String {
    let used = group_digits(usage.total() as u64);
    let window = usage.window.map(|window| group_digits(window as u64));
    let percent = usage.percent().map(|percent| percent.to_string());
    texts::used_tokens(&used, window.as_deref().zip(percent.as_deref()), usage.estimated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::TokenTotals;

    fn usage(estimated: bool, window: Option<usize>) -> Usage {
        Usage {
            input_tokens: 1200,
            output_tokens: 34,
            estimated,
            estimate: 1000,
            window,
            totals: TokenTotals::default(),
        }
    }

    #[test]
    fn details_show_known_and_unknown_figures() {
        assert_eq!(
            usage_details(&usage(false, Some(32_768))),
            "1,234 of 32,768 tokens (3 %)"
        );
        assert!(usage_details(&usage(true, None)).starts_with("About 1,234 tokens. The size"));
        assert_eq!(usage_label(&usage(true, None)), "Context window: use unknown");
    }
}
