//! Additions to an answer besides its text: suggested replies, actions, and sources.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{buttons::action_buttons, texts};
use crate::{
    components::{icons, link::answer_link},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        lazy_part::LazyPart,
    },
    state::{AnswerExtras, AnswerRow, route::Route, use_conversations, use_run_intents},
};
use parlor_protocol::{
    CitedSource, ConversationId, FoundPassage, Interaction, MessageId, Passage, SuggestedValue,
};

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
        let item = |source: CitedSource| {
            let CitedSource {
                number,
                title,
                url,
                passage,
            } = source;
            let title = if title.is_empty() { url.clone() } else { title };
            let host = url.split('/').nth(2).filter(|_| !url.starts_with('/'));
            let host = host.map(|host| view! { " " <span class="source-host">{host.to_owned()}</span> });
            let source = match url.is_empty() {
                true => view! { <span>{title}</span> }.erase(),
                false => answer_link(
                    "",
                    url.clone(),
                    None,
                    vec![view! { <span>{title}</span> }.erase()],
                ),
            };
            view! { <li value=number>{source} {host} {passage.map(cited_passage)}</li> }.erase()
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

/// The words that an answer quotes from a source, or that the source does not have them.
fn cited_passage(passage: Passage) -> AnyView {
    match passage {
        Passage::Found(FoundPassage { text, place }) => view! {
            <blockquote class="source-passage" dir="auto">{text}</blockquote>
            <span class="source-host">{place}</span>
        }
        .erase(),
        Passage::NotFound { quote } => {
            let quote = (!quote.is_empty()).then(|| {
                view! { <blockquote class="source-passage" dir="auto">{quote}</blockquote> }.erase()
            });
            view! { <span class="source-problem">{texts::NO_SOURCE}</span> {quote} }.erase()
        }
    }
}
