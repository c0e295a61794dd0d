//! The problem box of an answer that did not complete: what happened, what was kept, what to do.

use leptos::prelude::*;

use crate::{
    components::icons,
    runtime::{erase::Erase, shared_view::is_read_only},
    state::{RunIntents, RunView, use_run_intents},
};
use parlor_protocol::{ConversationId, FinishReason, MessageId, RunError, RunStatus, SESSION_NOT_RESTORED};

/// The meaning of the buttons of an answer that can be continued.
const CONTINUE_HINT: &str = "Continue goes on from here, Retry starts over.";

/// The problem of a run that did not complete: a short title, and the details.
pub fn describe_problem(run: &RunView) -> Option<(&'static str, RunError)> {
    if let Some(error) = &run.error {
        let what = match run.status {
            _ if error.is_damage() => "Something is missing here.",
            _ if error.code == SESSION_NOT_RESTORED => "The Python session is gone.",
            RunStatus::Interrupted => "The answer was interrupted.",
            _ => "The model could not answer.",
        };
        return Some((what, error.clone()));
    }
    let what = match run.truncation.as_ref()? {
        FinishReason::PauseTurn => "The model server paused the answer.",
        FinishReason::ToolLimit => "The answer used as many tools as it may (agent.max_iterations).",
        _ => "The answer reached the length limit.",
    };
    let error = RunError {
        code: String::new(),
        message: String::new(),
        hint: String::new(),
    };
    Some((what, error))
}

/// The box below the answer.
#[component]
pub fn Problem(
    conversation_id: ConversationId,
    message_id: MessageId,
    /// The short title.
    what: &'static str,
    error: RunError,
    /// True if it can be continued.
    can_continue: Memo<bool>,
    /// True while a run is active.
    busy: Memo<bool>,
    /// True if the problem occurred while the user was here.
    is_announced: Memo<bool>,
) -> impl IntoView {
    let run_intents = use_run_intents();
    let action =
        move |name: &'static str, icon: AnyView, press: fn(RunIntents, ConversationId, MessageId)| {
            view! {
                <button
                    type="button"
                    class="button"
                    aria-disabled=move || busy.get().then_some("true")
                    on:click=move |_| press(run_intents, conversation_id, message_id)
                >
                    {icon} {name}
                </button>
            }
            .erase()
        };
    let RunError { message, hint, code } = error;
    let fresh_session = (code == SESSION_NOT_RESTORED).then(|| {
        let press = |intents: RunIntents, id, _| intents.start_fresh_session(id);
        action("Start a fresh session", icons::code(), press)
    });
    view! {
        <div class="problem" role="group" aria-label="Problem">
            {icons::alert()}
            <div class="problem-text" role=move || is_announced.get().then_some("alert")>
                <strong>{what}</strong>
                {(!message.is_empty()).then(|| view! { <p>{message}</p> })}
                {(!hint.is_empty()).then(|| view! { <p class="problem-hint">{hint}</p> })}
                {move || can_continue.get().then(|| view! { <p class="problem-hint">{CONTINUE_HINT}</p> })}
            </div>
            {(!is_read_only()).then(|| view! {
                <div class="problem-actions needs-script">
                    {move || can_continue.get().then(|| action("Continue", icons::play(), RunIntents::continue_answer))}
                    {action("Retry", icons::retry(), RunIntents::regenerate)}
                    {fresh_session}
                </div>
            })}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paused_answer_reached_no_limit() {
        let told = |reason| {
            let run = RunView {
                status: RunStatus::Complete,
                activity: None,
                error: None,
                truncation: Some(reason),
                elapsed_ms: 0,
                thought_ms: 0,
                tools_ms: 0,
                totals: Default::default(),
            };
            describe_problem(&run).map(|(what, _)| what)
        };
        assert_eq!(
            told(FinishReason::PauseTurn),
            Some("The model server paused the answer.")
        );
        assert_eq!(
            told(FinishReason::ToolLimit),
            Some("The answer used as many tools as it may (agent.max_iterations).")
        );
        assert_eq!(
            told(FinishReason::Length),
            Some("The answer reached the length limit.")
        );
    }
}
