//! Which sentences are said about an answer that did not complete: what happened, and what helps. The technical cause (`RunError`) stands
//! below them, under *Details*.

use super::texts;
use parlor_protocol::{
    FinishReason, OWN_KEY_PREFIX, RunError, RunStatus, SESSION_NOT_RESTORED, service_label,
};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemText {
    pub tone: ProblemTone,
    pub what: String,
    /// The next step, or what was kept. If it is empty, the error's own words say it; otherwise they are the technical cause.
    pub advice: &'static str,
}

/// Returns true for an error that another key ends.
pub fn is_about_key(error: &RunError) -> bool {
    matches!(error.code.as_str(), "key_refused" | "key_missing")
}

/// The text about an answer of a model that was cut.
pub fn describe_cut(reason: &FinishReason, model: &str) -> ProblemText {
    let what = match reason {
        FinishReason::PauseTurn => texts::cut_by_server(&server_name(model)),
        FinishReason::ToolLimit => texts::CUT_BY_TOOL_LIMIT.into(),
        _ => texts::CUT_BY_LENGTH.into(),
    };
    ProblemText {
        tone: ProblemTone::Note,
        what,
        advice: "",
    }
}

/// The text about an error of a model.
pub fn describe_error(error: &RunError, status: RunStatus, model: &str) -> ProblemText {
    let server = server_name(model);
    let of_server = |what: fn(&str) -> String, advice| (what(&server), advice);
    let tone = match error.is_damage() {
        true => ProblemTone::Loss,
        false => ProblemTone::Failure,
    };
    let (what, advice) = match error.code.as_str() {
        _ if error.is_damage() => (texts::DAMAGED.into(), ""),
        SESSION_NOT_RESTORED => (texts::SESSION_GONE.into(), ""),
        "shut_down" | "interrupted" => (texts::INTERRUPTED.into(), texts::ANSWER_KEPT),
        code if status == RunStatus::Interrupted => (interruption(code, &server), texts::ANSWER_KEPT),
        "endpoint_unreachable" => of_server(texts::server_unreachable, texts::CHECK_SERVER),
        "endpoint_failed" => of_server(texts::server_failed, texts::TRY_SOON),
        "key_refused" => of_server(texts::key_refused, texts::CORRECT_KEY),
        "key_missing" => of_server(texts::key_missing, texts::ADD_KEY),
        "no_credit" => of_server(texts::no_credit, texts::ADD_CREDIT),
        "rate_limited" => of_server(texts::rate_limited, texts::WAIT_THEN_TRY),
        "model_unknown" => of_server(texts::model_unknown, texts::CHOOSE_MODEL),
        "context_too_long" => (texts::CONTEXT_TOO_LONG.into(), texts::SHORTEN),
        "other_protocol" => of_server(texts::other_protocol, texts::CORRECT_KIND),
        "no_answer" => of_server(texts::no_answer, texts::MAY_BE_LOADING),
        "bad_answer" | "unreadable_answer" => of_server(texts::answer_unreadable, texts::TRY_OR_CHOOSE_MODEL),
        "stream_error" => of_server(texts::server_error, texts::TRY_NOW),
        "refusal" => (texts::REFUSED.into(), texts::REPHRASE),
        "safety" | "content_filter" => of_server(texts::withheld, texts::REPHRASE),
        "answer_too_long" => (texts::TOO_LONG.into(), texts::ANSWER_KEPT),
        "answer_repeats" => (texts::REPEATED.into(), texts::TRY_OR_CHOOSE_MODEL),
        "no_answer_after_tools" => (texts::NO_ANSWER_AFTER_TOOLS.into(), texts::TRY_OR_CHOOSE_MODEL),
        "malformed_function_call" => (texts::CALL_UNREADABLE.into(), texts::TRY_OR_CHOOSE_MODEL),
        _ => (texts::UNKNOWN_ERROR.into(), ""),
    };
    ProblemText { tone, what, advice }
}

/// The text about an answer that broke off.
fn interruption(code: &str, server: &str) -> String {
    match code {
        "broke_off" | "connection_lost" => texts::interrupted_by_connection(server),
        "fell_silent" => texts::interrupted_by_silence(server),
        "too_long" => texts::INTERRUPTED_BY_TIME_LIMIT.into(),
        _ => texts::INTERRUPTED.into(),
    }
}

/// The server of a model, as a sentence begins with it: a service by its name, others with the name that they were given here.
fn server_name(model: &str) -> String {
    let Some((endpoint, _)) = model.split_once('/') else {
        return texts::SERVER.into();
    };
    let endpoint = endpoint.strip_prefix(OWN_KEY_PREFIX).unwrap_or(endpoint);
    match service_label(endpoint) {
        Some(label) => label.into(),
        None => texts::named_server(endpoint),
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
        let told = |reason| describe_cut(&reason, "").what;
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
        let tone = |code, status| describe_error(&error(code), status, "").tone;
        assert_eq!(describe_cut(&FinishReason::Length, "").tone, ProblemTone::Note);
        assert_eq!(tone("key_refused", RunStatus::Failed), ProblemTone::Failure);
        assert_eq!(tone("broke_off", RunStatus::Interrupted), ProblemTone::Failure);
        assert_eq!(tone("damaged_message", RunStatus::Failed), ProblemTone::Loss);
    }

    #[test]
    fn sentences_name_the_service() {
        let told = |model| describe_error(&error("broke_off"), RunStatus::Interrupted, model).what;
        assert_eq!(told("openai/gpt-5"), "The connection to OpenAI broke.");
        assert_eq!(told("my openai/gpt-5"), "The connection to OpenAI broke.");
        assert_eq!(
            told("work/gpt-5"),
            "The connection to the model server “work” broke."
        );
        let refused = |model| describe_error(&error("key_refused"), RunStatus::Failed, model).what;
        assert_eq!(refused("openrouter/a/b"), "OpenRouter did not accept the key.");
        assert_eq!(refused(""), "The model server did not accept the key.");
    }

    #[test]
    fn unknown_codes_keep_the_words_of_the_error() {
        let text = describe_error(&error("new_code"), RunStatus::Failed, "");
        assert_eq!(text.advice, "", "its message is not hidden under Details");
        assert_ne!(
            describe_error(&error("rate_limited"), RunStatus::Failed, "").advice,
            ""
        );
    }
}
