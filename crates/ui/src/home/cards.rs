//! The cards of a new chat. Each does something that Parlor can do, at once: with a model, or with the tour.

use leptos::prelude::*;

use super::texts;
use crate::{
    browser,
    components::toast::use_toasts,
    runtime::{effect::effect, erase::Erase},
    state::{route::Route, use_models, use_next_message, use_run_intents},
};

/// The file of the card that asks a spreadsheet.
const SAMPLE: &str = include_str!("rain.csv");

/// A card that does something when it is pressed.
struct Card {
    title: &'static str,
    note: &'static str,
    /// The questions to the tour, and to a model: each in a conversation of its own, of which the last one is shown.
    tour: &'static [&'static str],
    model: &'static [&'static str],
    extra: Extra,
}

/// The effect of a card besides its questions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extra {
    None,
    /// Attaches the sample to the message.
    AttachesSample,
    /// Says that the tab can be closed now.
    SaysToClose,
}

const CARDS: [Card; 4] = [
    Card {
        title: texts::CLOSE_TAB,
        note: texts::CLOSE_TAB_NOTE,
        tour: &texts::CLOSE_TAB_TOUR,
        model: &texts::CLOSE_TAB_MODEL,
        extra: Extra::SaysToClose,
    },
    Card {
        title: texts::TWO_AT_ONCE,
        note: texts::TWO_AT_ONCE_NOTE,
        tour: &texts::TWO_AT_ONCE_TOUR,
        model: &texts::TWO_AT_ONCE_MODEL,
        extra: Extra::None,
    },
    Card {
        title: texts::SPREADSHEET,
        note: texts::SPREADSHEET_NOTE,
        tour: &texts::SPREADSHEET_TOUR,
        model: &texts::SPREADSHEET_MODEL,
        extra: Extra::AttachesSample,
    },
    Card {
        title: texts::TOOLS,
        note: texts::TOOLS_NOTE,
        tour: &texts::TOOLS_TOUR,
        model: &texts::TOOLS_MODEL,
        extra: Extra::None,
    },
];

/// The list of the cards.
pub fn cards() -> AnyView {
    // The card whose sample is being uploaded.
    let uploading = RwSignal::new(None::<&'static Card>);
    let files = use_next_message().files;
    let (models, run_intents, toasts) = (use_models(), use_run_intents(), use_toasts());
    let begin = move |card: &'static Card| {
        let messages = match untrack(|| models.has_only_tour()) {
            true => card.tour,
            false => card.model,
        };
        if let Some((shown, beside)) = messages.split_last() {
            for message in beside {
                run_intents.begin_beside((*message).into(), models.requested());
            }
            run_intents.send(Route::New, (*shown).into(), models.requested());
        }
        if card.extra == Extra::SaysToClose {
            toasts.show(texts::CLOSE_TAB_NOW);
        }
    };
    effect(move || {
        let Some(card) = uploading.get() else { return };
        if files.has_failed(Route::New) || !files.has_files(Route::New) {
            // The chip says why, and can be removed or sent again.
            uploading.set(None);
        } else if !files.is_uploading(Route::New) {
            uploading.set(None);
            begin(card);
        }
    });
    let press = move |card: &'static Card| {
        if card.extra != Extra::AttachesSample {
            begin(card);
        } else if uploading.get_untracked().is_none()
            && let Some(sample) = browser::text_file(texts::SPREADSHEET_NAME, SAMPLE)
        {
            files.add(Route::New, sample);
            uploading.set(Some(card));
        }
    };
    let view = move |card: &'static Card| {
        view! {
            <li>
                <button type="button" class="suggestion" on:click=move |_| press(card)>
                    <strong>{card.title}</strong>
                    <span>{card.note}</span>
                </button>
            </li>
        }
        .erase()
    };
    let cards = CARDS.iter().map(view).collect::<Vec<_>>();
    view! { <ul class="suggestions needs-script">{cards}</ul> }.erase()
}
