//! The problem box of an answer that did not complete: what happened, what was kept, what to do.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    problem_texts::{ProblemText, ProblemTone, describe_cut, describe_error, is_about_key},
    texts,
};
use crate::{
    components::icons,
    runtime::{erase::Erase, shared_view::is_read_only},
    state::{RunIntents, RunView, models::key_form_url, use_models, use_run_intents},
};
use parlor_protocol::{ConversationId, MessageId, RunError, SESSION_NOT_RESTORED, is_of_own_key};

/// The problem of a model's run that did not complete: what is said about it, and its error, if there was one.
pub fn describe_problem(run: &RunView, model: &str) -> Option<(ProblemText, Option<RunError>)> {
    if let Some(error) = &run.error {
        return Some((describe_error(error, run.status, model), Some(error.clone())));
    }
    Some((describe_cut(run.truncation.as_ref()?, model), None))
}

/// The box below the answer.
#[component]
pub fn Problem(
    conversation_id: ConversationId,
    message_id: MessageId,
    text: ProblemText,
    error: Option<RunError>,
    /// The model that answered.
    model: Arc<str>,
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
    let is_session_lost = error
        .as_ref()
        .is_some_and(|error| error.code == SESSION_NOT_RESTORED);
    let fresh_session = is_session_lost.then(|| {
        let press = |intents: RunIntents, id, _| intents.start_fresh_session(id);
        action(texts::FRESH_SESSION, icons::code(), press)
    });
    let key = error
        .as_ref()
        .filter(|error| is_about_key(error) && !is_read_only());
    let key = StoredValue::new(key.map(|_| key_form_url(&model)));
    let is_own = is_of_own_key(&model);
    let can_mend_key = move || is_own || use_models().with_list(|list| list.can_connect);
    let ProblemText { tone, what, advice } = text;
    let cause = error.map(|error| cause(error, !advice.is_empty()));
    let icon = match tone {
        ProblemTone::Note => icons::pause(),
        ProblemTone::Failure | ProblemTone::Loss => icons::alert(),
    };
    view! {
        <div
            class="problem"
            class:problem-note=tone == ProblemTone::Note
            class:problem-loss=tone == ProblemTone::Loss
            role="group"
            aria-label=texts::PROBLEM
        >
            {icon}
            <div class="problem-text" role=move || is_announced.get().then_some("alert")>
                <p>
                    <strong>{what}</strong>
                    {(!advice.is_empty()).then(|| view! { " " <span>{advice}</span> })}
                </p>
                {cause}
                {move || key.get_value().filter(|_| !can_mend_key()).map(|_| view! { <p class="problem-hint">{texts::ADMINISTRATORS_KEY}</p> })}
                {move || can_continue.get().then(|| view! { <p class="problem-hint">{texts::CONTINUE_HINT}</p> })}
            </div>
            {(!is_read_only()).then(|| view! {
                <div class="problem-actions needs-script">
                    {move || can_continue.get().then(|| action(texts::CONTINUE, icons::play(), RunIntents::continue_answer))}
                    {action(texts::TRY_AGAIN, icons::retry(), RunIntents::regenerate)}
                    {fresh_session}
                    {move || key.get_value().filter(|_| can_mend_key()).map(|url| view! {
                        <a class="button" href=url>{texts::CHECK_KEY}</a>
                    })}
                </div>
            })}
        </div>
    }
}

/// The words of the error: folded if the text above them says it for people.
fn cause(error: RunError, is_plain: bool) -> AnyView {
    let RunError { message, hint, .. } = error;
    let words = view! {
        <p>{message}</p>
        {(!hint.is_empty()).then(|| view! { <p class="problem-hint">{hint}</p> })}
    };
    if !is_plain {
        return words.erase();
    }
    view! {
        <details class="problem-details">
            <summary>{texts::DETAILS}</summary>
            {words}
        </details>
    }
    .erase()
}
