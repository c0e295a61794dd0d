//! A real server in this process, with a scripted model server.

mod model_calls;
mod stream;

pub use model_calls::{
    last_messages, last_model_call, last_system_prompt, message_text, model_calls, raw_model_calls,
    system_prompt_of,
};
pub use stream::{EventStream, event_types, joined_deltas};

use std::{path::Path, sync::Arc, time::Duration};

use parlor::server::{Server, built_in_pages};
use parlor_base::settings::{
    EndpointKind, EndpointSettings, NodeSettings, Secret, Settings, StorageSettings, TitleMode,
};
use parlor_journal::hub::Hub;
use parlor_storage::{SqlStorage, Storage as _, postgres::PostgresDatabase};
use parlor_tools::ToolRegistry;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use upstream::{Protocol, Script, Upstream, When};

use crate::openapi;

/// The timeout of a wait in a test. It is generous: a machine may be busy.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A running Parlor.
pub struct Parlor {
    pub url: String,
    pub client: reqwest::Client,
    /// The token with which the first account is made, if there is none yet.
    pub setup_token: Option<String>,
    /// The hub, which counts the listeners.
    pub hub: Arc<Hub>,
    stop: CancellationToken,
    served: JoinHandle<()>,
}

impl Parlor {
    /// Starts on a free port with its data in a folder and one endpoint, `test`, at the scripted server.
    pub async fn start(data: &Path, upstream: &Upstream) -> Self {
        Self::start_with(data, upstream, |_| {}).await
    }

    /// Like [`start`](Self::start), with other settings.
    pub async fn start_with(data: &Path, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Self {
        Self::start_with_tools(data, upstream, ToolRegistry::default(), change).await
    }

    /// Like [`start_with`](Self::start_with), with these tools.
    pub async fn start_with_tools(
        data: &Path,
        upstream: &Upstream,
        tools: ToolRegistry,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let settings = with_database(settings(data, upstream, change)).await;
        let server = Server::open_with(settings, |_| tools, built_in_pages).await;
        Self::serve(server.expect("a server")).await
    }

    /// Like [`start_with`](Self::start_with), with the tools that Parlor includes.
    pub async fn start_built_in(
        data: &Path,
        upstream: &Upstream,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let settings = with_database(settings(data, upstream, change)).await;
        Self::serve(Server::open(settings).await.expect("a server")).await
    }

    pub async fn serve(server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let hub = server.hub();
        let setup_token = server.new_setup_token().await.expect("a token, or none");
        let stop = CancellationToken::new();
        let signal = stop.clone();
        let served = tokio::spawn(async move {
            server
                .serve(listener, async move { signal.cancelled().await })
                .await
                .expect("served");
        });
        Self {
            url,
            client: reqwest::Client::new(),
            setup_token,
            hub,
            stop,
            served,
        }
    }

    /// Begins to stop, as on SIGTERM.
    pub fn begin_stop(&self) {
        self.stop.cancel();
    }

    /// Stops as on SIGTERM and waits for the end.
    pub async fn stop(self) {
        self.stop.cancel();
        timeout(TEST_TIMEOUT, self.served)
            .await
            .expect("the server stops in time")
            .expect("no panic");
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    pub fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.url));
        request
            .header("content-type", "application/json")
            .body(body.to_string())
    }

    /// Gets a URL. Returns the status and the JSON body.
    pub async fn get_json(&self, path: &str) -> (u16, Value) {
        let response = self.get(path).send().await.expect("a response");
        (response.status().as_u16(), read_json(response).await)
    }

    /// Sends a message, in a conversation or in a new one, and returns all events of the turn.
    pub async fn turn(&self, conversation: Option<&str>, message: &str) -> Vec<Value> {
        let turn = json!({ "message": message, "conversation_id": conversation, "model": "test/any" });
        self.chat(&turn).await.read_to_end().await
    }

    /// Continues the answer of these events, and returns all events of its run.
    pub async fn continue_run(&self, events: &[Value]) -> Vec<Value> {
        let intent = json!({ "intent": {
            "intent_id": uuid::Uuid::now_v7(),
            "conversation_id": events[0]["conversation_id"],
            "message_id": events[0]["message_id"],
        } });
        let started = self.post("/rpc/continue_run", &intent).send().await;
        assert_eq!(started.expect("a response").status(), 200);
        let run = string_field(&events[0], "message_id");
        let events = self.follow(&format!("/api/runs/{run}/events")).await;
        events.read_to_end().await
    }

    /// Regenerates the answer of a turn, given by its events, and returns the new run.
    pub async fn regenerate(&self, turn: &[Value]) -> String {
        let again = json!({ "intent": {
            "intent_id": uuid::Uuid::now_v7(), "conversation_id": turn[0]["conversation_id"], "message_id": turn[0]["message_id"],
        } });
        let started = self
            .post("/rpc/regenerate", &again)
            .send()
            .await
            .expect("a response");
        let run = string_field(&read_json(started).await, "assistant_message_id");
        self.follow(&format!("/api/runs/{run}/events"))
            .await
            .read_to_end()
            .await;
        run
    }

    /// Starts a turn and reads its stream.
    pub async fn chat(&self, body: &Value) -> EventStream {
        EventStream::open(self.post("/api/chat/stream", body)).await
    }

    /// Returns a conversation as the page loads it.
    pub async fn transcript(&self, conversation: &str) -> Value {
        let path = format!("/rpc/conversation?conversation_id={conversation}");
        self.get_json(&path).await.1
    }

    /// Returns the next event after an event.
    pub async fn next_event(&self, event: &Value) -> Value {
        let path = format!("/api/events?after={}", event["position"]);
        self.follow(&path).await.next().await.expect("an event")
    }

    /// Waits until the hub has this number of listeners.
    pub async fn wait_for_listeners(&self, wanted: usize) {
        let listen = async {
            while self.hub.subscriber_count() != wanted {
                tokio::task::yield_now().await;
            }
        };
        let listen = timeout(TEST_TIMEOUT, listen).await;
        assert!(
            listen.is_ok(),
            "{} listen instead of {wanted}",
            self.hub.subscriber_count()
        );
    }

    /// Opens a stream.
    pub async fn follow(&self, path: &str) -> EventStream {
        EventStream::open(self.get(path)).await
    }
}

