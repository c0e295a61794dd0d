//! An answer that did not come to its end: what happened, what was kept, what to do.

use leptos::prelude::*;

use crate::{
    protocol::{ConversationId, MessageId, RunError, RunStatus},
    ui::{
        erase::Erase,
        icons,
        live::{Live, use_live},
    },
};

/// The box below the answer.
#[component]
pub fn Problem(
    conversation_id: ConversationId,
    message_id: MessageId,
    status: RunStatus,
    error: RunError,
    /// Whether it can be continued.
    go_on: Memo<bool>,
    /// Something is being answered already.
    busy: Memo<bool>,
    /// It went wrong while the person was here.
    news: Memo<bool>,
) -> impl IntoView {
    let live = use_live();
    let what = match status {
        _ if error.is_damage() => "Something is missing here.",
        RunStatus::Interrupted => "The answer was interrupted.",
        RunStatus::Complete => "The answer reached its longest length.",
        _ => "The model could not answer.",
    };
    let action = move |name: &'static str, icon: AnyView, press: fn(Live, ConversationId, MessageId)| {
        view! {
            <button
                type="button"
                class="button"
                aria-disabled=move || busy.get().then_some("true")
                on:click=move |_| press(live, conversation_id, message_id)
            >
                {icon} {name}
            </button>
        }
        .erase()
    };
    let RunError { message, hint, .. } = error;
    view! {
        <div class="problem" role="group" aria-label="Problem">
            {icons::alert()}
            <div class="problem-text" role=move || news.get().then_some("alert")>
                <strong>{what}</strong>
                {(!message.is_empty()).then(|| view! { <p>{message}</p> })}
                {(!hint.is_empty()).then(|| view! { <p class="problem-hint">{hint}</p> })}
            </div>
            <div class="problem-actions needs-script">
                {move || go_on.get().then(|| action("Continue", icons::play(), Live::go_on))}
                {action("Retry", icons::retry(), Live::regenerate)}
            </div>
        </div>
    }
}
