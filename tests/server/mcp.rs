//! MCP over HTTP: from the model's call to the shown result.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use futures::{StreamExt, stream};
use parlor::settings::{
    McpServer, Secret,
    mcp::{McpTransport, SecretVariables},
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Notify, watch},
    time::timeout,
};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, TEST_TIMEOUT, last_system_prompt, model_calls, string_field};

/// A tool server: `greet`, `count` (in steps; it waits before the last), `wait` (never ends), `big`, `task`
/// (which does not support plain calls).
#[derive(Clone, Default)]
pub struct McpTestServer(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The received messages, with the value of the header `authorization`.
    seen: watch::Sender<Vec<(String, Value)>>,
    /// The number of the current session.
    session: AtomicUsize,
    continue_call: Notify,
    /// True if each list of tools waits until the test sends it.
    lists_on_demand: bool,
    list: Notify,
}

impl McpTestServer {
    /// Creates a server that lists its tools only when the test sends the list.
    pub fn listing_on_demand() -> Self {
        Self(Arc::new(Inner {
            lists_on_demand: true,
            ..Inner::default()
        }))
    }

    /// Sends one list of tools.
    pub fn send_tool_list(&self) {
        self.0.list.notify_one();
    }

    /// Starts the server and returns the settings for it.
    pub async fn serve(&self) -> McpServer {
        let routes = Router::new()
            .route("/mcp", post(handle_request).delete(StatusCode::OK))
            .with_state(self.clone());
        server_config(format!("{}/mcp", serve(routes).await))
    }

    fn requests(&self, method: &str) -> Vec<(String, Value)> {
        let seen = self.0.seen.borrow();
        let is_it = |(_, message): &&(String, Value)| message["method"] == method;
        seen.iter().filter(is_it).cloned().collect()
    }

    /// Waits until the server has received this method.
    async fn wait_for_request(&self, method: &str) {
        let mut seen = self.0.seen.subscribe();
        let is_there =
            |seen: &Vec<(String, Value)>| seen.iter().any(|(_, message)| message["method"] == method);
        let sent = timeout(TEST_TIMEOUT, seen.wait_for(is_there)).await;
        sent.expect("it is sent").expect("it is there");
    }
}

/// Starts a server and returns its address.
async fn serve(routes: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    address
}

fn server_config(url: String) -> McpServer {
    McpServer {
        name: "web".into(),
        reached: McpTransport::Url {
            url,
            headers: SecretVariables {
                values: [("Authorization".into(), Secret("Bearer hush".into()))].into(),
                from_environment: Default::default(),
            },
        },
        approval: None,
        timeout: TEST_TIMEOUT,
        disabled_tools: Vec::new(),
    }
}

async fn handle_request(
    State(McpTestServer(tools)): State<McpTestServer>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let header = |name: &str| {
        headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
            .to_owned()
    };
    let sent = (header("authorization"), message.clone());
    tools.seen.send_modify(|seen| seen.push(sent));
    let session = tools.session.load(Ordering::SeqCst).to_string();
    let (call, params) = (message["id"].clone(), &message["params"]);
    let result = |result: Value| json!({ "jsonrpc": "2.0", "id": call, "result": result }).to_string();
    let json = [(header::CONTENT_TYPE, "application/json")];
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let result = result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "web", "version": "0" },
                "instructions": "Greet first.",
            }));
            return ([("mcp-session-id", session)], json, result).into_response();
        }
        "server/discover" => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return (
                json,
                json!({ "jsonrpc": "2.0", "id": call, "error": error }).to_string(),
            )
                .into_response();
        }
        method if method.starts_with("notifications/") => return StatusCode::ACCEPTED.into_response(),
        _ if header("mcp-session-id") != session => return StatusCode::NOT_FOUND.into_response(),
        "tools/list" => {
            if tools.lists_on_demand {
                tools.list.notified().await;
            }
            let tool = |name| {
                let hints = json!({ "readOnlyHint": true, "title": format!("The {name} tool") });
                json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": hints })
            };
            let tools = ["greet", "count", "wait", "big", "task"].map(tool);
            return (json, result(json!({ "tools": tools }))).into_response();
        }
        _ => {}
    }
    let text = |text: &str| result(json!({ "content": [{ "type": "text", "text": text }] }));
    let progress = |done: u32| {
        let params = json!({ "progressToken": params["_meta"]["progressToken"], "progress": done, "total": 2,
                             "message": format!("step {done}") });
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string()
    };
    let frame = |data: String| Ok::<_, Infallible>(format!("event: message\ndata: {data}\n\n"));
    let events = match params["name"].as_str().unwrap_or_default() {
        "greet" => return (json, text("Hello over there.")).into_response(),
        "count" => {
            let (first, last) = (frame(progress(1)), frame(text("One, two.")));
            let wait = async move {
                tools.continue_call.notified().await;
                last
            };
            stream::iter([first]).chain(stream::once(wait)).boxed()
        }
        "task" => {
            let error = json!({ "code": -32601, "message": "This tool has to be called as a task." });
            let error = json!({ "jsonrpc": "2.0", "id": call, "error": error });
            return (json, error.to_string()).into_response();
        }
        "big" => stream::iter([frame(text(&"x".repeat(20 << 20)))]).boxed(),
        _ => stream::pending().boxed(),
    };
    let stream = [(header::CONTENT_TYPE, "text/event-stream")];
    (stream, Body::from_stream(events)).into_response()
}

