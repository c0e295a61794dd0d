//! The welcome of a new chat.

use leptos::prelude::*;

use crate::{
    runtime::{erase::Erase, when::When},
    state::{models::FIND_LOCAL_URL, route::Route, use_models, use_run_intents},
};
use parlor_protocol::RunError;

/// A card that does something when it is pressed.
struct Card {
    title: &'static str,
    note: &'static str,
    /// What it asks the tour, and a model: each in a conversation of its own, of which the last one is shown.
    tour: &'static [&'static str],
    model: &'static [&'static str],
}

const CARDS: [Card; 4] = [
    Card {
        title: "Close the tab mid-answer",
        note: "Open it again: nothing is lost.",
        tour: &["Tell me something long, so that I can close this tab"],
        model: &["Tell me a long story about a lighthouse keeper, so that I can close this tab meanwhile"],
    },
    Card {
        title: "Run two chats at once",
        note: "Both keep writing; the list shows which.",
        tour: &["Show me every kind of Markdown", "Tell me something long"],
        model: &[
            "Explain how a suspension bridge carries its load",
            "Compare three ways to learn a language, in a table",
        ],
    },
    Card {
        title: "Draw a chart",
        note: "From data, with its numbers beside it.",
        tour: &["Draw a chart of the rain in three towns"],
        model: &["Draw a chart of the world’s population since 1800, by continent"],
    },
    Card {
        title: "See a tool at work",
        note: "A calculation, step by step.",
        tour: &["Show me a tool"],
        model: &["How many years are 2^64 nanoseconds? Work it out with the calculator"],
    },
];

/// The greeting, above the composer.
#[component]
pub fn Welcome() -> impl IntoView {
    view! {
        <section class="welcome">
            <h2>"What’s on your mind?"</h2>
        </section>
    }
}

/// Below the composer: cards that show what Parlor can do, and how to set up a model.
pub fn welcome_cards() -> AnyView {
    let (models, run_intents) = (use_models(), use_run_intents());
    let has_only_tour = Memo::new(move |_| models.has_only_tour());
    let problems = Memo::new(move |_| models.endpoint_problems());
    let card = move |card: &'static Card| {
        let begin = move |_| {
            let messages = if has_only_tour.get_untracked() {
                card.tour
            } else {
                card.model
            };
            if let Some((shown, beside)) = messages.split_last() {
                for message in beside {
                    run_intents.begin_beside((*message).into(), models.requested());
                }
                run_intents.send(Route::New, (*shown).into(), models.requested());
            }
        };
        view! {
            <li>
                <button type="button" class="suggestion" on:click=begin>
                    <strong>{card.title}</strong>
                    <span>{card.note}</span>
                </button>
            </li>
        }
        .erase()
    };
    let cards = move || CARDS.iter().map(card).collect::<Vec<_>>();
    view! {
        <section class="welcome-cards" aria-label="To begin with">
            {move || has_only_tour.get().then(|| connection_help(models.with_list(|list| list.can_connect)))}
            {move || problems.get().into_iter().map(endpoint_problem).collect_view()}
            <When when=move || problems.with(Vec::is_empty)>
                <ul class="suggestions needs-script">{cards()}</ul>
            </When>
        </section>
    }
    .erase()
}

/// A notice for a configured endpoint that does not work, shown before the user writes a message to it.
fn endpoint_problem(problem: RunError) -> AnyView {
    view! {
        <div class="hint">
            <h3>"No model can answer yet"</h3>
            <p>{problem.message}</p>
            <p>{problem.hint}</p>
        </div>
    }
    .erase()
}

/// The card that connects a model.
fn connection_help(can_connect: bool) -> AnyView {
    let (what, button) = if can_connect {
        let button = view! {
            <div class="connect-actions needs-script">
                <a class="button" href=FIND_LOCAL_URL>"Find Ollama"</a>
                <a class="button button-primary" href="/settings/models">"Add a model"</a>
            </div>
        };
        (
            "Add a service with its key. Ollama, LM Studio and the like appear by themselves once they run.",
            Some(button.erase()),
        )
    } else {
        ("An administrator can connect one in the settings.", None)
    };
    view! {
        <div class="hint connect">
            <div>
                <h3>"Connect a model"</h3>
                <p>"You are talking to a scripted tour. " {what}</p>
            </div>
            {button}
        </div>
    }
    .erase()
}
