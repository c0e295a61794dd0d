//! Which sentences are said about an answer that did not complete: what happened, and what helps. The technical cause (`RunError`) stands
//! below them, under *Details*.

use super::texts;
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

/// Returns true for an error that another key ends.
pub fn is_about_key(error: &RunError) -> bool {
    matches!(error.code.as_str(), "key_refused" | "key_missing")
}

/// The text about an answer that was cut.
pub fn describe_cut(reason: &FinishReason) -> ProblemText {
    let what = match reason {
        FinishReason::PauseTurn => texts::CUT_BY_SERVER,
        FinishReason::ToolLimit => texts::CUT_BY_TOOL_LIMIT,
        _ => texts::CUT_BY_LENGTH,
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
                what: texts::DAMAGED,
                advice: "",
            };
        }
        SESSION_NOT_RESTORED => (texts::SESSION_GONE, ""),
        "shut_down" | "interrupted" => (texts::INTERRUPTED, texts::ANSWER_KEPT),
        _ if status == RunStatus::Interrupted => (interruption(&error.code), texts::ANSWER_KEPT),
        "endpoint_unreachable" => (texts::SERVER_UNREACHABLE, texts::CHECK_SERVER),
        "endpoint_failed" => (texts::SERVER_FAILED, texts::TRY_SOON),
        "key_refused" => (texts::KEY_REFUSED, texts::CORRECT_KEY),
        "key_missing" => (texts::KEY_MISSING, texts::ADD_KEY),
        "no_credit" => (texts::NO_CREDIT, texts::ADD_CREDIT),
        "rate_limited" => (texts::RATE_LIMITED, texts::WAIT_THEN_TRY),
        "model_unknown" => (texts::MODEL_UNKNOWN, texts::CHOOSE_MODEL),
        "context_too_long" => (texts::CONTEXT_TOO_LONG, texts::SHORTEN),
        "other_protocol" => (texts::OTHER_PROTOCOL, texts::CORRECT_KIND),
        "no_answer" => (texts::NO_ANSWER, texts::MAY_BE_LOADING),
        "bad_answer" | "unreadable_answer" => (texts::ANSWER_UNREADABLE, texts::TRY_OR_CHOOSE_MODEL),
        "stream_error" => (texts::SERVER_ERROR, texts::TRY_NOW),
        _ => (texts::UNKNOWN_ERROR, ""),
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
        "broke_off" | "connection_lost" => texts::INTERRUPTED_BY_CONNECTION,
        "fell_silent" => texts::INTERRUPTED_BY_SILENCE,
        "too_long" => texts::INTERRUPTED_BY_TIME_LIMIT,
        _ => texts::INTERRUPTED,
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
