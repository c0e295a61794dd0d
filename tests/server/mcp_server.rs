//! An MCP server over HTTP for tests.

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
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{StreamExt, stream};
use parlor_base::settings::{
    McpServer, Secret,
    mcp::{McpTransport, SecretVariables},
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Notify, watch},
    time::timeout,
};

use crate::support::TEST_TIMEOUT;

/// A tool server: `greet`, `count` (in steps; it waits before the last), `wait` (never ends), `big`, `task`
/// (which does not support plain calls), `declared` (the same, as its list says).
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
    /// True if lists of tools are streams of events.
    streams_lists: bool,
}

impl McpTestServer {
    /// Creates a server that lists its tools only when the test sends the list.
    pub fn listing_on_demand() -> Self {
        Self(Arc::new(Inner {
            lists_on_demand: true,
            ..Inner::default()
        }))
    }

    /// Creates a server that sends its lists of tools as streams of events.
    pub fn streaming_lists() -> Self {
        Self(Arc::new(Inner {
            streams_lists: true,
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

    /// Lets the call of `count` go on.
    pub fn continue_call(&self) {
        self.0.continue_call.notify_one();
    }

    /// Forgets the current session, as a restart does.
    pub fn lose_session(&self) {
        self.0.session.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns true if the server has received any message.
    pub fn was_asked(&self) -> bool {
        !self.0.seen.borrow().is_empty()
    }

    /// Returns the received messages of a method, each with the value of its header `authorization`.
    pub fn requests(&self, method: &str) -> Vec<(String, Value)> {
        let seen = self.0.seen.borrow();
        let is_it = |(_, message): &&(String, Value)| message["method"] == method;
        seen.iter().filter(is_it).cloned().collect()
    }

    /// Waits until the server has received this method.
    pub async fn wait_for_request(&self, method: &str) {
        let mut seen = self.0.seen.subscribe();
        let is_there =
            |seen: &Vec<(String, Value)>| seen.iter().any(|(_, message)| message["method"] == method);
        let sent = timeout(TEST_TIMEOUT, seen.wait_for(is_there)).await;
        sent.expect("it is sent").expect("it is there");
    }
}

/// Starts a server and returns its URL.
pub async fn serve(routes: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

/// Returns the settings of the server at this URL.
pub fn server_config(url: String) -> McpServer {
    McpServer {
        name: "web".into(),
        transport: McpTransport::Url {
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

pub async fn handle_request(
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
            let mut list = ["greet", "count", "wait", "big", "task", "declared"].map(tool);
            list[5]["execution"] = json!({ "taskSupport": "required" });
            let list = result(json!({ "tools": list }));
            if tools.streams_lists {
                let stream = [(header::CONTENT_TYPE, "text/event-stream")];
                return (stream, format!("event: message\ndata: {list}\n\n")).into_response();
            }
            return (json, list).into_response();
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
