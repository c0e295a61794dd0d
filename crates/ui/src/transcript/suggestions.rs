//! Additions to an answer besides its text: suggested replies, actions, and sources.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{buttons::action_buttons, texts};
use crate::{
    components::{icons, link::EXTERNAL_LINK_REL},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        lazy_part::LazyPart,
    },
    state::{AnswerExtras, AnswerRow, route::Route, use_conversations, use_run_intents},
};
use parlor_protocol::{CitedSource, ConversationId, Interaction, MessageId, SuggestedValue};

/// The suggested replies and actions, shown with the last answer only: later messages make them obsolete.
pub fn suggestions(
    conversation_id: ConversationId,
    row: AnswerRow,
    // True while a run is active.
    busy: Memo<bool>,
) -> impl IntoView {
    let rows = use_conversations().view(conversation_id).rows;
    let (id, extras, run) = (row.id, row.extras, row.run);
    let is_open = {
        let extras = extras.clone();
        Memo::new(move |_| {
            let is_last = rows.with(|rows| {
                let last = rows.iter().rfind(|row| row.is_recorded());
                last.is_some_and(|last| last.id() == id)
            });
            let any = extras.with(|extras| !extras.values.is_empty() || !extras.actions.is_empty());
            any && is_last && !busy.get() && run.with(|run| run.status.is_terminal())
        })
    };
    move || {
        let extras = extras.clone();
        is_open
            .get()
            .then(|| lazy_part(move || offer(conversation_id, id, extras.clone())))
    }
}

#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_suggestions))]
pub fn offer(
    conversation_id: ConversationId,
    message_id: MessageId,
    extras: ArcRwSignal<AnswerExtras>,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let extras = extras.clone();
        // The buttons track the taken actions themselves: they stay, and so does the focus.
        let offered = {
            let extras = extras.clone();
            Memo::new(move |_| {
                let mut extras = extras.get();
                extras.actions.iter_mut().for_each(|action| action.taken = false);
                extras
            })
        };
        let shown = move || {
            let AnswerExtras { values, actions, .. } = offered.get();
            let of = (conversation_id, message_id, &extras);
            view! {
                {(!values.is_empty()).then(|| suggested_replies(conversation_id, &values))}
                {(!actions.is_empty()).then(|| action_buttons(of, &actions))}
            }
        };
        shown.erase()
    }))
}

/// Suggested replies: a click sends one.
fn suggested_replies(conversation_id: ConversationId, values: &[SuggestedValue]) -> AnyView {
    let (conversations, run_intents) = (use_conversations(), use_run_intents());
    let chip = move |SuggestedValue { label, value }| {
        let say = move |_| {
            let model = conversations.view(conversation_id).model.get_untracked();
            let route = Route::Conversation(conversation_id);
            run_intents.send_interaction(route, value.clone(), model, Interaction::ValueSelected);
        };
        view! { <button type="button" class="button chip" on:click=say>{label}</button> }.erase()
    };
    let chips: Vec<_> = values.iter().cloned().map(chip).collect();
    view! {
        <div class="suggestions needs-script" role="group" aria-label=texts::SUGGESTIONS data-lazy=LazyPart::Suggestions.name()>
            {chips}
        </div>
    }
    .erase()
}

/// The sources of the answer, behind a globe icon.
pub fn sources(sources: Vec<CitedSource>) -> AnyView {
    lazy_part(move || list(sources.clone()))
}

#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_sources))]
pub fn list(sources: Vec<CitedSource>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let item = |CitedSource { number, title, url }: CitedSource| {
            if url.is_empty() {
                return view! { <li value=number>{title}</li> }.erase();
            }
            let title = if title.is_empty() { url.clone() } else { title };
            let host = url.split('/').nth(2).unwrap_or_default().to_owned();
            view! {
                <li value=number>
                    <a href=url target="_blank" rel=EXTERNAL_LINK_REL>{title}</a>
                    " "
                    <span class="source-host">{host}</span>
                </li>
            }
            .erase()
        };
        let name = texts::sources(sources.len());
        let items: Vec<_> = sources.iter().cloned().map(item).collect();
        view! {
            <details class="sources fold" data-lazy=LazyPart::Sources.name()>
                <summary>{icons::globe()} <span>{name}</span></summary>
                <ol>{items}</ol>
            </details>
        }
        .erase()
    }))
}
