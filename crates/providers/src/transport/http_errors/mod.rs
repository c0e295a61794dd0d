//! Error responses: conversion of a status, a body or an error object in a stream to an error for the user.

mod error_body;
#[cfg(test)]
mod tests;

use std::time::SystemTime;

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use self::error_body::ServerErrorBody;
pub use self::error_body::find_error;
use super::EndpointInfo;
use parlor_model::{
    ModelError,
    ModelErrorKind::{self, Refused, Unavailable},
};
use parlor_web::http_client::parse_retry_after;

/// Returns the error of a response with a status other than 2xx. `model` is the requested model, if any.
pub fn error_for_status(
    facts: &EndpointInfo,
    model: Option<&str>,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> ModelError {
    let described = ServerErrorBody::from_body(body);
    ModelError {
        reply: Some(facts.error_reply(status.as_u16(), &described.message)),
        ..described_error(facts, model, status, headers, &described)
    }
}

fn described_error(
    facts: &EndpointInfo,
    model: Option<&str>,
    status: StatusCode,
    headers: &HeaderMap,
    described: &ServerErrorBody,
) -> ModelError {
    let quoted = facts.quote(&described.message);
    let because = match quoted.as_str() {
        "" => ".".into(),
        quoted => format!(": {}", with_full_stop(quoted)),
    };
    let after = parse_retry_after(headers, SystemTime::now());
    let unavailable = Unavailable { after };

    match status.as_u16() {
        300..=399 => {
            let to = headers
                .get("location")
                .and_then(|to| to.to_str().ok())
                .unwrap_or("another address");
            let to = facts.quote(to.split('?').next().unwrap_or_default());
            let what = format!("redirects to {to}, which Parlor does not follow.");
            facts.error(Refused, "request_refused", what, wrong_url_hint(facts))
        }
        401 | 403 if facts.has_key => {
            let what = format!("refused the API key ({}){because}", status.as_u16());
            facts.error(Refused, "key_refused", what, facts.key_hint())
        }
        401 | 403 => {
            let what = format!("wants an API key, and none is set ({}){because}", status.as_u16());
            facts.error(Refused, "key_missing", what, facts.key_hint())
        }
        // Google.
        400 if described.contains_any(&["api key not valid", "api_key_invalid"]) => {
            let what = format!("refused the API key (400){because}");
            facts.error(Refused, "key_refused", what, facts.key_hint())
        }
        402 => no_credit_error(facts, &because),
        // Anthropic, OpenAI.
        400 | 429 if described.contains_any(&["credit balance is too low", "insufficient_quota"]) => {
            no_credit_error(facts, &because)
        }
        429 => {
            let wait = after.map_or(String::new(), |after| {
                format!(" It asks to wait {} s.", after.as_secs_f64().ceil())
            });
            let what = format!("takes no more requests for now (429){because}{wait}");
            facts.error(unavailable, "rate_limited", what, "Wait a little, then retry.")
        }
        408 | 409 | 500.. => {
            let what = format!("failed ({status}){because}");
            facts.error(
                unavailable,
                "endpoint_failed",
                what,
                "Try again. If the error persists, check that server's log.",
            )
        }
        400 | 404 | 422 if model.is_some() && described.is_unknown_model() => {
            let model = facts.quote(model.unwrap_or_default());
            let what = format!("does not know the model “{model}”{because}");
            facts.error(
                Refused,
                "model_unknown",
                what,
                "Choose another model in the picker at the composer.",
            )
        }
        _ if described.is_context_overflow() => {
            let what = format!("cannot take a conversation of this length{because}");
            let hint = "Start a new chat, or choose a model with a larger context.";
            facts.error(Refused, "context_too_long", what, hint)
        }
        404 | 405 => {
            let what = format!("has no such address ({status}){because}");
            facts.error(Refused, "request_refused", what, wrong_url_hint(facts))
        }
        _ => facts.error(
            Refused,
            "request_refused",
            format!("refused the request ({status}){because}"),
            "",
        ),
    }
}

/// Returns the error of an error object inside a stream.
pub fn error_in_stream(facts: &EndpointInfo, error: &Value) -> ModelError {
    const BUSY: [&str; 14] = [
        "overloaded",
        "rate_limit",
        "rate limit",
        "unavailable",
        "429",
        "500",
        "502",
        "503",
        "504",
        "529",
        // OpenAI, Anthropic, Google.
        "server_error",
        "api_error",
        "timeout_error",
        "internal",
    ];
    let described = ServerErrorBody::from_json(error);
    let kind: ModelErrorKind = if described.contains_any(&["insufficient_quota"]) {
        Refused
    } else if BUSY.iter().any(|word| described.code.contains(word)) || described.contains_any(&BUSY[..4]) {
        Unavailable { after: None }
    } else {
        Refused
    };
    let quoted = match facts.quote(&described.message) {
        quoted if quoted.is_empty() => "no reason was given".into(),
        quoted => quoted,
    };
    facts.error(
        kind,
        "stream_error",
        format!("reported an error in its answer: {}", with_full_stop(&quoted)),
        "",
    )
}

/// Adds a full stop if needed, so that another sentence can follow.
fn with_full_stop(words: &str) -> String {
    let ends = words.ends_with(['.', '!', '?', '…']);
    format!("{words}{}", if ends { "" } else { "." })
}

fn no_credit_error(facts: &EndpointInfo, because: &str) -> ModelError {
    let hint = "Add credit to that account, or choose a model of another endpoint.";
    facts.error(
        Refused,
        "no_credit",
        format!("requires payment first{because}"),
        hint,
    )
}

fn wrong_url_hint(facts: &EndpointInfo) -> String {
    let source = match facts.base_url_source.as_str() {
        "" => "its base URL",
        source => source,
    };
    format!("Check {source}; it {}.", facts.url_form())
}
