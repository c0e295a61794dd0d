//! A real server in this process, at a scripted model server, and a client that reads event streams.

mod model_calls;

pub use model_calls::{calls, calls_as_sent, last_call, prompt, prompt_of, said, shown};

use std::{path::Path, sync::Arc, time::Duration};

use parlor::{
    hub::Hub,
    protocol::sse::{Decoder, Frame},
    server::Server,
    settings::{Endpoint, Settings},
    tools::Registry,
};
use serde_json::Value;
use tokio::{
    net::TcpListener,
    task::JoinHandle,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use upstream::{Script, Upstream, When};

use crate::openapi;

/// How long a test waits for what must come at once.
pub const SOON: Duration = Duration::from_secs(20);

/// A running Parlor.
pub struct Parlor {
    pub url: String,
    pub client: reqwest::Client,
    /// Who listens to what happens.
    pub hub: Arc<Hub>,
    stop: CancellationToken,
    served: JoinHandle<()>,
}

impl Parlor {
    /// Starts on a free port with its data in a folder and one endpoint, `test`, at the scripted server.
    pub async fn start(data: &Path, upstream: &Upstream) -> Self {
        Self::start_with(data, upstream, |_| {}).await
    }

    /// The same, with other settings.
    pub async fn start_with(data: &Path, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Self {
        Self::start_with_tools(data, upstream, Registry::default(), change).await
    }

    /// The same, with these tools.
    pub async fn start_with_tools(
        data: &Path,
        upstream: &Upstream,
        tools: Registry,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let settings = settings(data, upstream, change);
        let server = Server::open_with(settings, |_, _, _, _| tools).await;
        Self::serve(server.expect("a server")).await
    }

    /// The same, with the tools that come with Parlor.
    pub async fn start_built_in(
        data: &Path,
        upstream: &Upstream,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let settings = settings(data, upstream, change);
        Self::serve(Server::open(settings).await.expect("a server")).await
    }

    async fn serve(server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let hub = server.hub();
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
            hub,
            stop,
            served,
        }
    }

    /// Stops as on SIGTERM and waits for the end.
    pub async fn stop(self) {
        self.stop.cancel();
        timeout(SOON, self.served)
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

    /// Starts a turn and reads its stream.
    pub async fn chat(&self, body: &Value) -> Stream {
        Stream::of(self.post("/api/chat/stream", body)).await
    }

    /// Waits until so many listen to what happens.
    pub async fn listeners(&self, wanted: usize) {
        let listen = async {
            while self.hub.listeners() != wanted {
                tokio::task::yield_now().await;
            }
        };
        let listen = timeout(SOON, listen).await;
        assert!(
            listen.is_ok(),
            "{} listen instead of {wanted}",
            self.hub.listeners()
        );
    }

    /// Reads a stream.
    pub async fn follow(&self, path: &str) -> Stream {
        Stream::of(self.get(path)).await
    }
}

/// A server's settings: its data in a folder, and one endpoint at the scripted server.
fn settings(data: &Path, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    settings.server.data = data.to_owned();
    // Nobody waits for scripted answers.
    settings.timeouts.shutdown_seconds = 0.1;
    settings.endpoints = vec![Endpoint {
        name: "test".into(),
        base_url: upstream.url(),
        api_key_env: None,
        api_key: None,
        headers: Default::default(),
        context_window: None,
        context_windows: Default::default(),
        dialect: Default::default(),
    }];
    change(&mut settings);
    settings
}

/// The JSON body of a response. If it is one of the public contract, it is as the document says.
pub async fn json(response: reqwest::Response) -> Value {
    let (path, status) = (response.url().path().to_owned(), response.status().as_u16());
    let content_type = response.headers()["content-type"]
        .to_str()
        .expect("text")
        .to_owned();
    let body = serde_json::from_str(&response.text().await.expect("a body")).expect("JSON");
    openapi::check_response(&path, status, &content_type, &body);
    body
}

/// An event stream that is being read.
pub struct Stream {
    response: reqwest::Response,
    decoder: Decoder,
    frames: std::collections::VecDeque<Frame>,
}

impl Stream {
    /// The stream that a request is answered with.
    pub async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            decoder: Decoder::new(1 << 20),
            frames: Default::default(),
        }
    }

    /// The next event, with its id as `id`; `None` at the stream's end.
    pub async fn next(&mut self) -> Option<Value> {
        // Comments, which come however little happens, are nothing that is waited for.
        let soon = Instant::now() + SOON;
        while self.frames.is_empty() {
            let chunk = timeout_at(soon, self.response.chunk())
                .await
                .expect("something comes");
            let chunk = chunk.expect("the stream is whole")?;
            let mut frames = Vec::new();
            self.decoder
                .push(&chunk, &mut frames)
                .expect("no frame is too long");
            self.frames.extend(frames);
        }
        let frame = self.frames.pop_front()?;
        assert_eq!(
            frame.event, None,
            "frames are told apart by their data's type alone"
        );
        let event: Value = serde_json::from_str(&frame.data).expect("JSON");
        assert_eq!(
            frame.id,
            event.get("position").map(Value::to_string),
            "the id is the position"
        );
        openapi::check_event(&event);
        Some(event)
    }

    /// The next event of a type; others are passed over.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self
                .next()
                .await
                .unwrap_or_else(|| panic!("the stream ended before {kind}"));
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Everything to the end.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The types of events, with repeats of deltas left out, and what each call of the model came to.
pub fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    types.retain(|kind| *kind != "usage");
    types.dedup();
    types
}

/// What the deltas of a type add up to; checks that none is missing or doubled.
pub fn text(events: &[Value], kind: &str) -> String {
    let mut text = String::new();
    for event in events.iter().filter(|event| event["type"] == kind) {
        assert_eq!(
            event["offset"],
            text.len(),
            "a delta is missing or doubled: {event}"
        );
        text += event["text"].as_str().expect("a text");
    }
    text
}

/// A server at a model that answers everything with this script.
pub async fn answering(script: Script) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().expect("a folder");
    let upstream = Upstream::start().await;
    upstream.script(When::any(), script);
    let parlor = Parlor::start(folder.path(), &upstream).await;
    (folder, upstream, parlor)
}

pub fn id(event: &Value, field: &str) -> String {
    event[field].as_str().expect(field).to_owned()
}
