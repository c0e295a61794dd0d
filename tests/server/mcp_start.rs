//! MCP servers that take their time to start: the first runs wait for them, and not for ever.

use std::{future::ready, path::Path, sync::Arc};

use futures::future::BoxFuture;
use parlor::{
    settings::{McpServer, mcp::Approval},
    tools::{AnyTool, Registry, ToolSource},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::Notify, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    mcp::Tools,
    support::{Parlor, SOON, Stream, calls},
};

/// Has no tools, and notices when somebody waits until it is known which tools there are.
#[derive(Default)]
struct Waiting(Notify);

impl ToolSource for Waiting {
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        Vec::new()
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        self.0.notify_one();
        Box::pin(ready(()))
    }
}

/// A Parlor with this server, whose model calls `greet`, and then is done.
async fn greeting(server: McpServer, seconds: f64) -> (TempDir, Upstream, Parlor) {
    greeting_beside(Registry::default(), server, seconds).await
}

/// The same, with other tools.
async fn greeting_beside(others: Registry, server: McpServer, seconds: f64) -> (TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().tool_call("c1", "web_greet", "{}"));
    upstream.script(When::tool_gave(""), Script::new().text("Done."));
    let parlor = start(folder.path(), &upstream, others, server, seconds).await;
    (folder, upstream, parlor)
}

async fn start(
    folder: &Path,
    upstream: &Upstream,
    others: Registry,
    server: McpServer,
    seconds: f64,
) -> Parlor {
    Parlor::start_with_tools(folder, upstream, others, |settings| {
        settings.mcp = vec![server];
        settings.timeouts.mcp_start_seconds = seconds;
    })
    .await
}

async fn ask(parlor: &Parlor) -> Stream {
    parlor
        .chat(&json!({ "message": "Greet", "model": "test/any" }))
        .await
}

/// The run says what it waits for.
async fn until_it_waits(run: &mut Stream) {
    while run.until("status").await["message"] != "Waiting for tools..." {}
}

#[tokio::test]
async fn the_first_run_waits_for_tools_that_are_still_to_come() {
    let tools = Tools::late();
    let (_folder, upstream, parlor) = greeting(tools.serve().await, SOON.as_secs_f64()).await;
    let mut run = ask(&parlor).await;
    until_it_waits(&mut run).await;
    assert_eq!(calls(&upstream), [] as [Value; 0], "the model is not asked yet");
    tools.list();
    assert_eq!(run.until("tool_complete").await["output"], "Hello over there.");
    run.rest().await;
    let again = ask(&parlor).await.rest().await;
    assert!(
        again
            .iter()
            .all(|event| event["message"] != "Waiting for tools..."),
        "nothing is waited for any more: {again:?}"
    );
}

#[tokio::test]
async fn a_call_that_is_allowed_right_after_a_restart_waits_for_its_tool() {
    let tools = Tools::late();
    let server = McpServer {
        approval: Some(Approval::Ask),
        ..tools.serve().await
    };
    tools.list();
    let (folder, upstream, parlor) = greeting(server.clone(), SOON.as_secs_f64()).await;
    let waiting = ask(&parlor).await.until("waiting").await;
    let run = waiting["message_id"].as_str().unwrap();
    parlor.stop().await;

    let parlor = start(
        folder.path(),
        &upstream,
        Registry::default(),
        server,
        SOON.as_secs_f64(),
    )
    .await;
    let allow = json!({ "index": 0, "answer": "allow" });
    let path = format!("/api/runs/{run}/approvals");
    assert_eq!(parlor.post(&path, &allow).send().await.unwrap().status(), 204);
    let mut run = parlor.follow(&format!("/api/runs/{run}/events")).await;
    until_it_waits(&mut run).await;
    tools.list();
    let end = run.until("tool_complete").await;
    assert_eq!(
        (&end["status"], &end["output"]),
        (&json!("complete"), &json!("Hello over there."))
    );
}

#[tokio::test]
async fn a_tool_that_is_still_to_come_can_be_forced_and_is_waited_for() {
    let tools = Tools::late();
    let waiting = Arc::new(Waiting::default());
    let sources = Registry::default().with_source(waiting.clone());
    let server = tools.serve().await;
    let (_folder, upstream, parlor) = greeting_beside(sources, server, SOON.as_secs_f64()).await;
    let body = json!({ "message": "Greet", "model": "test/any", "force_tools": ["web_greet"] });
    let sent = tokio::spawn(parlor.post("/api/chat/stream", &body).send());
    let waits = timeout(SOON, waiting.0.notified()).await;
    assert!(waits.is_ok(), "it is not refused, and waits");
    tools.list();
    let response = sent.await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.text().await.unwrap().contains("Hello over there."));
    assert_eq!(
        calls(&upstream)[0]["tool_choice"]["function"]["name"],
        "web_greet"
    );
    // A name that nobody has is refused still.
    let other = json!({ "message": "Greet", "model": "test/any", "force_tools": ["web_shout"] });
    let refused = parlor.post("/api/chat/stream", &other).send().await.unwrap();
    assert_eq!(refused.status(), 422);
}

#[tokio::test]
async fn a_server_that_never_lists_its_tools_is_not_waited_for_for_ever() {
    let tools = Tools::late();
    let (_folder, upstream, parlor) = greeting(tools.serve().await, 0.05).await;
    let events = ask(&parlor).await.rest().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    assert_eq!(
        calls(&upstream)[0]["tools"],
        Value::Null,
        "it was asked without them"
    );
}

#[tokio::test]
async fn a_run_that_waits_for_tools_can_be_stopped() {
    let tools = Tools::late();
    let (_folder, upstream, parlor) = greeting(tools.serve().await, SOON.as_secs_f64()).await;
    let mut run = ask(&parlor).await;
    let started = run.until("run_started").await;
    until_it_waits(&mut run).await;
    let stop = format!("/api/runs/{}/stop", started["message_id"].as_str().unwrap());
    assert_eq!(parlor.post(&stop, &json!({})).send().await.unwrap().status(), 200);
    run.until("cancelled").await;
    assert_eq!(calls(&upstream), [] as [Value; 0]);
}
