//! The figures of a server for operators, in the form of Prometheus. This is the only place that defines them.
//!
//! The parts record what they do through one [`Metrics`], and know nothing of HTTP; `src/http/metrics.rs` serves
//! [`Metrics::encode`]. Each server has its own. What each figure means is in its help text here, and in
//! `docs/operations.md`, which a test compares.
//!
//! | group | what it counts |
//! |---|---|
//! | [`commits`] | commits of the journal, the delay of tokens, what the followers of logs miss |
//! | [`runs`] | starts and ends of answers and jobs, the first token, tool calls |
//! | [`models`] | calls of model servers, by endpoint |
//! | [`http`] | requests, by the template of their route |
//! | [`database`] | the wait for a connection |
//! | [`samples`] | what is read at the moment of a scrape: active runs, connections, sessions, subscribers |
//! | [`process`] | memory, processor time and open files of the process |
//!
//! - Labels are bounded: they come from enums and from the routes, but for the names of endpoints, of which there are at most
//!   `metrics.endpoints`. No label has an id, an address, or a text of a user or a model.
//! - On the way of a token there is neither a lock nor an allocation: the writer observes a commit's deltas together, with two
//!   atomic additions each ([`Histogram`]). What has labels is recorded once a run, a call or a request.
//! - The registry, its types and the format are those of `prometheus-client`, the library of the Prometheus project: it adds
//!   three small crates. Its histogram has a lock, which is why the histogram is our own.

use std::sync::{Arc, atomic::AtomicU64};

use prometheus_client::{
    encoding::{EncodeLabelSet, prometheus_text},
    metrics::{counter, family::Family, gauge},
    registry::{Metric, Registry},
};

use self::{
    commits::CommitMetrics, database::DatabaseMetrics, http::HttpMetrics, models::ModelMetrics,
    process::ProcessCollector, runs::RunMetrics, samples::Samples,
};
use crate::settings::MetricSettings;

pub mod commits;
pub mod database;
mod histogram;
pub mod http;
pub mod models;
pub mod process;
pub mod runs;
pub mod samples;

#[cfg(test)]
mod tests;

pub use self::histogram::Histogram;

/// The media type of the exposition.
pub const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

type Counter = counter::Counter<u64, AtomicU64>;
type Gauge = gauge::Gauge;

/// The names and values of labels whose values are constants.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// The names and values of labels whose values are known at run time.
type NamedLabels<const N: usize> = [(&'static str, Arc<str>); N];

/// All figures of one server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub commits: CommitMetrics,
    pub runs: RunMetrics,
    pub models: ModelMetrics,
    pub http: HttpMetrics,
    pub database: DatabaseMetrics,
    pub samples: Samples,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(&MetricSettings::default())
    }
}

impl Metrics {
    /// Creates the figures of a server that starts now.
    pub fn new(settings: &MetricSettings) -> Self {
        let mut registry = Registry::default();
        let mut group = Group(registry.sub_registry_with_prefix("parlor"));
        let commits = CommitMetrics::register(&mut group);
        let runs = RunMetrics::register(&mut group);
        let models = ModelMetrics::register(&mut group, settings.endpoints);
        let http = HttpMetrics::register(&mut group);
        let database = DatabaseMetrics::register(&mut group);
        let samples = Samples::register(&mut group);
        registry.register_collector(Box::new(ProcessCollector));
        Self {
            registry,
            commits,
            runs,
            models,
            http,
            database,
            samples,
        }
    }

    /// Returns all figures in the text format of Prometheus.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        if prometheus_text::encode(&mut text, &self.registry).is_err() {
            // Writing to a text does not fail.
            tracing::error!("the metrics can't be written");
        }
        text
    }
}

/// Registers figures under the prefix of Parlor. Help texts end without a full stop, which the format adds.
struct Group<'a>(&'a mut Registry);

impl Group<'_> {
    fn add<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }

    /// Adds a counter. The format appends `_total` to its name.
    fn counter(&mut self, name: &str, help: &str) -> Counter {
        self.add(name, help, Counter::default())
    }

    fn counters<L: Key>(&mut self, name: &str, help: &str) -> Family<L, Counter> {
        self.add(name, help, Family::default())
    }

    fn gauge(&mut self, name: &str, help: &str) -> Gauge {
        self.add(name, help, Gauge::default())
    }

    fn gauges<L: Key>(&mut self, name: &str, help: &str) -> Family<L, Gauge> {
        self.add(name, help, Family::default())
    }

    fn histogram(&mut self, name: &str, help: &str, bounds: &'static [f64]) -> Histogram {
        self.add(name, help, Histogram::new(bounds))
    }
}

/// A set of labels.
trait Key: EncodeLabelSet + Clone + std::hash::Hash + Eq + std::fmt::Debug + Send + Sync + 'static {}

impl<T: EncodeLabelSet + Clone + std::hash::Hash + Eq + std::fmt::Debug + Send + Sync + 'static> Key for T {}