/// Starts a Parlor with these tools, whose model calls one of them on request: `call greet`.
async fn parlor_with_mcp(server: McpServer) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Done."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| settings.mcp = vec![server]).await;
    (folder, upstream, parlor)
}

fn message(text: &str) -> Value {
    json!({ "message": text, "model": "test/any" })
}

fn script_call(upstream: &Upstream, tool: &str) {
    let script = Script::new().tool_call("c1", format!("web_{tool}"), r#"{"text":"for me\nplease"}"#);
    upstream.add_script_times(1, When::user_contains("call"), script);
}

fn events_of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[tokio::test]
async fn http_tool_is_called_and_reports_progress() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "count");
    let mut run = parlor.chat(&message("call it")).await;
    let start = run.next_of_type("tool_start").await;
    assert_eq!(
        (&start["tool"], &start["label"], &start["detail"]),
        (
            &json!("web_count"),
            &json!("Calling The count tool"),
            &json!("for me")
        )
    );
    let progress = run.next_of_type("tool_progress").await;
    assert_eq!(
        (&progress["message"], &progress["progress"]),
        (&json!("step 1"), &json!(0.5))
    );
    tools.0.continue_call.notify_one();
    let complete = run.next_of_type("tool_complete").await;
    assert_eq!(
        (&complete["label"], &complete["status"], &complete["output"]),
        (
            &json!("Called The count tool"),
            &json!("complete"),
            &json!("One, two.")
        )
    );
    run.next_of_type("complete").await;
    let last = model_calls(&upstream).pop().unwrap();
    let told = last["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&told["role"], &told["content"]),
        (&json!("tool"), &json!("One, two."))
    );
    let [(authorization, call)] = &tools.requests("tools/call")[..] else {
        panic!("one call")
    };
    assert_eq!(
        (authorization.as_str(), &call["params"]["arguments"]),
        ("Bearer hush", &json!({ "text": "for me\nplease" }))
    );
    parlor.stop().await;
}

#[tokio::test]
async fn stopping_a_run_cancels_its_call() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "wait");
    let mut run = parlor.chat(&message("call it")).await;
    let start = run.next_of_type("tool_start").await;
    tools.wait_for_request("tools/call").await;
    let stop = format!("/api/runs/{}/stop", string_field(&start, "message_id"));
    assert_eq!(parlor.post(&stop, &json!({})).send().await.unwrap().status(), 200);
    run.next_of_type("cancelled").await;
    tools.wait_for_request("notifications/cancelled").await;
    let (_, told) = tools.requests("notifications/cancelled").remove(0);
    assert_eq!(
        told["params"]["requestId"],
        tools.requests("tools/call")[0].1["id"]
    );
}

#[tokio::test]
async fn reconnects_after_a_lost_session() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    tools.0.session.fetch_add(1, Ordering::SeqCst);
    script_call(&upstream, "greet");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(
        events_of_type(&events, "tool_complete")[0]["output"],
        "Hello over there."
    );
}

#[tokio::test]
async fn oversized_answer_fails_only_its_call() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "big");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(
        events_of_type(&events, "tool_complete")[0]["status"],
        "failed",
        "{events:?}"
    );
    script_call(&upstream, "greet");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(
        events_of_type(&events, "tool_complete")[0]["output"],
        "Hello over there."
    );
}

