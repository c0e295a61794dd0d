//! Errors of runs without a natural end, with texts for the user.

use std::time::Duration;

use super::{KEPT_HINT, Timeout};
use parlor_protocol::{FinishReason, RunError, SESSION_NOT_RESTORED};

pub(crate) fn run_error(code: &str, message: String, hint: &str) -> RunError {
    RunError {
        code: code.into(),
        message,
        hint: hint.into(),
    }
}

/// The error of a damaged database: the answer can't be read or stored.
pub(crate) fn database_damaged() -> RunError {
    run_error(
        "storage_damaged",
        "Parlor's database is damaged: this answer could not be read or stored.".into(),
        "Readable data are kept. Stop Parlor, copy its data folder, then restore a backup, or recover the data with \
         `sqlite3 parlor.db .recover`. The log says more.",
    )
}

pub(crate) fn stream_broke_off() -> RunError {
    let message = "The model server ended its answer without saying that it was finished.".into();
    run_error("broke_off", message, KEPT_HINT)
}

pub(super) fn session_not_restored(cause: &str) -> RunError {
    run_error(
        SESSION_NOT_RESTORED,
        format!("Failed to restore session: {cause}"),
        "The conversation is kept, and the model was not asked. “Try again” tries to restore it; a fresh session begins without the earlier variables.",
    )
}

pub(super) fn shut_down() -> RunError {
    let message = "Parlor was stopped before the answer was finished.".into();
    run_error("shut_down", message, KEPT_HINT)
}

pub(super) fn empty_answer() -> RunError {
    run_error(
        "empty_answer",
        "The model finished without saying anything.".into(),
        "Try again, or choose another model.",
    )
}

pub(super) fn only_thinking(reason: Option<&FinishReason>) -> RunError {
    let (message, hint) = match reason {
        Some(FinishReason::Length) => (
            "The model used the whole length limit for thinking and gave no answer.",
            "Its thinking is kept. Raise “Longest answer” or reduce the thinking to leave room for an answer.",
        ),
        Some(FinishReason::PauseTurn) => (
            "The model server paused the model while it was thinking.",
            "Its thinking is kept.",
        ),
        _ => ("The model thought but gave no answer.", "Its thinking is kept."),
    };
    run_error("no_answer_after_thinking", message.into(), hint)
}

pub(super) fn unreadable_answer(names: &[String]) -> RunError {
    run_error(
        "unreadable_answer",
        format!(
            "The model server's answer has nothing that Parlor can read, only: {}.",
            names.join(", ")
        ),
        "The diagnostics, in the menu of the answer, show what was received. Try again, or choose another model.",
    )
}

pub(super) fn malformed_call() -> RunError {
    run_error(
        "malformed_function_call",
        "The model requested a tool in a format that its server could not read.".into(),
        "The answer so far is kept. Try again, or choose another model.",
    )
}

pub(super) fn content_filtered(reason: &FinishReason, explanation: Option<&str>) -> RunError {
    let message = match reason {
        FinishReason::Refusal => "The model refused to answer",
        FinishReason::Safety => "The model server withheld the rest of the answer (safety)",
        _ => "The model server withheld the rest of the answer (content filter)",
    };
    let message = match explanation {
        Some(explanation) => format!("{message}: “{explanation}”"),
        None => format!("{message}."),
    };
    run_error(
        reason.as_str(),
        message,
        "The answer so far is kept. Rephrase the question, or choose another model.",
    )
}

pub(super) fn answer_too_long(limit: usize) -> RunError {
    run_error(
        "answer_too_long",
        format!("The answer exceeded the limit of {limit} bytes."),
        "The answer so far is kept. The limit is the setting limits.answer_bytes.",
    )
}

pub(super) fn repeating_answer(limit: usize) -> RunError {
    run_error(
        "answer_repeats",
        format!("The model repeated the same passage at least {limit} times in a row and was stopped."),
        "The answer so far is kept. Try again, rephrase the question, or choose another model. The limit is the setting \
         agent.repetitions.",
    )
}

pub(super) fn timeout_error(timeout: Timeout) -> RunError {
    let seconds = |limit: Duration| limit.as_secs_f64();
    match timeout {
        Timeout::FirstToken(limit) => run_error(
            "no_answer",
            format!("The model server sent nothing for {} seconds.", seconds(limit)),
            "It may be loading the model: retry. The limit is the setting timeouts.first_token.",
        ),
        Timeout::Silence(limit) => run_error(
            "fell_silent",
            format!(
                "The model server stopped sending for {} seconds in the middle of its answer.",
                seconds(limit)
            ),
            "The answer so far is kept. The limit is the setting timeouts.silence.",
        ),
        Timeout::Run(limit) => run_error(
            "too_long",
            format!("The answer took longer than {} seconds.", seconds(limit)),
            "The answer so far is kept. The limit is the setting timeouts.run.",
        ),
    }
}

pub(super) fn no_answer_after_tools() -> RunError {
    run_error(
        "no_answer_after_tools",
        "The model used tools and then gave no answer.".into(),
        "The answer so far is kept. If tools were used too often, raise the setting agent.max_iterations.",
    )
}
