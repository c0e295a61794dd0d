//! The figures of the gauge: the tokens and the cost of the answer and of the conversation.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::texts;
use crate::{
    api::rpc,
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError},
    },
    state::{use_connection, use_conversations},
};
use parlor_protocol::{ConversationId, TokenTotals, Usage, number_format::group_digits};

/// Loads the view's code on first use.
#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_figures(usage: Memo<Option<Usage>>, is_open: RwSignal<bool>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Figures usage is_open/> }.erase()))
}

#[component]
fn Figures(usage: Memo<Option<Usage>>, is_open: RwSignal<bool>) -> impl IntoView {
    let totals = Memo::new(move |_| usage.get().map(|usage| usage.totals));
    // The sum of all answers of a conversation, while the figures are open.
    let sum = RwSignal::new(None::<(ConversationId, TokenTotals)>);
    let (connection, conversations) = (use_connection(), use_conversations());
    effect(move || {
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
    // The first answer is the whole conversation.
    let shown_sum = move || {
        let view = conversations.current_view()?;
        let (id, sum) = sum.get()?;
        (id == view.id && totals.get() != Some(sum)).then_some(sum)
    };
    let figures_of = |title: &'static str, totals: Option<TokenTotals>| {
        let totals = totals.filter(|totals| !totals.is_empty())?;
        let lines = totals_lines(&totals).into_iter();
        let lines: Vec<_> = lines.map(|line| view! { <li>{line}</li> }.erase()).collect();
        Some(view! { <h3>{title}</h3> <ul class="gauge-totals">{lines}</ul> }.erase())
    };
    view! {
        <p>
            {texts::WINDOW_HINT}
        </p>
        {move || figures_of(texts::THIS_ANSWER, totals.get())}
        {move || figures_of(texts::THIS_CONVERSATION, shown_sum())}
    }
}

/// The tokens and the cost of answers, each in a line.
fn totals_lines(totals: &TokenTotals) -> Vec<String> {
    let with_parts = |whole: usize, is_input: bool, parts: &[(usize, &str)]| {
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, name)| [&group_digits(*count as u64), " ", name].concat())
            .collect();
        texts::tokens(&group_digits(whole as u64), is_input, &parts)
    };
    let input = [
        (totals.cached_input_tokens, texts::FROM_CACHE),
        (totals.cache_write_tokens, texts::TO_CACHE),
        (totals.image_input_tokens, texts::OF_IMAGES),
    ];
    let output = [
        (totals.thinking_tokens, texts::OF_THINKING),
        (totals.image_output_tokens, texts::OF_IMAGES),
    ];
    let mut lines = vec![
        with_parts(totals.input_tokens, true, &input),
        with_parts(totals.output_tokens, false, &output),
    ];
    if totals.estimated_calls > 0 {
        lines.push(texts::ESTIMATED.into());
    }
    lines.push(cost_line(totals));
    lines
}

fn cost_line(totals: &TokenTotals) -> String {
    let cost = totals.cost.to_label();
    match totals.unpriced_calls {
        0 => texts::cost(&cost),
        unpriced if unpriced == totals.calls => texts::COST_UNKNOWN.into(),
        unpriced => texts::cost_at_least(&cost, &unpriced.to_string(), &totals.calls.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::Dollars;

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
}
