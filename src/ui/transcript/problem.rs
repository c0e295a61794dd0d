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
    /// Whether it can be continued.
    go_on: Memo<bool>,
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
            <div class="problem-actions needs-script">
                {move || go_on.get().then(|| view! {
                    <button type="button" class="button" on:click=move |_| live.go_on(conversation_id, message_id)>
                        {icons::play()} "Continue"
                    </button>
                })}
                <button type="button" class="button" on:click=move |_| live.regenerate(conversation_id, message_id)>
                    {icons::retry()} "Retry"
                </button>
            </div>
        </div>
    }
}