/// Returns settings with the data in a folder and one endpoint at the scripted server.
pub fn settings(data: &Path, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    settings.server.data = Some(data.into());
    // The program of the tests can't read images.
    settings.files.reader = Some(env!("CARGO_BIN_EXE_parlor").into());
    settings.python.helper = Some(env!("CARGO_BIN_EXE_parlor").into());
    // Its tests switch it on.
    settings.python.enabled = false;
    // Their calls would come at any time.
    settings.titles.mode = TitleMode::Never;
    // Scripted answers need no time to finish.
    settings.timeouts.shutdown = Duration::from_millis(100);
    // Answers end with the server; tests/process has those that go on.
    settings.agent.max_resumptions = 0;
    settings.endpoints = vec![EndpointSettings {
        name: "test".into(),
        kind: EndpointKind::OpenAi,
        base_url: upstream.url(),
        api_key_env: None,
        api_key: None,
        headers: Default::default(),
        headers_env: Default::default(),
        models: Vec::new(),
        context_window: None,
        context_windows: Default::default(),
        capabilities: Default::default(),
        lists_all_models: false,
        dialect: Default::default(),
        prompt: Default::default(),
        tools: None,
        max_tools: None,
        base_url_origin: Default::default(),
    }];
    change(&mut settings);
    settings
}

/// Returns the settings with the database that the tests run on: `PARLOR_TEST_DATABASE=postgres` gives each data folder one of
/// Postgres, `pgbouncer` the same behind PgBouncer.
pub async fn with_database(mut settings: Settings) -> Settings {
    if std::env::var("PARLOR_TEST_DATABASE")
        .is_ok_and(|database| database == "postgres" || database == POOLED)
    {
        settings.database = postgres_of(settings.server.data()).await;
    }
    settings
}

/// The value of `PARLOR_TEST_DATABASE` with which tests on Postgres reach it through a pooler.
const POOLED: &str = "pgbouncer";

/// Returns the settings of the database of Postgres that belongs to a data folder.
pub async fn postgres_of(data: &Path) -> StorageSettings {
    let prepare = async |url| {
        let folder = tempfile::tempdir().unwrap();
        let database = PostgresDatabase {
            url,
            has_pooler: false,
            readers: 1,
            nodes: NodeSettings::default(),
            max_runs: None,
        };
        let storage = SqlStorage::open_postgres(folder.path(), &database).await;
        storage.unwrap().close().await.unwrap();
    };
    let url = test_postgres::database_of(data, prepare).await;
    let pooler = std::env::var("PARLOR_TEST_DATABASE").is_ok_and(|database| database == POOLED);
    StorageSettings {
        url: Some(Secret(match pooler {
            true => test_postgres::pooled(&url).await,
            false => url,
        })),
        pooler,
        ..StorageSettings::default()
    }
}

/// Returns the protocol of a kind of endpoint.
pub fn protocol_of(kind: EndpointKind) -> Protocol {
    match kind {
        EndpointKind::OpenAi => Protocol::ChatCompletions,
        EndpointKind::OpenAiResponses => Protocol::Responses,
        EndpointKind::Anthropic => Protocol::Messages,
        EndpointKind::Gemini => Protocol::GenerateContent,
    }
}

/// Makes an endpoint one of this kind, at the scripted server.
pub fn set_kind(endpoint: &mut EndpointSettings, kind: EndpointKind, upstream: &Upstream) {
    endpoint.kind = kind;
    endpoint.base_url = upstream.url_for(protocol_of(kind));
}

/// The arguments of a tool that needs none.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

/// Returns the JSON body of a response. A response of the public contract is checked against the document.
pub async fn read_json(response: reqwest::Response) -> Value {
    let (path, status) = (response.url().path().to_owned(), response.status().as_u16());
    let content_type = response.headers()["content-type"]
        .to_str()
        .expect("text")
        .to_owned();
    let body = serde_json::from_str(&response.text().await.expect("a body")).expect("JSON");
    openapi::check_response(&path, status, &content_type, &body);
    body
}

/// Starts a server whose model answers everything with this script.
pub async fn parlor_answering(script: Script) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().expect("a folder");
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), script);
    let parlor = Parlor::start(folder.path(), &upstream).await;
    (folder, upstream, parlor)
}

/// Starts a server with these tools, whose model has no script yet.
pub async fn parlor_with_tools(
    tools: ToolRegistry,
    change: impl FnOnce(&mut Settings),
) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().expect("a folder");
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, change).await;
    (folder, upstream, parlor)
}

pub fn string_field(event: &Value, field: &str) -> String {
    event[field].as_str().expect(field).to_owned()
}
