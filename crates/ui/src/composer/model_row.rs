//! One model in the list: its name, what it can do, its context window and its prices.

use leptos::{ev, prelude::*};

use super::{model_groups::endpoint_label, model_list::ModelListState, texts};
use crate::{
    components::icons,
    runtime::{erase::Erase, when::When},
};
use parlor_protocol::{ModelCapabilities, model_list::ModelInfo, number_format::group_digits};

/// A model that can be chosen.
#[component]
pub(super) fn ModelRow(
    place: usize,
    model: ModelInfo,
    /// True if its endpoint is not in the heading above it.
    names_endpoint: bool,
    list: ModelListState,
    on_choose: impl Fn(String) + Copy + 'static,
) -> impl IntoView {
    let ModelInfo {
        id,
        name,
        capabilities,
        endpoint,
    } = model;
    let abilities = abilities(&capabilities);
    let endpoint = names_endpoint.then(|| endpoint_label(endpoint));
    let facts: Vec<String> = endpoint.into_iter().chain(facts(&capabilities)).collect();
    let facts = facts.join(" · ");
    let is_hidden = move || !list.is_shown(place);
    let own_id = id.clone();
    let is_active = Memo::new(move |_| list.listbox.is_active(&own_id));
    let marks: Vec<_> = abilities
        .into_iter()
        .map(|ability| {
            // The comma is heard as a pause.
            let words = [ability.words, ","].concat();
            view! {
                <span title=capitalize(ability.words)>
                    {(ability.icon)()} <span class="visually-hidden">{words}</span>
                </span>
            }
            .erase()
        })
        .collect();
    let (title, own_id, star_id) = (id.clone(), id.clone(), id.clone());
    let is_favourite = Memo::new(move |_| list.is_favourite(&own_id));
    let star = move |event: ev::MouseEvent| {
        event.stop_propagation();
        list.toggle_favourite(&star_id);
    };
    view! {
        <div
            id=list.listbox.row_id(place)
            class="model-row"
            class:hidden=is_hidden
            class:model-active=is_active
            role="option"
            aria-selected=move || is_active.get().to_string()
            title=title
            on:click=move |_| on_choose(id.clone())
        >
            <span class="model-name">{name}</span>
            <span class="model-abilities">{marks}</span>
            // The button below the list does the same for the keyboard: a row of a list has no controls.
            <span class="model-star" class:model-starred=is_favourite title=texts::FAVOURITE aria-hidden="true" on:click=star>
                {icons::star()}
            </span>
            <span class="model-facts">{facts}</span>
            <When when=move || is_favourite.get()>
                <span class="visually-hidden">{texts::IS_FAVOURITE}</span>
            </When>
        </div>
    }
}

/// An ability, in words that follow the model's name.
struct Ability {
    words: &'static str,
    icon: fn() -> AnyView,
}

fn abilities(capabilities: &ModelCapabilities) -> Vec<Ability> {
    let thinks = capabilities.thinking.as_ref().map(|thinking| thinking.supported);
    let ability = |has: Option<bool>, words, icon| (has == Some(true)).then_some(Ability { words, icon });
    let all = [
        ability(
            capabilities.image_input,
            texts::SEES_IMAGES,
            icons::eye as fn() -> AnyView,
        ),
        ability(capabilities.pdf_input, texts::READS_PDF, icons::page),
        ability(thinks, texts::THINKS, icons::bulb),
        ability(capabilities.tool_use, texts::USES_TOOLS, icons::wrench),
    ];
    all.into_iter().flatten().collect()
}

/// The context window and the prices, as far as they are known.
fn facts(capabilities: &ModelCapabilities) -> Vec<String> {
    let window = capabilities.context_window.map(|tokens| match tokens {
        1_000_000.. => [&(tokens / 1_000_000).to_string(), "M"].concat(),
        1000.. => [&(tokens / 1000).to_string(), "k"].concat(),
        _ => group_digits(tokens as u64),
    });
    let window = window.map(|tokens| texts::window_tokens(&tokens));
    let prices = capabilities
        .prices
        .map(|prices| match (prices.input.0, prices.output.0) {
            (0, 0) => texts::FREE.to_owned(),
            _ => texts::prices(&prices.input.to_label(), &prices.output.to_label()),
        });
    window.into_iter().chain(prices).collect()
}

/// Returns true if each word of a query, in lower case, is in the name or the id of a model.
pub(super) fn matches_query(model: &ModelInfo, query: &str) -> bool {
    let text = [&model.id, " ", &model.name].concat().to_lowercase();
    query.split_whitespace().all(|word| text.contains(word))
}

fn capitalize(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{Dollars, Prices, ThinkingSupport};

    #[test]
    fn finds_by_every_word() {
        let model = ModelInfo {
            id: "openrouter/anthropic/claude-opus-4.5".into(),
            name: "Anthropic: Claude Opus 4.5".into(),
            endpoint: "openrouter".into(),
            capabilities: ModelCapabilities::default(),
        };
        for (query, is_found) in [
            ("", true),
            ("opus", true),
            ("claude 4.5", true),
            (" router  opus ", true),
            ("opus gpt", false),
        ] {
            assert_eq!(matches_query(&model, query), is_found, "{query}");
        }
    }

    #[test]
    fn says_only_what_is_known() {
        let words = |capabilities: &ModelCapabilities| -> Vec<&str> {
            abilities(capabilities)
                .into_iter()
                .map(|ability| ability.words)
                .collect()
        };
        let unknown = ModelCapabilities::default();
        assert_eq!((words(&unknown), facts(&unknown)), (vec![], vec![]));
        let known = ModelCapabilities {
            image_input: Some(true),
            pdf_input: Some(false),
            tool_use: Some(true),
            thinking: Some(ThinkingSupport::levels(&[])),
            context_window: Some(1_048_576),
            max_output_tokens: None,
            prices: Some(Prices {
                input: Dollars(1_250_000_000),
                output: Dollars(10_000_000_000),
                ..Prices::default()
            }),
        };
        assert_eq!(words(&known), ["sees images", "thinks", "uses tools"]);
        assert_eq!(
            facts(&known).join(" · "),
            "1M tokens · $1.25 in, $10 out per million"
        );
        let free = ModelCapabilities {
            context_window: Some(131_072),
            prices: Some(Prices::default()),
            ..unknown
        };
        assert_eq!(facts(&free).join(" · "), "131k tokens · free");
    }
}
