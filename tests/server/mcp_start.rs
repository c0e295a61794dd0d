//! Slow MCP servers: the first runs wait for them, up to a timeout.

use std::{future::ready, path::Path, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use parlor_base::settings::{McpServer, mcp::ApprovalPolicy};
use parlor_tools::{AnyTool, ToolProvider, ToolRegistry};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::Notify, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    mcp_server::McpTestServer,
    support::{EventStream, Parlor, TEST_TIMEOUT, model_calls},
};

/// A tool source without tools. It notices when a run waits for its list.
#[derive(Default)]
struct PendingSource(Notify);

impl ToolProvider for PendingSource {
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        Vec::new()
    }

    fn wait_until_settled(&self) -> BoxFuture<'_, ()> {
        self.0.notify_one();
        Box::pin(ready(()))
    }
}

/// Starts a Parlor with this server, whose model calls `greet` and then ends.
async fn parlor_with_greeting(server: McpServer, timeout: Duration) -> (TempDir, Upstream, Parlor) {
    parlor_with_greeting_and(ToolRegistry::default(), server, timeout).await
}

/// Like [`parlor_with_greeting`], with other tools.
async fn parlor_with_greeting_and(
    others: ToolRegistry,
    server: McpServer,
    timeout: Duration,
) -> (TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().tool_call("c1", "web_greet", "{}"));
    upstream.add_script(When::tool_gave(""), Script::new().text("Done."));
    let parlor = start(folder.path(), &upstream, others, server, timeout).await;
    (folder, upstream, parlor)
}

async fn start(
    folder: &Path,
    upstream: &Upstream,
    others: ToolRegistry,
    server: McpServer,
    timeout: Duration,
) -> Parlor {
    Parlor::start_with_tools(folder, upstream, others, |settings| {
        settings.mcp = vec![server];
        settings.timeouts.mcp_start = timeout;
    })
    .await
}

async fn start_greeting(parlor: &Parlor) -> EventStream {
    parlor
        .chat(&json!({ "message": "Greet", "model": "test/any" }))
        .await
}

/// Waits until the run reports that it waits for tools.
async fn wait_until_run_waits(run: &mut EventStream) {
    while run.next_of_type("status").await["message"] != "Waiting for tools..." {}
}

#[tokio::test]
async fn first_run_waits_for_starting_servers() {
    let tools = McpTestServer::listing_on_demand();
    let (_folder, upstream, parlor) = parlor_with_greeting(tools.serve().await, TEST_TIMEOUT).await;
    let mut run = start_greeting(&parlor).await;
    wait_until_run_waits(&mut run).await;
    assert_eq!(
        model_calls(&upstream),
        [] as [Value; 0],
        "the model is not asked yet"
    );
    tools.send_tool_list();
    assert_eq!(
        run.next_of_type("tool_complete").await["output"],
        "Hello over there."
    );
    run.read_to_end().await;
    let again = start_greeting(&parlor).await.read_to_end().await;
    assert!(
        again
            .iter()
            .all(|event| event["message"] != "Waiting for tools..."),
        "the run does not wait: {again:?}"
    );
}

#[tokio::test]
async fn approved_call_waits_after_restart() {
    let tools = McpTestServer::listing_on_demand();
    let server = McpServer {
        approval: Some(ApprovalPolicy::Ask),
        ..tools.serve().await
    };
    tools.send_tool_list();
    let (folder, upstream, parlor) = parlor_with_greeting(server.clone(), TEST_TIMEOUT).await;
    let waiting = start_greeting(&parlor).await.next_of_type("waiting").await;
    let run = waiting["message_id"].as_str().unwrap();
    parlor.stop().await;

    let parlor = start(
        folder.path(),
        &upstream,
        ToolRegistry::default(),
        server,
        TEST_TIMEOUT,
    )
    .await;
    let allow = json!({ "index": 0, "answer": "allow" });
    let path = format!("/api/runs/{run}/approvals");
    assert_eq!(parlor.post(&path, &allow).send().await.unwrap().status(), 204);
    let mut run = parlor.follow(&format!("/api/runs/{run}/events")).await;
    wait_until_run_waits(&mut run).await;
    tools.send_tool_list();
    let end = run.next_of_type("tool_complete").await;
    assert_eq!(
        (&end["status"], &end["output"]),
        (&json!("complete"), &json!("Hello over there."))
    );
}

#[tokio::test]
async fn forced_tool_of_starting_server_is_awaited() {
    let tools = McpTestServer::listing_on_demand();
    let waiting = Arc::new(PendingSource::default());
    let sources = ToolRegistry::default().with_provider(waiting.clone());
    let server = tools.serve().await;
    let (_folder, upstream, parlor) = parlor_with_greeting_and(sources, server, TEST_TIMEOUT).await;
    let body = json!({ "message": "Greet", "model": "test/any", "force_tools": ["web_greet"] });
    let sent = tokio::spawn(parlor.post("/api/chat/stream", &body).send());
    let waits = timeout(TEST_TIMEOUT, waiting.0.notified()).await;
    assert!(waits.is_ok(), "the run is accepted and waits");
    tools.send_tool_list();
    let response = sent.await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.text().await.unwrap().contains("Hello over there."));
    assert_eq!(
        model_calls(&upstream)[0]["tool_choice"]["function"]["name"],
        "web_greet"
    );
    // An unknown name is still rejected.
    let other = json!({ "message": "Greet", "model": "test/any", "force_tools": ["web_shout"] });
    let refused = parlor.post("/api/chat/stream", &other).send().await.unwrap();
    assert_eq!(refused.status(), 422);
}

#[tokio::test]
async fn waiting_for_tool_lists_times_out() {
    let tools = McpTestServer::listing_on_demand();
    let (_folder, upstream, parlor) =
        parlor_with_greeting(tools.serve().await, Duration::from_millis(50)).await;
    let events = start_greeting(&parlor).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    assert_eq!(
        model_calls(&upstream)[0]["tools"],
        Value::Null,
        "the model was called without them"
    );
}

#[tokio::test]
async fn stops_a_run_waiting_for_tools() {
    let tools = McpTestServer::listing_on_demand();
    let (_folder, upstream, parlor) = parlor_with_greeting(tools.serve().await, TEST_TIMEOUT).await;
    let mut run = start_greeting(&parlor).await;
    let started = run.next_of_type("run_started").await;
    wait_until_run_waits(&mut run).await;
    let stop = format!("/api/runs/{}/stop", started["message_id"].as_str().unwrap());
    assert_eq!(parlor.post(&stop, &json!({})).send().await.unwrap().status(), 200);
    run.next_of_type("cancelled").await;
    assert_eq!(model_calls(&upstream), [] as [Value; 0]);
}
