//! Failing model servers: the status of the run, the error text, and the saved text. `docs/faults.md` has the
//! same table.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, joined_deltas, model_calls, parlor_answering};

/// Time limits that a test can wait for.
const MODEL_TIMEOUT: Duration = Duration::from_millis(500);

/// Errors that Parlor itself detects by a timeout or a limit.
const CODES_WITHOUT_ENDPOINT: [&str; 9] = [
    "no_answer",
    "no_answer_after_thinking",
    "unreadable_answer",
    "fell_silent",
    "too_long",
    "answer_too_long",
    "answer_repeats",
    "empty_answer",
    "content_filter",
];

enum FaultyServer {
    Scripted(Script),
    /// An address other than the scripted server's, which is `HERE`.
    Address(&'static str),
}

struct FaultCase {
    /// The name of the fault in the documentation.
    fault: &'static str,
    server: FaultyServer,
    status: &'static str,
    code: &'static str,
    kept: &'static str,
    /// The number of model calls.
    calls: usize,
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

fn address_case(fault: &'static str, address: &'static str) -> FaultCase {
    FaultCase {
        fault,
        server: FaultyServer::Address(address),
        status: "failed",
        code: "endpoint_unreachable",
        kept: "",
        calls: 0,
    }
}

fn fault_cases() -> Vec<FaultCase> {
    let script = Script::new;
    let half = || Script::new().text("half");
    let refused =
        |status, message: &str| script().status(status, json!({ "error": { "message": message } }), &[]);
    vec![
        address_case("connection refused", "http://127.0.0.1:9/v1"),
        address_case("unknown host", "http://no-such-host.invalid/v1"),
        address_case("no TLS", "https://HERE/v1"),
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
                .raw_bytes(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xc3".to_vec())
                .cut(),
            ("interrupted", "broke_off"),
            "half",
            1,
        ),
        scripted_case(
            "broken JSON",
            half()
                .raw("data: {\"choices\":[{\"delta\n\n")
                .finish("stop")
                .done(),
            ("interrupted", "bad_answer"),
            "half",
            1,
        ),
        scripted_case(
            "a line without end",
            half().raw(format!("data: {}", "x".repeat(2 << 20))).hang(),
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
                .raw("data: {\"choices\":[{\"delta\":{\"video\":{\"id\":1}}}]}\n\n")
                .finish("stop")
                .done(),
            ("failed", "unreadable_answer"),
            "",
            1,
        ),
        scripted_case(
            "held back by a filter",
            half().finish("content_filter").done(),
            ("failed", "content_filter"),
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

async fn run_case(case: FaultCase) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut address = None;
    match case.server {
        FaultyServer::Scripted(script) => upstream.add_script(When::any(), script),
        FaultyServer::Address(elsewhere) => {
            address = Some(elsewhere.replace("HERE", &upstream.address().to_string()))
        }
    }
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.first_token = MODEL_TIMEOUT;
        settings.timeouts.silence = MODEL_TIMEOUT;
        settings.timeouts.run = Duration::from_secs(if case.code == "too_long" { 1 } else { 60 });
        settings.limits.answer_bytes = 100_000;
        if let Some(address) = address {
            settings.endpoints[0].base_url = address;
        }
    })
    .await;
    let events = parlor
        .chat(&json!({ "message": "x", "model": "test/any" }))
        .await
        .read_to_end()
        .await;
    let last = events.last().ok_or("no events")?;
    let error = &last["error"];
    let kept = joined_deltas(&events, "text_delta");
    let field = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let got = (field(&last["status"]), field(&error["code"]));
    if got != (case.status.to_owned(), case.code.to_owned()) {
        return Err(format!("{}: {got:?} {last}", case.fault));
    }
    let as_expected = if case.kept == "…" {
        !kept.is_empty()
    } else {
        kept == case.kept
    };
    if !as_expected || last["payload"]["message"] != *kept {
        return Err(format!(
            "{}: kept {:?}",
            case.fault,
            kept.chars().take(80).collect::<String>()
        ));
    }
    if model_calls(&upstream).len() != case.calls {
        return Err(format!("{}: {} calls", case.fault, model_calls(&upstream).len()));
    }
    let words = field(&error["message"]);
    if !(words.contains("“test”") || CODES_WITHOUT_ENDPOINT.contains(&case.code)) {
        return Err(format!("{}: does not name the endpoint: {words:?}", case.fault));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn model_faults_end_as_documented() {
    let met = join_all(fault_cases().into_iter().map(run_case));
    let met = tokio::time::timeout(Duration::from_secs(50), met)
        .await
        .expect("each within its time limit");
    let wrong: Vec<String> = met.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documentation_lists_every_fault() {
    let table = include_str!("../../docs/faults.md");
    for FaultCase {
        fault, status, code, ..
    } in fault_cases()
    {
        let row = format!("| {fault} | `{status}` | `{code}` |");
        assert!(table.contains(&row), "docs/faults.md lacks: {row}");
    }
}

#[tokio::test]
async fn retries_busy_server_before_the_first_token() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("at last")).await;
    upstream.reset();
    upstream.add_script(When::any(), Script::new().text("at last"));
    upstream.add_script_times(1, When::any(), Script::new().status(503, json!({}), &[]));
    let events = parlor
        .chat(&json!({ "message": "x", "model": "test/any" }))
        .await
        .read_to_end()
        .await;
    assert_eq!(events.last().unwrap()["payload"]["message"], "at last");
    assert_eq!(model_calls(&upstream).len(), 2);
}