#[tokio::test]
async fn page_names_servers_with_old_transport() {
    let stream = || async {
        let begin = "event: endpoint\ndata: /messages?session=1\n\n";
        let events = stream::iter([Ok::<_, Infallible>(begin)]).chain(stream::pending());
        (
            [(header::CONTENT_TYPE, "text/event-stream")],
            Body::from_stream(events),
        )
    };
    // The last failure is its proxy's and says nothing about the server.
    for (refusal, is_named) in [
        (StatusCode::METHOD_NOT_ALLOWED, true),
        (StatusCode::NOT_FOUND, true),
        (StatusCode::BAD_REQUEST, true),
        (StatusCode::BAD_GATEWAY, false),
    ] {
        let routes = Router::new().route("/sse", axum::routing::get(stream).post(refusal));
        let server = server_config(format!("{}/sse", serve(routes).await));
        let (_folder, _upstream, parlor) = parlor_with_mcp(server).await;
        // A run waits until the list is known.
        parlor.turn(None, "Hi").await;
        let list = parlor.get_json("/api/models").await.1;
        let problem = &list["problems"][0];
        assert_eq!(problem["code"], "mcp_unavailable", "{list}");
        let message = problem["message"].as_str().unwrap();
        assert!(message.contains("“web”"), "{message}");
        let names = message.contains("older HTTP+SSE transport of MCP (2024-11-05)");
        assert_eq!(names, is_named, "{refusal}: {message}");
        parlor.stop().await;
    }
}

#[tokio::test]
async fn transient_gateway_error_keeps_the_transport() {
    let (tools, failed) = (McpTestServer::default(), Arc::new(AtomicUsize::new(0)));
    let behind = tools.clone();
    // The version request fails first, and then the list, so that the session starts again.
    let proxy = move |headers: HeaderMap, body: Bytes| async move {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let fails = ["server/discover", "tools/list"].get(failed.load(Ordering::SeqCst));
        if fails.is_some_and(|method| message["method"] == *method) {
            failed.fetch_add(1, Ordering::SeqCst);
            return StatusCode::BAD_GATEWAY.into_response();
        }
        handle_request(State(behind), headers, body).await
    };
    let server = server_config(format!(
        "{}/mcp",
        serve(Router::new().route("/mcp", post(proxy))).await
    ));
    let (_folder, _upstream, parlor) = parlor_with_mcp(server).await;
    tools.wait_for_request("tools/list").await;
    assert_eq!(tools.requests("server/discover").len(), 1, "it is asked again");
    parlor.stop().await;
}

#[tokio::test]
async fn prompt_contains_server_instructions() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    parlor.turn(None, "Hi").await;
    let prompt = last_system_prompt(&upstream);
    assert!(prompt.contains("# Servers of tools"), "{prompt}");
    assert!(prompt.contains("web:\n\n```text\nGreet first.\n```"), "{prompt}");
    parlor.stop().await;
}

#[tokio::test]
async fn uncallable_tool_is_withdrawn() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "task");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(events_of_type(&events, "tool_complete")[0]["status"], "failed");
    parlor.turn(None, "Hi").await;
    let calls = model_calls(&upstream);
    let offers = |call: &Value| call["tools"].to_string().contains("web_task");
    assert_eq!((offers(&calls[0]), offers(calls.last().unwrap())), (true, false));
    parlor.stop().await;
}

#[tokio::test]
async fn redirect_does_not_leak_credentials() {
    let (elsewhere, tools) = (McpTestServer::default(), McpTestServer::default());
    let McpTransport::Url { url, .. } = elsewhere.serve().await.reached else {
        panic!("it is on the web")
    };
    let routes = Router::new().route("/mcp", post(move || async move { Redirect::temporary(&url) }));
    let redirecting = server_config(format!("{}/mcp", serve(routes).await));
    let redirecting = McpServer {
        name: "other".into(),
        ..redirecting
    };
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let here = tools.serve().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.mcp = vec![redirecting, here];
    })
    .await;
    // A run begins when all servers have listed their tools or have failed.
    upstream.add_script(When::any(), Script::new().text("Done."));
    parlor.turn(None, "Hi").await;
    assert_eq!(tools.requests("tools/list").len(), 1);
    parlor.stop().await;
    assert!(elsewhere.0.seen.borrow().is_empty());
}
