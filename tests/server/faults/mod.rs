//! Failing model servers of every kind: the status of the run, the error text, and the saved text.
//! `docs/faults.md` has the same table as [`cases`].

mod cases;

use std::time::Duration;

use futures::future::join_all;
use parlor_base::settings::EndpointKind;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use self::cases::{FaultCase, FaultyServer, fault_cases};
use crate::support::{Parlor, joined_deltas, parlor_answering, raw_model_calls, set_kind};

/// Time limits that a test can wait for.
const MODEL_TIMEOUT: Duration = Duration::from_millis(500);

/// Errors that Parlor itself detects by a timeout or a limit.
const CODES_WITHOUT_ENDPOINT: [&str; 10] = [
    "no_answer",
    "no_answer_after_thinking",
    "unreadable_answer",
    "fell_silent",
    "too_long",
    "answer_too_long",
    "answer_repeats",
    "empty_answer",
    "content_filter",
    "refusal",
];

async fn run_case(kind: EndpointKind, case: FaultCase) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut url = None;
    match case.server {
        FaultyServer::Scripted(script) => upstream.add_script(When::any(), script),
        FaultyServer::Url(elsewhere) => {
            url = Some(elsewhere.replace("HERE", &upstream.address().to_string()))
        }
    }
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        // Only the case of a timeout may meet it, however slow this machine is.
        match case.code {
            "no_answer" => settings.timeouts.first_token = MODEL_TIMEOUT,
            "fell_silent" => settings.timeouts.silence = MODEL_TIMEOUT,
            _ => {}
        }
        settings.timeouts.run = Duration::from_secs(if case.code == "too_long" { 2 } else { 60 });
        settings.limits.answer_bytes = 100_000;
        set_kind(&mut settings.endpoints[0], kind, &upstream);
        if let Some(url) = url {
            settings.endpoints[0].base_url = url;
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
    if raw_model_calls(&upstream).len() != case.calls {
        return Err(format!(
            "{}: {} calls",
            case.fault,
            raw_model_calls(&upstream).len()
        ));
    }
    let words = field(&error["message"]);
    if !(words.contains("“test”") || CODES_WITHOUT_ENDPOINT.contains(&case.code)) {
        return Err(format!("{}: does not name the endpoint: {words:?}", case.fault));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn model_faults_end_as_documented() {
    faults_end_as_documented(EndpointKind::OpenAi).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_faults_end_as_documented() {
    faults_end_as_documented(EndpointKind::OpenAiResponses).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic_faults_end_as_documented() {
    faults_end_as_documented(EndpointKind::Anthropic).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_faults_end_as_documented() {
    faults_end_as_documented(EndpointKind::Gemini).await;
}

async fn faults_end_as_documented(kind: EndpointKind) {
    // An answer that takes for ever must begin within its time: not while dozens of servers start.
    let (last, first): (Vec<_>, Vec<_>) = fault_cases(kind)
        .into_iter()
        .partition(|case| case.code == "too_long");
    let mut met = Vec::new();
    for cases in [first, last] {
        let all = join_all(cases.into_iter().map(|case| run_case(kind, case)));
        let all = tokio::time::timeout(Duration::from_secs(50), all).await;
        met.extend(all.expect("each within its time limit"));
    }
    let wrong: Vec<String> = met.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documentation_lists_every_fault() {
    let table = include_str!("../../../docs/faults.md");
    for FaultCase {
        fault, status, code, ..
    } in fault_cases(EndpointKind::OpenAi)
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
    assert_eq!(raw_model_calls(&upstream).len(), 2);
}
