//! The gauge of the context window's use, with the tokens and the cost of the answer and of the conversation. It is not needed for the first paint: its code is loaded after the page.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use crate::{
    api::rpc,
    protocol::number_format::group_digits,
    protocol::{ConversationId, TokenTotals, Usage},
    ui::{
        browser, runtime::erase::Erase, runtime::lazy::LazyView, runtime::lazy::LoadError,
        runtime::lazy::lazy_optional, runtime::signal::after_hydration, runtime::when::When,
        state::use_connection, state::use_conversations,
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
    let is_hydrated = after_hydration();
    view! {
        <When when=move || {
            is_hydrated.get() && usage.get().is_some()
        }>{lazy_optional(move || load_view(usage))}</When>
    }
}

/// Loads the view's code on first use.
#[wasm_split(gauge, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(usage: Memo<Option<Usage>>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Ring usage/> }.erase()))
}

/// A ring that fills, with the figures in a popover.
#[component]
fn Ring(usage: Memo<Option<Usage>>) -> impl IntoView {
    let percent = move || usage.get()?.percent().map(|percent| percent.min(100));
    let label = move || usage.get().map(|usage| usage_label(&usage));
    let figures = move || usage.get().map(|usage| usage_details(&usage));
    let nearly_full = move || percent().is_some_and(|percent| percent >= NEARLY_FULL_PERCENT);
    let totals = Memo::new(move |_| usage.get().map(|usage| usage.totals));
    // The sum of all answers of a conversation, while the figures are open.
    let sum = RwSignal::new(None::<(ConversationId, TokenTotals)>);
    let is_open = RwSignal::new(false);
    let (connection, conversations) = (use_connection(), use_conversations());
    Effect::new(move |_| {
        totals.track();
        let Some(view) = conversations.current_view().filter(|_| is_open.get()) else {
            return sum.set(None);
        };
        spawn_local(async move {
            // Without the sum, the figures of the answer are shown alone.
            if let Ok(read) = connection.call(rpc::token_totals(view.id)).await {
                sum.try_set(Some((view.id, read)));
            }
        });
    });
    let shown_sum = move || {
        let view = conversations.current_view()?;
        sum.get()
            .and_then(|(id, totals)| (id == view.id).then_some(totals))
    };
    let figures_of = |title: &'static str, totals: Option<TokenTotals>| {
        let totals = totals.filter(|totals| !totals.is_empty())?;
        let lines = totals_lines(&totals).into_iter();
        let lines: Vec<_> = lines.map(|line| view! { <li>{line}</li> }.erase()).collect();
        Some(view! { <h3>{title}</h3> <ul class="gauge-totals">{lines}</ul> }.erase())
    };
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
        <div
            id="gauge-figures"
            class="popover"
            popover="auto"
            on:toggle=move |event| {
                is_open.set(browser::is_toggled_open(&event));
                browser::place_opened(&event);
            }
        >
            <h2>"The model’s context window"</h2>
            <p>{figures}</p>
            <p>
                "All that the model reads: its instructions, its tools, this conversation. When it is full, old tool outputs are shortened first, then the oldest messages are summarized."
            </p>
            {move || figures_of("This answer", totals.get())}
            {move || figures_of("This conversation", shown_sum())}
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

/// The tokens and the cost of answers, each in a line.
fn totals_lines(totals: &TokenTotals) -> Vec<String> {
    let with_parts = |whole: usize, what: &str, parts: &[(usize, &str)]| {
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, name)| [&group_digits(*count as u64), " ", name].concat())
            .collect();
        let line = ["Tokens ", what, ": ", &group_digits(whole as u64)].concat();
        match parts.is_empty() {
            true => line,
            false => [&line, " (", &parts.join(", "), ")"].concat(),
        }
    };
    let input = [
        (totals.cached_input_tokens, "from the cache"),
        (totals.cache_write_tokens, "written to the cache"),
        (totals.image_input_tokens, "of images"),
    ];
    let output = [
        (totals.thinking_tokens, "thinking"),
        (totals.image_output_tokens, "of images"),
    ];
    let mut lines = vec![
        with_parts(totals.input_tokens, "in", &input),
        with_parts(totals.output_tokens, "out", &output),
    ];
    if totals.estimated_calls > 0 {
        lines.push("The model server does not count tokens: these are estimates.".into());
    }
    lines.push(cost_line(totals));
    lines
}

fn cost_line(totals: &TokenTotals) -> String {
    let cost = totals.cost.to_label();
    match totals.unpriced_calls {
        0 => ["Cost: ", &cost].concat(),
        unpriced if unpriced == totals.calls => "Cost: unknown, no price is set (models.prices)".into(),
        unpriced => [
            "Cost: at least ",
            &cost,
            "; the price of ",
            &unpriced.to_string(),
            " of ",
            &totals.calls.to_string(),
            " model calls is unknown",
        ]
        .concat(),
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
    use crate::protocol::Dollars;

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
    fn totals_name_their_parts_and_unknown_prices() {
        let totals = TokenTotals {
            calls: 2,
            input_tokens: 31_073,
            output_tokens: 4416,
            cached_input_tokens: 3712,
            thinking_tokens: 3700,
            cost: Dollars(12_300_000),
            ..TokenTotals::default()
        };
        assert_eq!(
            totals_lines(&totals),
            [
                "Tokens in: 31,073 (3,712 from the cache)",
                "Tokens out: 4,416 (3,700 thinking)",
                "Cost: $0.0123",
            ]
        );
        let cost = |unpriced_calls| {
            cost_line(&TokenTotals {
                unpriced_calls,
                ..totals
            })
        };
        assert_eq!(
            cost(1),
            "Cost: at least $0.0123; the price of 1 of 2 model calls is unknown"
        );
        assert!(cost(2).starts_with("Cost: unknown"), "not zero");
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
