//! The gauge of the context window's use. It is not needed for the first paint: its code is loaded after the page.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use crate::{
    protocol::Usage,
    protocol::number_format::group_digits,
    ui::{
        runtime::erase::Erase, runtime::lazy::LazyView, runtime::lazy::LoadError,
        runtime::lazy::lazy_optional, runtime::when::When, state::use_conversations,
    },
};

/// From this percentage on, the oldest messages will soon be shortened or summarized.
const NEARLY_FULL_PERCENT: usize = 80;

/// The gauge, shown when the use is known.
#[component]
pub fn Gauge() -> impl IntoView {
    let conversations = use_conversations();
    let usage = Memo::new(move |_| conversations.current_view().and_then(|view| view.usage.get()));
    // Not rendered on the server, so that hydration works without its code.
    let is_taken_over = RwSignal::new(false);
    Effect::new(move |_| is_taken_over.set(true));
    view! {
        <When when=move || {
            is_taken_over.get() && usage.get().is_some()
        }>{lazy_optional(move || code(usage))}</When>
    }
}

#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn code(usage: Memo<Option<Usage>>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Ring usage/> }.erase()))
}

/// A ring that fills, with the figures in a popover.
#[component]
fn Ring(usage: Memo<Option<Usage>>) -> impl IntoView {
    let percent = move || usage.get()?.percent().map(|percent| percent.min(100));
    let label = move || usage.get().map(|usage| usage_label(&usage));
    let figures = move || usage.get().map(|usage| usage_details(&usage));
    let nearly_full = move || percent().is_some_and(|percent| percent >= NEARLY_FULL_PERCENT);
    // Of a hundred: the filled part, and a gap longer than the rest.
    let filled = move || percent().map(|percent| [&percent.to_string(), " 100"].concat());
    view! {
        <button
            type="button"
            class="icon-button gauge needs-script"
            class:gauge-full=nearly_full
            aria-label=label
            title=figures
            popovertarget="gauge-figures"
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
        <div id="gauge-figures" class="popover" popover="auto">
            <h2>"The model’s context window"</h2>
            <p>{figures}</p>
            <p>
                "It holds everything that the model reads: its instructions, its tools and this conversation. When there is no room for all, old tool outputs are shortened first, and then the oldest messages are summarized."
            </p>
        </div>
    }
}

/// The accessible name.
fn usage_label(usage: &Usage) -> String {
    match usage.percent() {
        Some(percent) => ["Context window: ", &percent.to_string(), " % full"].concat(),
        None => "Context window: use unknown".into(),
    }
}

fn usage_details(usage: &Usage) -> String {
    let about = if usage.estimated { "About " } else { "" };
    let used = group_digits(usage.total() as u64);
    match (usage.window, usage.percent()) {
        (Some(window), Some(percent)) => [
            about,
            &used,
            " of ",
            &group_digits(window as u64),
            " tokens (",
            &percent.to_string(),
            " %)",
        ]
        .concat(),
        _ => [
            about,
            &used,
            " tokens. The size of this model’s context window is unknown. Set context_window for its endpoint.",
        ]
        .concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(estimated: bool, window: Option<usize>) -> Usage {
        Usage {
            input_tokens: 1200,
            output_tokens: 34,
            estimated,
            estimate: 1000,
            window,
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
