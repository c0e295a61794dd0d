//! The state of the server: scripts, gates, and received requests.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    pages::{Page, PlacedPage},
    script::{RequestSummary, Script, When},
};

/// The maximum number of stored requests. The oldest ones are dropped.
const MAX_KEPT_REQUESTS: usize = 500;

/// A request as received, including its key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CapturedRequest {
    pub method: String,
    pub path: String,
    /// The query as received, encoded.
    #[serde(default)]
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// A script and the requests that it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScriptRule {
    #[serde(default)]
    pub when: When,
    #[serde(flatten)]
    pub script: Script,
    /// The number of times that it is played; without it, always.
    #[serde(default)]
    pub times: Option<u64>,
}

/// A response of `/v1/models` that replaces the real one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelListing {
    #[serde(default = "ok")]
    pub status: u16,
    pub body: Value,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

fn ok() -> u16 {
    200
}

#[derive(Debug)]
pub struct UpstreamState {
    inner: Mutex<Inner>,
    gates: watch::Sender<Gates>,
    open_count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Inner {
    rules: Vec<ScriptRule>,
    pages: Vec<PlacedPage>,
    requests: VecDeque<CapturedRequest>,
    /// The pages of the list, the last of which is repeated.
    listings: VecDeque<ModelListing>,
    required_key: Option<String>,
}

#[derive(Debug, Default)]
struct Gates {
    released: HashSet<String>,
    reached: HashSet<String>,
}

/// An open stream; dropped when it ends.
pub struct OpenStream(Arc<UpstreamState>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.open_count.send_modify(|open| *open -= 1);
    }
}

impl UpstreamState {
    pub fn new(required_key: Option<String>) -> Arc<Self> {
        let inner = Inner {
            required_key,
            ..Inner::default()
        };
        Arc::new(Self {
            inner: Mutex::new(inner),
            gates: watch::channel(Gates::default()).0,
            open_count: watch::channel(0).0,
        })
    }

    /// The script added last takes precedence, so that a test can override earlier ones.
    pub fn add_script(&self, rule: ScriptRule) {
        self.inner.lock().rules.push(rule);
    }

    pub(crate) fn script_for(&self, asked: &RequestSummary) -> Option<Script> {
        let mut inner = self.inner.lock();
        let rule = inner
            .rules
            .iter_mut()
            .rev()
            .find(|rule| rule.times != Some(0) && rule.when.matches(asked))?;
        rule.times = rule.times.map(|times| times - 1);
        Some(rule.script.clone())
    }

    pub fn add_page(&self, placed: PlacedPage) {
        self.inner.lock().pages.push(placed);
    }

    pub fn page_at(&self, path: &str) -> Option<Page> {
        let mut inner = self.inner.lock();
        let placed = inner
            .pages
            .iter_mut()
            .rev()
            .find(|placed| placed.times != Some(0) && placed.path == path)?;
        placed.times = placed.times.map(|times| times - 1);
        Some(placed.page.clone())
    }

    /// Returns the models that only scripts refer to.
    pub fn scripted_models(&self) -> Vec<String> {
        let mut models: Vec<String> = self
            .inner
            .lock()
            .rules
            .iter()
            .filter_map(|rule| rule.when.model.clone())
            .collect();
        models.sort();
        models.dedup();
        models
    }

    /// Replaces the list. Its pages are sent in turn; the last one is repeated.
    pub fn set_listings(&self, pages: impl IntoIterator<Item = ModelListing>) {
        self.inner.lock().listings = pages.into_iter().collect();
    }

    pub fn next_listing(&self) -> Option<ModelListing> {
        let mut inner = self.inner.lock();
        match inner.listings.len() {
            0 | 1 => inner.listings.front().cloned(),
            _ => inner.listings.pop_front(),
        }
    }

    pub fn set_required_key(&self, key: Option<String>) {
        self.inner.lock().required_key = key;
    }

    pub fn required_key(&self) -> Option<String> {
        self.inner.lock().required_key.clone()
    }

    pub fn capture(&self, request: CapturedRequest) {
        let mut inner = self.inner.lock();
        if inner.requests.len() == MAX_KEPT_REQUESTS {
            inner.requests.pop_front();
        }
        inner.requests.push_back(request);
    }

    pub fn requests(&self) -> Vec<CapturedRequest> {
        self.inner.lock().requests.iter().cloned().collect()
    }

    /// Removes scripts, pages, requests and gates; the key stays. Waiting streams continue to wait.
    pub fn reset(&self) {
        let required_key = self.required_key();
        *self.inner.lock() = Inner {
            required_key,
            ..Inner::default()
        };
        self.gates.send_modify(|gates| *gates = Gates::default());
    }

    pub fn open_gate(&self, gate: &str) {
        self.gates
            .send_if_modified(|gates| gates.released.insert(gate.to_owned()));
    }

    pub async fn pass_gate(&self, gate: &str) {
        self.gates
            .send_if_modified(|gates| gates.reached.insert(gate.to_owned()));
        // The sender lives as long as `self`.
        let _ = self
            .gates
            .subscribe()
            .wait_for(|gates| gates.released.contains(gate))
            .await;
    }

    /// Waits until an answer has reached or passed the gate.
    pub async fn wait_for_gate(&self, gate: &str) {
        let _ = self
            .gates
            .subscribe()
            .wait_for(|gates| gates.reached.contains(gate))
            .await;
    }

    pub fn track_stream(self: &Arc<Self>) -> OpenStream {
        self.open_count.send_modify(|open| *open += 1);
        OpenStream(self.clone())
    }

    pub fn open_streams(&self) -> usize {
        *self.open_count.borrow()
    }

    /// Waits until no stream is open.
    pub async fn wait_until_closed(&self) {
        let _ = self.open_count.subscribe().wait_for(|open| *open == 0).await;
    }
}
