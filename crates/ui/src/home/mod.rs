//! A new chat: the greeting above the message box, and below it the cards that do something, and how to connect a model.

mod cards;
mod news;
mod texts;

use leptos::prelude::*;

pub use self::news::PageNews;
use self::{cards::cards, news::news};
use crate::{
    runtime::{erase::Erase, when::When},
    state::{models::FIND_LOCAL_URL, use_models, use_next_message},
};
use parlor_protocol::RunError;

/// The greeting, above the composer.
#[component]
pub fn Welcome() -> impl IntoView {
    let next = use_next_message();
    view! {
        <section class="welcome">
            <h2>{move || if next.is_temporary() { texts::TEMPORARY_GREETING } else { texts::GREETING }}</h2>
            <When when=move || next.is_temporary()>
                <p class="welcome-note">{texts::TEMPORARY_ABOUT}</p>
            </When>
        </section>
    }
}

/// Below the composer: cards that show what Parlor can do, and how to set up a model.
pub fn welcome_cards() -> AnyView {
    let models = use_models();
    let has_only_tour = Memo::new(move |_| models.has_only_tour());
    let problems = Memo::new(move |_| models.endpoint_problems());
    view! {
        <section class="welcome-cards" aria-label=texts::TO_BEGIN>
            {news()}
            {move || has_only_tour.get().then(|| connection_help(models.with_list(|list| list.can_connect)))}
            {move || problems.get().into_iter().map(endpoint_problem).collect_view()}
            <When when=move || problems.with(Vec::is_empty)>{cards()}</When>
        </section>
    }
    .erase()
}

/// A notice for a configured endpoint that does not work, shown before the user writes a message to it.
fn endpoint_problem(problem: RunError) -> AnyView {
    view! {
        <div class="hint">
            <h3>{texts::NO_ANSWERS_YET}</h3>
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
                <a class="button" href=FIND_LOCAL_URL>{texts::FIND_OLLAMA}</a>
                <a class="button button-primary" href="/settings/models">{texts::ADD_MODEL}</a>
            </div>
        };
        (texts::CONNECT_HINT, Some(button.erase()))
    } else {
        (texts::CONNECT_HINT_ADMINISTRATOR, None)
    };
    view! {
        <div class="hint connect">
            <div>
                <h3>{texts::CONNECT}</h3>
                <p>{texts::TOUR_TALKS} {what}</p>
            </div>
            {button}
        </div>
    }
    .erase()
}
