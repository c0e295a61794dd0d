//! `kill -9` in the middle of an answer and of a tool loop, with every kind of model server: the answer so far
//! is kept, and *Continue* completes it.

use std::{fs, path::Path};

use parlor_base::settings::EndpointKind;
use parlor_protocol::{AssistantMessage, IntentId, MessageBody, MessageId, RunStatus};
use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Protocol, Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT, WITHOUT_TITLES,
    client::{ObservedRun, post_turn, stored_message},
};

const KINDS: [(EndpointKind, Protocol); 4] = [
    (EndpointKind::OpenAi, Protocol::ChatCompletions),
    (EndpointKind::OpenAiResponses, Protocol::Responses),
    (EndpointKind::Anthropic, Protocol::Messages),
    (EndpointKind::Gemini, Protocol::GenerateContent),
];

/// Starts a server with one endpoint, `test`. A model must be listed: others are rejected.
async fn start(data: &Path, upstream: &Upstream, kind: EndpointKind, protocol: Protocol) -> Server {
    let settings = data.join("settings.toml");
    let url = upstream.url_for(protocol);
    let endpoint = format!(
        "[agent]\nmax_resumptions = 0\n[[endpoints]]\nname = 'test'\nkind = '{}'\nbase_url = '{url}'\n{WITHOUT_TITLES}",
        kind.as_str()
    );
    fs::write(&settings, endpoint).unwrap();
    let mut command = Server::command(data, upstream, "127.0.0.1:0");
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY");
    Server::run(command.arg("--config").arg(&settings)).await
}

/// Sends a message, waits until the model server stands at its gate and the text before it was seen, and kills
/// the server.
async fn kill_at_gate(server: Server, upstream: &Upstream, text: &str, kind: EndpointKind) -> MessageId {
    let ask = json!({ "message": "Why?", "model": "test/echo" });
    let response = post_turn(&server.url, &ask).await.unwrap();
    assert_eq!(response.status(), 200, "{kind:?}");
    let (seen, run) = ObservedRun::read_until_text(response, text).await;
    timeout(TEST_TIMEOUT, upstream.wait_for_gate("never"))
        .await
        .unwrap_or_else(|_| panic!("{kind:?}: the gate is not reached"));
    server.kill().await;
    drop(seen);
    run
}

async fn stored_answer(server: &Server, run: MessageId) -> AssistantMessage {
    match stored_message(&server.url, run).await.body {
        MessageBody::Assistant(answer) => answer,
        body => panic!("a run's message is an answer: {body:?}"),
    }
}

/// Continues an answer over the public API and waits for its end.
async fn continue_run(server: &Server, run: MessageId, kind: EndpointKind) {
    let response = reqwest::Client::new()
        .post(format!("{}/api/runs/{run}/continue", server.url))
        .header("idempotency-key", IntentId::new().to_string())
        .header("content-type", "application/json")
        .body("{}")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200, "{kind:?}");
    let events = reqwest::get(format!("{}/api/runs/{run}/events", server.url)).await;
    timeout(TEST_TIMEOUT, events.unwrap().bytes())
        .await
        .unwrap_or_else(|_| panic!("{kind:?}: it does not end"))
        .unwrap();
}

/// Returns the last request for an answer.
fn last_request(upstream: &Upstream) -> Value {
    let requests = upstream.requests().into_iter();
    let mut answers = requests.rev().filter(|request| request.method == "POST");
    answers.next().expect("a request").body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_answer_continues_with_every_kind() {
    parlor_web::http_client::install_tls();
    for (kind, protocol) in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let half = Script::new()
            .think("Rayleigh.")
            .text("Because the sk")
            .gate("never");
        upstream.add_script(When::any(), half);
        let server = start(folder.path(), &upstream, kind, protocol).await;
        let run = kill_at_gate(server, &upstream, "Because the sk", kind).await;

        upstream.reset();
        upstream.add_script(When::any(), Script::new().text("y scatters."));
        let server = start(folder.path(), &upstream, kind, protocol).await;
        let kept = stored_answer(&server, run).await;
        assert_eq!(
            (kept.status, &*kept.text()),
            (RunStatus::Interrupted, "Because the sk"),
            "{kind:?}"
        );
        continue_run(&server, run, kind).await;
        let whole = stored_answer(&server, run).await;
        assert_eq!(
            (whole.status, &*whole.text()),
            (RunStatus::Complete, "Because the sky scatters."),
            "{kind:?}"
        );
        let sent = last_request(&upstream).to_string();
        assert!(sent.contains("Because the sk"), "{kind:?}: {sent}");
        server.kill().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_tool_loop_continues_with_every_kind() {
    parlor_web::http_client::install_tls();
    for (kind, protocol) in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let call = Script::new()
            .think("I need a clock.")
            .tool_call("c1", "current_time", "{}")
            .finish("tool_calls");
        upstream.add_script(When::any(), call);
        upstream.add_script(When::tool_gave(""), Script::new().text("It is").gate("never"));
        let server = start(folder.path(), &upstream, kind, protocol).await;
        let run = kill_at_gate(server, &upstream, "It is", kind).await;

        upstream.reset();
        upstream.add_script(When::any(), Script::new().text(" noon."));
        let server = start(folder.path(), &upstream, kind, protocol).await;
        let kept = stored_answer(&server, run).await;
        assert_eq!(
            (kept.status, &*kept.text(), kept.tool_calls().count()),
            (RunStatus::Interrupted, "It is", 1),
            "{kind:?}"
        );
        continue_run(&server, run, kind).await;
        let whole = stored_answer(&server, run).await;
        assert_eq!(
            (whole.status, &*whole.text(), whole.tool_calls().count()),
            (RunStatus::Complete, "It is noon.", 1),
            "{kind:?}"
        );
        // The call, its output and the provider's own data of its thinking are sent again.
        let sent = last_request(&upstream).to_string();
        let data = match kind {
            EndpointKind::OpenAi => "I need a clock.",
            EndpointKind::OpenAiResponses => "encrypted-0",
            EndpointKind::Anthropic => "signature-0",
            // The scripted server has no signatures of this protocol.
            EndpointKind::Gemini => "functionResponse",
        };
        for part in ["current_time", "It is", data] {
            assert!(sent.contains(part), "{kind:?}, {part}: {sent}");
        }
        server.kill().await;
    }
}
