//! Below a message: who answered and when, and what can be done with it.

use leptos::prelude::*;

use super::Time;
use crate::{
    protocol::{AssistantMessage, ConversationId, Message, MessageId, RunStatus},
    ui::{
        browser,
        erase::Erase,
        icons,
        live::{AnswerRow, Siblings, use_live},
        models,
    },
};

/// Below an answer that has ended.
#[component]
pub fn AnswerFooter(conversation_id: ConversationId, row: AnswerRow) -> impl IntoView {
    let AnswerRow {
        id,
        model,
        created_at,
        run,
        siblings,
        ..
    } = row;
    let status = Memo::new(move |_| run.with(|run| run.status));
    let foot = move || {
        let status = status.get();
        status.is_terminal().then(|| {
            let live = use_live();
            let text = move || {
                let text = |transcript: &crate::protocol::Transcript| {
                    transcript
                        .message(id)
                        .and_then(Message::assistant)
                        .map(AssistantMessage::text)
                };
                live.with_transcript(conversation_id, text)
                    .flatten()
                    .unwrap_or_default()
            };
            view! {
                <footer class="message-foot">
                    {(status == RunStatus::Stopped).then(|| view! { <span class="stopped">"Stopped"</span> })}
                    <span class="model" title=model.to_string()>{models::short(&model).to_owned()}</span>
                    <Time at=created_at/>
                    <SiblingSwitch conversation_id siblings=siblings.clone()/>
                    <CopyButton text/>
                    <button
                        type="button"
                        class="icon-button needs-script"
                        aria-label="Regenerate"
                        title="Regenerate"
                        on:click=move |_| live.regenerate(conversation_id, id)
                    >
                        {icons::retry()}
                    </button>
                </footer>
            }
            .erase()
        })
    };
    view! { {foot} }
}

/// ‹ 1/2 ›: the other answers to the same message.
#[component]
fn SiblingSwitch(conversation_id: ConversationId, siblings: ArcRwSignal<Siblings>) -> impl IntoView {
    let live = use_live();
    let step = move |to: Option<MessageId>, name: &'static str, icon: AnyView| {
        view! {
            <button
                type="button"
                class="icon-button"
                aria-label=name
                disabled=to.is_none()
                on:click=move |_| {
                    if let Some(to) = to {
                        live.select(conversation_id, to);
                    }
                }
            >
                {icon}
            </button>
        }
    };
    move || {
        let Siblings { ids, index } = siblings.get();
        (ids.len() > 1).then(|| {
            let previous = index.checked_sub(1).and_then(|index| ids.get(index)).copied();
            let next = ids.get(index + 1).copied();
            let which = [&(index + 1).to_string(), "/", &ids.len().to_string()].concat();
            view! {
                <span class="siblings needs-script" role="group" aria-label="Answers">
                    {step(previous, "Previous answer", icons::previous())}
                    <span>{which}</span>
                    {step(next, "Next answer", icons::next())}
                </span>
            }
            .erase()
        })
    }
}

/// Puts a message's text on the clipboard.
#[component]
pub fn CopyButton(text: impl Fn() -> String + 'static) -> impl IntoView {
    let live = use_live();
    let copied = RwSignal::new(false);
    let copy = move |_| {
        browser::copy_text(text(), move |done| {
            if !done {
                live.toasts
                    .say("This browser does not let the page copy. Select the text instead.");
                return;
            }
            copied.set(true);
            browser::after(1500.0, move || {
                // The message may be gone by then.
                let _ = copied.try_set(false);
            })
            .forget();
        });
    };
    let name = move || if copied.get() { "Copied" } else { "Copy" };
    view! {
        <button type="button" class="icon-button needs-script" aria-label=name title=name on:click=copy>
            {move || if copied.get() { icons::check() } else { icons::copy() }}
        </button>
    }
}
