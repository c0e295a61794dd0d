//! A scripted model server for Parlor's tests and its benchmark. It speaks the protocols of OpenAI, Anthropic
//! and Google, plays the scripts of a test, and can fail in all the ways of real servers. Loopback only.
//!
//! ```no_run
//! # async fn example() {
//! use upstream::{Script, Upstream, When};
//!
//! let upstream = Upstream::start().await;
//! let answer = Script::new().think("Hm.").text("Hello").gate("rest").text(", world").finish("stop");
//! upstream.add_script(When::user_contains("greet"), answer);
//! // … a client asks `upstream.url()` and sees "Hello" …
//! upstream.open_gate("rest");
//! # }
//! ```
//!
//! Over HTTP: `POST /control/scripts {"when": {"user_contains": "greet"}, "steps": [{"text": "Hello"},
//! {"gate": "rest"}, {"finish": "stop"}], "times": 1}`, `POST /control/gates/rest` (`GET` waits until an
//! answer has reached it), `POST /control/pages {"path": "/search", "body": {"text": "Found."}}`, `GET
//! /control/requests`, `POST /control/reset`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "only tests and benchmarks use it"
)]

mod frames;
mod images;
mod models;
mod native_frames;
mod pages;
mod play;
mod protocol;
mod script;
mod server;
mod state;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::{net::TcpListener, task::JoinHandle};

pub use self::{
    frames::now_micros,
    images::picture,
    pages::{Page, PageBody, PlacedPage},
    protocol::{Protocol, content_text},
    script::{Script, Step, ThinkingFormat, When},
    server::without_metadata,
    state::{CapturedRequest, ModelListing, ScriptRule},
};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    state: Arc<state::UpstreamState>,
    task: JoinHandle<()>,
}

impl Upstream {
    /// Starts a server on a free port.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub async fn start() -> Self {
        Self::listen(0, None).await.expect("a free port on 127.0.0.1")
    }

    /// Starts a server on a port of 127.0.0.1 (0: any), with or without a required key.
    ///
    /// # Errors
    ///
    /// If the port cannot be listened on.
    pub async fn listen(port: u16, required_key: Option<String>) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let state = state::UpstreamState::new(required_key);
        let router = server::router(state.clone());
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Each token is sent when it is due.
            let _ = stream.set_nodelay(true);
        });
        let task = tokio::spawn(async move {
            // It ends when the task is aborted.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, state, task })
    }

    /// Returns the base URL for clients, with `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the base URL for clients that speak this protocol.
    pub fn url_for(&self, protocol: Protocol) -> String {
        let path = match protocol {
            Protocol::ChatCompletions | Protocol::Responses => "/v1",
            Protocol::Messages => "",
            Protocol::GenerateContent => "/v1beta",
        };
        self.url_of(path)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Plays this script for all matching requests from now on.
    pub fn add_script(&self, when: When, script: Script) {
        self.state.add_script(ScriptRule {
            when,
            script,
            times: None,
        });
    }

    /// Like [`add_script`](Self::add_script), a limited number of times.
    pub fn add_script_times(&self, times: u64, when: When, script: Script) {
        self.state.add_script(ScriptRule {
            when,
            script,
            times: Some(times),
        });
    }

    /// Serves a page at a path from now on. The page added last takes precedence.
    pub fn add_page(&self, path: impl Into<String>, page: Page) {
        self.state.add_page(PlacedPage {
            path: path.into(),
            page,
            times: None,
        });
    }

    /// Like [`add_page`](Self::add_page), a limited number of times.
    pub fn add_page_times(&self, times: u64, path: impl Into<String>, page: Page) {
        self.state.add_page(PlacedPage {
            path: path.into(),
            page,
            times: Some(times),
        });
    }

    /// Returns the URL of a path on this server.
    pub fn url_of(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Lets all answers pass the gate, including future ones.
    pub fn open_gate(&self, gate: &str) {
        self.state.open_gate(gate);
    }

    /// Waits until an answer has reached the gate.
    pub async fn wait_for_gate(&self, gate: &str) {
        self.state.wait_for_gate(gate).await;
    }

    /// Returns the requests so far, oldest first.
    pub fn requests(&self) -> Vec<CapturedRequest> {
        self.state.requests()
    }

    /// Sets the response of `/v1/models` from now on.
    pub fn list_models(&self, status: u16, body: serde_json::Value) {
        self.list_models_with(status, body, &[]);
    }

    /// Like [`list_models`](Self::list_models), with these headers.
    pub fn list_models_with(&self, status: u16, body: serde_json::Value, headers: &[(&str, &str)]) {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let headers = headers.collect();
        self.state.set_listings([ModelListing {
            status,
            body,
            headers,
        }]);
    }

    /// Sets the pages of the list of models, which are sent in turn.
    pub fn list_pages(&self, pages: impl IntoIterator<Item = serde_json::Value>) {
        self.state
            .set_listings(pages.into_iter().map(|body| ModelListing {
                status: 200,
                body,
                headers: std::collections::BTreeMap::new(),
            }));
    }

    pub fn require_key(&self, key: impl Into<String>) {
        self.state.set_required_key(Some(key.into()));
    }

    pub fn reset(&self) {
        self.state.reset();
    }

    /// Returns the number of answers that are being streamed.
    pub fn open_streams(&self) -> usize {
        self.state.open_streams()
    }

    /// Waits until nothing is being streamed.
    pub async fn wait_until_closed(&self) {
        self.state.wait_until_closed().await;
    }

    /// Stops accepting connections. When this returns, the port is free.
    pub async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    /// Runs until the server ends by itself, which it does not.
    pub async fn run(mut self) {
        let _ = (&mut self.task).await;
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
