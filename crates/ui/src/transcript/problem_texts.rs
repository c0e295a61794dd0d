//! The sentences about an answer that did not complete: what happened, and what helps. The technical cause (`RunError`) stands
//! below them, under *Details*.

use parlor_protocol::{FinishReason, RunError, RunStatus, SESSION_NOT_RESTORED};

/// How much a problem matters, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemTone {
    /// The answer ended as it was told to, and can go on.
    Note,
    /// Something failed, and nothing is lost.
    Failure,
    /// Something is lost.
    Loss,
}

/// What is said about a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemText {
    pub tone: ProblemTone,
    pub what: &'static str,
    /// The next step, or what was kept. If it is empty, the error's own words say it; otherwise they are the technical cause.
    pub advice: &'static str,
}

const KEPT: &str = "The answer so far is kept.";

/// The text about an answer that was cut.
pub fn describe_cut(reason: &FinishReason) -> ProblemText {
    let what = match reason {
        FinishReason::PauseTurn => "The model server paused the answer.",
        FinishReason::ToolLimit => "The answer used as many tools as it may at a time.",
        _ => "The answer reached the length limit.",
    };
    ProblemText {
        tone: ProblemTone::Note,
        what,
        advice: "",
    }
}

/// The text about an error.
pub fn describe_error(error: &RunError, status: RunStatus) -> ProblemText {
    let (what, advice) = match error.code.as_str() {
        _ if error.is_damage() => {
            return ProblemText {
                tone: ProblemTone::Loss,
                what: "Something is missing here.",
                advice: "",
            };
        }
        SESSION_NOT_RESTORED => ("The Python session is gone.", ""),
        "shut_down" | "interrupted" => ("The answer was interrupted.", KEPT),
        _ if status == RunStatus::Interrupted => (interruption(&error.code), KEPT),
        "endpoint_unreachable" => (
            "The model server can’t be reached.",
            "Check that it is running, then try again.",
        ),
        "endpoint_failed" => ("The model server failed.", "Try again in a moment."),
        "key_refused" => (
            "The model server did not accept the key.",
            "Choose another model, or correct the key.",
        ),
        "key_missing" => (
            "The model server wants a key, and none is set.",
            "Choose another model, or add the key.",
        ),
        "no_credit" => (
            "The model server wants to be paid first.",
            "Add credit there, or choose another model.",
        ),
        "rate_limited" => (
            "The model server takes no more requests for now.",
            "Wait a little, then try again.",
        ),
        "model_unknown" => (
            "The model server does not know this model.",
            "Choose another model.",
        ),
        "context_too_long" => (
            "The conversation is too long for this model.",
            "Start a new chat, or choose a model with a larger context.",
        ),
        "other_protocol" => (
            "The model server speaks another protocol.",
            "Its kind must be corrected in the settings.",
        ),
        "no_answer" => (
            "The model server did not answer.",
            "It may still be loading the model: try again.",
        ),
        "bad_answer" | "unreadable_answer" => (
            "The model server’s answer could not be read.",
            "Try again, or choose another model.",
        ),
        "stream_error" => ("The model server reported an error.", "Try again."),
        _ => ("The model could not answer.", ""),
    };
    ProblemText {
        tone: ProblemTone::Failure,
        what,
        advice,
    }
}

/// The text about an answer that broke off.
fn interruption(code: &str) -> &'static str {
    match code {
        "broke_off" | "connection_lost" => {
            "The answer was interrupted. The connection to the model server broke."
        }
        "fell_silent" => "The answer was interrupted. The model server fell silent.",
        "too_long" => "The answer was interrupted. It took longer than answers may take.",
        _ => "The answer was interrupted.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: &str) -> RunError {
        RunError {
            code: code.into(),
            message: "words".into(),
            hint: String::new(),
        }
    }

    #[test]
    fn a_paused_answer_reached_no_limit() {
        let told = |reason| describe_cut(&reason).what;
        assert_eq!(
            told(FinishReason::PauseTurn),
            "The model server paused the answer."
        );
        assert_eq!(
            told(FinishReason::ToolLimit),
            "The answer used as many tools as it may at a time."
        );
        assert_eq!(told(FinishReason::Length), "The answer reached the length limit.");
    }

    #[test]
    fn only_losses_alarm_and_limits_are_notes() {
        let tone = |code, status| describe_error(&error(code), status).tone;
        assert_eq!(describe_cut(&FinishReason::Length).tone, ProblemTone::Note);
        assert_eq!(tone("key_refused", RunStatus::Failed), ProblemTone::Failure);
        assert_eq!(tone("broke_off", RunStatus::Interrupted), ProblemTone::Failure);
        assert_eq!(tone("damaged_message", RunStatus::Failed), ProblemTone::Loss);
    }

    #[test]
    fn unknown_codes_keep_the_words_of_the_error() {
        let text = describe_error(&error("new_code"), RunStatus::Failed);
        assert_eq!(text.advice, "", "its message is not hidden under Details");
        assert_ne!(
            describe_error(&error("rate_limited"), RunStatus::Failed).advice,
            ""
        );
    }
}
