//! An answer that did not come to its end: what happened, what was kept, what to do.

use leptos::prelude::*;

use crate::{
    protocol::{ConversationId, MessageId, RunError, RunStatus},
    ui::{icons, live::use_live},
};

/// The box below the answer.
#[component]
pub fn Problem(
    conversation_id: ConversationId,
    message_id: MessageId,
    status: RunStatus,
    error: RunError,
) -> impl IntoView {
    let live = use_live();
    let what = match status {
        RunStatus::Interrupted => "The answer was interrupted.",
        _ => "The model could not answer.",
    };
    let RunError { message, hint, .. } = error;
    view! {
        <div class="problem" role="alert">
            {icons::alert()}
            <div class="problem-text">
                <strong>{what}</strong>
                <p>{message}</p>
                {(!hint.is_empty()).then(|| view! { <p class="problem-hint">{hint}</p> })}
            </div>
            <button
                type="button"
                class="button needs-script"
                on:click=move |_| live.regenerate(conversation_id, message_id)
            >
                {icons::retry()} "Retry"
            </button>
        </div>
    }
}
