//! Calls of model servers.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use parking_lot::RwLock;
use parlor_protocol::text::truncate_chars;
use prometheus_client::metrics::family::{Family, MetricConstructor};

use super::{Counter, Gauge, Group, Histogram, NamedLabels};

/// The bounds of the time to the first event, in seconds.
const FIRST_EVENT: &[f64] = &[0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];

/// The name of all endpoints that have none of their own.
const OTHER: &str = "other";

/// The maximum length of an endpoint's name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The outcome of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The model said that its answer is finished.
    Complete,
    /// The server refused the call, which would fail again.
    Refused,
    /// The server was busy or down.
    Unavailable,
    /// The answer broke off.
    Broken,
    /// Parlor gave the call up: a stop, a timeout or a limit.
    Cut,
}

impl CallOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Broken => "broken",
            Self::Cut => "cut",
        }
    }
}

/// The figures of model calls.
#[derive(Debug)]
pub struct ModelMetrics {
    calls: Family<NamedLabels<2>, Counter>,
    active: Family<NamedLabels<1>, Gauge>,
    first_event: Family<NamedLabels<1>, Histogram, FirstEvent>,
    /// The labels of endpoints by their names.
    names: RwLock<BTreeMap<String, Arc<str>>>,
    /// The maximum of `names`.
    max_names: usize,
    other: Arc<str>,
}

/// Makes the histograms of the time to the first event.
#[derive(Clone, Copy, Debug)]
struct FirstEvent;

impl MetricConstructor<Histogram> for FirstEvent {
    fn new_metric(&self) -> Histogram {
        Histogram::new(FIRST_EVENT)
    }
}

impl ModelMetrics {
    pub(super) fn register(group: &mut Group<'_>, max_names: usize) -> Self {
        Self {
            calls: group.counters(
                "model_calls",
                "Ended calls of models by endpoint and outcome; cut were given up by Parlor",
            ),
            active: group.gauges("model_calls_active", "Calls of models in progress"),
            first_event: group.add(
                "model_first_event_seconds",
                "Time from the request to the first event of a model's answer",
                Family::new_with_constructor(FirstEvent),
            ),
            names: RwLock::default(),
            max_names,
            other: OTHER.into(),
        }
    }

    /// Begins a call of an endpoint; `None` is one that does not have a label of its own, such as that of a person's own key.
    pub fn begin_call(&self, endpoint: Option<&str>) -> ModelCall {
        let endpoint = endpoint.map_or_else(|| self.other.clone(), |name| self.label(name));
        let labels = [("endpoint", endpoint.clone())];
        let active = self.active.get_or_create_owned(&labels);
        active.inc();
        ModelCall {
            calls: self.calls.clone(),
            active,
            first_event: Some(self.first_event.get_or_create_owned(&labels)),
            endpoint,
            began: Instant::now(),
            has_ended: false,
        }
    }

    /// Returns the label of an endpoint. Beyond the maximum all have the same one.
    fn label(&self, name: &str) -> Arc<str> {
        if let Some(label) = self.names.read().get(name) {
            return label.clone();
        }
        let mut names = self.names.write();
        if names.len() >= self.max_names {
            return self.other.clone();
        }
        let label = truncate_chars(name, MAX_NAME_CHARS);
        let label: Arc<str> = Arc::from(&*label);
        names.entry(name.to_owned()).or_insert(label).clone()
    }
}

/// A call in progress. Dropping it without an end counts it as cut.
#[derive(Debug)]
pub struct ModelCall {
    calls: Family<NamedLabels<2>, Counter>,
    active: Gauge,
    /// `None` once the first event was received.
    first_event: Option<Histogram>,
    endpoint: Arc<str>,
    began: Instant,
    has_ended: bool,
}

impl ModelCall {
    /// Notes that an event was received.
    pub fn receive(&mut self) {
        if let Some(first_event) = self.first_event.take() {
            first_event.observe_duration(self.began.elapsed());
        }
    }

    /// Counts the outcome, once.
    pub fn end(&mut self, outcome: CallOutcome) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let labels = [
            ("endpoint", self.endpoint.clone()),
            ("outcome", outcome.as_str().into()),
        ];
        self.calls.get_or_create(&labels).inc();
        self.active.dec();
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        self.end(CallOutcome::Cut);
    }
}
