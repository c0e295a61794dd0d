//! The faults of a model server.

use parlor_base::settings::EndpointKind;
use serde_json::{Value, json};
use upstream::Script;

pub enum FaultyServer {
    Scripted(Script),
    /// A URL other than the scripted server's, which is `HERE`.
    Url(&'static str),
}

pub struct FaultCase {
    /// The name of the fault in the documentation.
    pub fault: &'static str,
    pub server: FaultyServer,
    pub status: &'static str,
    pub code: &'static str,
    pub kept: &'static str,
    /// The number of model calls.
    pub calls: usize,
}

fn scripted_case(
    fault: &'static str,
    script: Script,
    (status, code): (&'static str, &'static str),
    kept: &'static str,
    calls: usize,
) -> FaultCase {
    FaultCase {
        fault,
        server: FaultyServer::Scripted(script),
        status,
        code,
        kept,
        calls,
    }
}

fn url_case(fault: &'static str, url: &'static str) -> FaultCase {
    FaultCase {
        fault,
        server: FaultyServer::Url(url),
        status: "failed",
        code: "endpoint_unreachable",
        kept: "",
        calls: 0,
    }
}

/// Returns every fault with its expected outcome.
pub fn fault_cases(kind: EndpointKind) -> Vec<FaultCase> {
    let script = Script::new;
    let half = || Script::new().text("half");
    let refused =
        |status, message: &str| script().status(status, json!({ "error": { "message": message } }), &[]);
    vec![
        url_case("connection refused", "http://127.0.0.1:9/v1"),
        url_case("unknown host", "http://no-such-host.invalid/v1"),
        url_case("no TLS", "https://HERE/v1"),
        scripted_case("401", refused(401, "bad key"), ("failed", "key_missing"), "", 1),
        scripted_case(
            "403",
            refused(403, "not allowed"),
            ("failed", "key_missing"),
            "",
            1,
        ),
        scripted_case(
            "404",
            refused(404, "model not found"),
            ("failed", "model_unknown"),
            "",
            1,
        ),
        scripted_case(
            "400",
            refused(400, "no such parameter"),
            ("failed", "request_refused"),
            "",
            1,
        ),
        scripted_case(
            "408",
            refused(408, "too slow"),
            ("failed", "endpoint_failed"),
            "",
            3,
        ),
        scripted_case(
            "429",
            refused(429, "slow down"),
            ("failed", "rate_limited"),
            "",
            3,
        ),
        scripted_case(
            "429 with a long Retry-After",
            script().status(429, json!({}), &[("retry-after", "3600")]),
            ("failed", "rate_limited"),
            "",
            1,
        ),
        scripted_case("500", refused(500, "boom"), ("failed", "endpoint_failed"), "", 3),
        scripted_case(
            "503",
            refused(503, "loading"),
            ("failed", "endpoint_failed"),
            "",
            3,
        ),
        scripted_case(
            "an error object in a stream",
            script().error_object(json!({ "message": "out of memory" })),
            ("failed", "stream_error"),
            "",
            1,
        ),
        scripted_case(
            "an error object in mid-answer",
            half().error_object(json!({ "message": "out of memory" })),
            ("failed", "stream_error"),
            "half",
            1,
        ),
        scripted_case(
            "silence before the first token",
            script().hang(),
            ("failed", "no_answer"),
            "",
            1,
        ),
        scripted_case(
            "silence in mid-answer",
            half().hang(),
            ("interrupted", "fell_silent"),
            "half",
            1,
        ),
        scripted_case(
            "one byte, then silence",
            half().raw("d").hang(),
            ("interrupted", "fell_silent"),
            "half",
            1,
        ),
        scripted_case(
            "an end before the first byte",
            script().raw("").end(),
            ("failed", "endpoint_failed"),
            "",
            3,
        ),
        scripted_case(
            "connection lost before the first token",
            script().cut(),
            ("failed", "broke_off"),
            "",
            3,
        ),
        scripted_case(
            "connection lost in mid-answer",
            half().cut(),
            ("interrupted", "broke_off"),
            "half",
            1,
        ),
        scripted_case(
            "an end without a finish_reason",
            half().end(),
            ("interrupted", "broke_off"),
            "half",
            1,
        ),
        scripted_case(
            "a character cut in two",
            half()
                .raw_bytes([event_beginning(kind).as_bytes(), b"\xc3"].concat())
                .cut(),
            ("interrupted", "broke_off"),
            "half",
            1,
        ),
        scripted_case(
            "broken JSON",
            half()
                .raw(format!("{}\n\n", event_beginning(kind)))
                .finish("stop")
                .done(),
            ("interrupted", "bad_answer"),
            "half",
            1,
        ),
        scripted_case(
            "a line without end",
            half().raw(format!("data: {}", "x".repeat(17 << 20))).hang(),
            ("interrupted", "bad_answer"),
            "half",
            1,
        ),
        scripted_case(
            "no answer at all",
            script().finish("stop").done(),
            ("failed", "empty_answer"),
            "",
            1,
        ),
        scripted_case(
            "another protocol",
            script()
                .raw("event: message-start\ndata: {\"type\":\"message-start\",\"delta\":{}}\n\n")
                .end(),
            ("failed", "other_protocol"),
            "",
            1,
        ),
        scripted_case(
            "thoughts without an answer",
            script().think("Hm.").finish("stop").done(),
            ("failed", "no_answer_after_thinking"),
            "",
            1,
        ),
        scripted_case(
            "an answer that can't be read",
            script()
                .raw(format!("data: {}\n\n", unreadable_event(kind)))
                .finish("stop")
                .done(),
            ("failed", "unreadable_answer"),
            "",
            1,
        ),
        scripted_case(
            "held back by a filter",
            half().finish("content_filter").done(),
            // Anthropic's models refuse.
            match kind {
                EndpointKind::Anthropic => ("failed", "refusal"),
                _ => ("failed", "content_filter"),
            },
            "half",
            1,
        ),
        scripted_case(
            "thoughts that never end",
            script().think("x".repeat(200_000)).hang(),
            ("failed", "answer_too_long"),
            "",
            1,
        ),
        scripted_case(
            "an answer that repeats itself",
            script()
                .text("I am sorry, but I can't answer that. ".repeat(200))
                .hang(),
            ("failed", "answer_repeats"),
            "…",
            1,
        ),
        scripted_case(
            "an answer that takes for ever",
            script().tokens(1_000_000, 50.0),
            ("interrupted", "too_long"),
            "…",
            1,
        ),
    ]
}

/// Returns the beginning of an event with text.
fn event_beginning(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::OpenAi => "data: {\"choices\":[{\"delta\":{\"content\":\"",
        EndpointKind::OpenAiResponses => "data: {\"type\":\"response.output_text.delta\",\"delta\":\"",
        EndpointKind::Anthropic => "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"",
        EndpointKind::Gemini => "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"",
    }
}

/// Returns an event with content of an unknown form.
fn unreadable_event(kind: EndpointKind) -> Value {
    let video = json!({ "type": "video", "id": 1 });
    match kind {
        EndpointKind::OpenAi => json!({ "choices": [{ "delta": { "video": { "id": 1 } } }] }),
        EndpointKind::OpenAiResponses => {
            json!({ "type": "response.output_item.done", "output_index": 0, "item": video })
        }
        EndpointKind::Anthropic => {
            json!({ "type": "content_block_start", "index": 0, "content_block": video })
        }
        EndpointKind::Gemini => {
            json!({ "candidates": [{ "content": { "parts": [{ "video": { "id": 1 } }] } }] })
        }
    }
}
