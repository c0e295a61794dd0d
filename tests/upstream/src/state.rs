//! What the server knows: the scripts to come, the gates, the requests it has seen.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    pages::{Page, Placed},
    script::{Asked, Script, When},
};

/// The last requests that are kept.
const KEPT_REQUESTS: usize = 500;

/// A request as it came, its key included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Captured {
    pub method: String,
    pub path: String,
    /// As it came, encoded.
    #[serde(default)]
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// A script and the requests that it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    #[serde(default)]
    pub when: When,
    #[serde(flatten)]
    pub script: Script,
    /// How often it is played; always, if nothing is said.
    #[serde(default)]
    pub times: Option<u64>,
}

/// What `/v1/models` answers instead of the truth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listing {
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
pub struct State {
    inner: Mutex<Inner>,
    gates: watch::Sender<Gates>,
    open: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Inner {
    rules: Vec<Rule>,
    pages: Vec<Placed>,
    requests: VecDeque<Captured>,
    listing: Option<Listing>,
    required_key: Option<String>,
}

#[derive(Debug, Default)]
struct Gates {
    released: HashSet<String>,
    reached: HashSet<String>,
}

/// A stream that has begun; dropped when it is over.
pub struct Open(Arc<State>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

impl State {
    pub fn new(required_key: Option<String>) -> Arc<Self> {
        let inner = Inner {
            required_key,
            ..Inner::default()
        };
        Arc::new(Self {
            inner: Mutex::new(inner),
            gates: watch::channel(Gates::default()).0,
            open: watch::channel(0).0,
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest script is asked first, so that a test can override what stood before it.
    pub fn add(&self, rule: Rule) {
        self.inner().rules.push(rule);
    }

    pub(crate) fn script_for(&self, asked: &Asked) -> Option<Script> {
        let mut inner = self.inner();
        let rule = inner
            .rules
            .iter_mut()
            .rev()
            .find(|rule| rule.times != Some(0) && rule.when.holds(asked))?;
        rule.times = rule.times.map(|times| times - 1);
        Some(rule.script.clone())
    }

    pub fn place(&self, placed: Placed) {
        self.inner().pages.push(placed);
    }

    pub fn page_at(&self, path: &str) -> Option<Page> {
        let mut inner = self.inner();
        let placed = inner
            .pages
            .iter_mut()
            .rev()
            .find(|placed| placed.times != Some(0) && placed.path == path)?;
        placed.times = placed.times.map(|times| times - 1);
        Some(placed.page.clone())
    }

    /// The models that only scripts know.
    pub fn scripted_models(&self) -> Vec<String> {
        let mut models: Vec<String> = self
            .inner()
            .rules
            .iter()
            .filter_map(|rule| rule.when.model.clone())
            .collect();
        models.sort();
        models.dedup();
        models
    }

    pub fn set_listing(&self, listing: Option<Listing>) {
        self.inner().listing = listing;
    }

    pub fn listing(&self) -> Option<Listing> {
        self.inner().listing.clone()
    }

    pub fn set_required_key(&self, key: Option<String>) {
        self.inner().required_key = key;
    }

    pub fn required_key(&self) -> Option<String> {
        self.inner().required_key.clone()
    }

    pub fn capture(&self, request: Captured) {
        let mut inner = self.inner();
        if inner.requests.len() == KEPT_REQUESTS {
            inner.requests.pop_front();
        }
        inner.requests.push_back(request);
    }

    pub fn requests(&self) -> Vec<Captured> {
        self.inner().requests.iter().cloned().collect()
    }

    /// Forgets scripts, pages, requests and gates; the key stays. Streams that wait go on waiting.
    pub fn reset(&self) {
        let required_key = self.required_key();
        *self.inner() = Inner {
            required_key,
            ..Inner::default()
        };
        self.gates.send_modify(|gates| *gates = Gates::default());
    }

    pub fn release(&self, gate: &str) {
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

    /// Waits until some answer stands at the gate, or has passed it.
    pub async fn reached(&self, gate: &str) {
        let _ = self
            .gates
            .subscribe()
            .wait_for(|gates| gates.reached.contains(gate))
            .await;
    }

    pub fn open(self: &Arc<Self>) -> Open {
        self.open.send_modify(|open| *open += 1);
        Open(self.clone())
    }

    pub fn open_streams(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until no stream is open.
    pub async fn all_closed(&self) {
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }
}
