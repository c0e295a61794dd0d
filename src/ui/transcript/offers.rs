//! What an answer offers beside its text: what to say next, and where it has it from.

use leptos::prelude::*;

use crate::{
    protocol::{ConversationId, Source, SuggestedValue},
    ui::{
        erase::Erase,
        icons,
        live::{AnswerRow, use_live},
        place::Place,
    },
};

/// What the person may want to say next: a click says it. Shown with the last answer only; whatever is said comes after it.
#[component]
pub fn Suggestions(
    conversation_id: ConversationId,
    row: AnswerRow,
    /// Something is being answered already.
    busy: Memo<bool>,
) -> impl IntoView {
    let live = use_live();
    let rows = live.view(conversation_id).rows;
    let (id, offers, run) = (row.id, row.offers, row.run);
    let values = Memo::new(move |_| {
        let is_last = rows.with(|rows| {
            rows.iter()
                .rfind(|row| row.is_kept())
                .is_some_and(|last| last.id() == id)
        });
        let is_open = is_last && !busy.get() && run.with(|run| run.status.is_terminal());
        if is_open {
            offers.with(|offers| offers.values.clone())
        } else {
            Vec::new()
        }
    });
    let chip = move |SuggestedValue { label, value }| {
        let say = move |_| {
            let model = live.view(conversation_id).model.get_untracked();
            live.send(Place::Conversation(conversation_id), value.clone(), model);
        };
        view! { <button type="button" class="button chip" on:click=say>{label}</button> }.erase()
    };
    move || {
        let values = values.get();
        (!values.is_empty()).then(|| {
            view! {
                <div class="suggestions needs-script" role="group" aria-label="Suggestions">
                    {values.into_iter().map(chip).collect::<Vec<_>>()}
                </div>
            }
            .erase()
        })
    }
}

/// Where the answer has it from, behind a globe.
pub fn sources(sources: Vec<Source>) -> Option<AnyView> {
    let count = sources.len();
    let name = if count == 1 {
        "1 source".to_owned()
    } else {
        [&count.to_string(), " sources"].concat()
    };
    let item = |Source { title, url }: Source| {
        let title = if title.is_empty() { url.clone() } else { title };
        let host = url.split('/').nth(2).unwrap_or_default().to_owned();
        view! {
            <li>
                <a href=url target="_blank" rel="noopener noreferrer nofollow">{title}</a>
                " "
                <span class="source-host">{host}</span>
            </li>
        }
        .erase()
    };
    (count > 0).then(|| {
        view! {
            <details class="sources">
                <summary>{icons::globe()} <span>{name}</span></summary>
                <ol>{sources.into_iter().map(item).collect::<Vec<_>>()}</ol>
            </details>
        }
        .erase()
    })
}
