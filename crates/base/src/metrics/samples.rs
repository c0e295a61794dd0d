//! The figures that are read at the moment of a scrape.

use std::time::{Duration, Instant};

use prometheus_client::metrics::{family::Family, info::Info};

use super::{Gauge, Group, Labels, runs::WorkKind};

/// The values at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Answers and jobs on which this process works.
    pub active: WorkCount,
    /// The figures of the database; `None` if it does not answer.
    pub stored: Option<StoredWork>,
    /// Intents and output that wait for the writer.
    pub queued_changes: (usize, usize),
    /// The time for which the commit in progress has lasted.
    pub commit_in_progress: Duration,
    pub subscribers: usize,
    pub share_watchers: usize,
    pub python_sessions: usize,
    pub connections: ConnectionCount,
    /// True if this process may store something.
    pub has_lease: bool,
}

/// Numbers by kind of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCount {
    pub answers: usize,
    pub jobs: usize,
}

/// The work that the database has, of all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredWork {
    pub running: WorkCount,
    /// Answers that wait for a person.
    pub waiting_answers: usize,
    /// Messages that wait for the end of an answer.
    pub queued_messages: usize,
}

/// Connections for reading the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCount {
    pub open: usize,
    pub idle: usize,
    pub max: usize,
}

/// The figures that are read when they are asked for.
#[derive(Debug)]
pub struct Samples {
    started: Instant,
    uptime: Gauge,
    active: Family<Labels<1>, Gauge>,
    stored: Family<Labels<2>, Gauge>,
    queued_messages: Family<Labels<0>, Gauge>,
    queued_changes: Family<Labels<1>, Gauge>,
    commit_in_progress: prometheus_client::metrics::gauge::Gauge<f64, std::sync::atomic::AtomicU64>,
    subscribers: Gauge,
    share_watchers: Gauge,
    python_sessions: Gauge,
    connections: Family<Labels<1>, Gauge>,
    max_connections: Gauge,
    has_lease: Gauge,
}

impl Samples {
    pub(super) fn register(group: &mut Group<'_>) -> Self {
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        group.0.register("build", "The version of Parlor", build);
        Self {
            started: Instant::now(),
            uptime: group.gauge("uptime_seconds", "Time since the server was started"),
            active: group.gauges("runs_active", "Answers and jobs on which this process works"),
            stored: group.gauges(
                "runs",
                "Answers and jobs that have not ended, of all processes, as the database has them",
            ),
            queued_messages: group.gauges(
                "queued_messages",
                "Messages that wait for the end of an answer, as the database has them",
            ),
            queued_changes: group.gauges("queued_changes", "Changes that wait for the next commit"),
            commit_in_progress: group.add(
                "commit_in_progress_seconds",
                "Time for which the present commit has lasted, with its repetitions after failures",
                Default::default(),
            ),
            subscribers: group.gauge("subscribers", "Live subscribers of logs, such as event streams"),
            share_watchers: group.gauge("share_watchers", "Readers who watch live shares"),
            python_sessions: group.gauge("python_sessions", "Sessions of Python"),
            connections: group.gauges(
                "database_connections",
                "Open connections for reading the database; one more writes",
            ),
            max_connections: group.gauge(
                "database_connections_max",
                "The highest number of connections for reading the database",
            ),
            has_lease: group.gauge("lease_held", "1 while this process may store something"),
        }
    }

    /// Sets all of them.
    pub fn set(&self, sample: &Sample) {
        set(
            &self.uptime,
            usize::try_from(self.started.elapsed().as_secs()).unwrap_or(usize::MAX),
        );
        for kind in WorkKind::ALL {
            let count = of_kind(sample.active, kind);
            set(&self.active.get_or_create(&[("kind", kind.as_str())]), count);
        }
        match &sample.stored {
            Some(stored) => self.set_stored(stored),
            // An old number would look like a present one.
            None => {
                self.stored.clear();
                self.queued_messages.clear();
            }
        }
        let (intents, output) = sample.queued_changes;
        for (queue, length) in [("intents", intents), ("output", output)] {
            set(&self.queued_changes.get_or_create(&[("queue", queue)]), length);
        }
        self.commit_in_progress
            .set(sample.commit_in_progress.as_secs_f64());
        set(&self.subscribers, sample.subscribers);
        set(&self.share_watchers, sample.share_watchers);
        set(&self.python_sessions, sample.python_sessions);
        let connections = sample.connections;
        let busy = connections.open.saturating_sub(connections.idle);
        for (state, count) in [("busy", busy), ("idle", connections.idle)] {
            set(&self.connections.get_or_create(&[("state", state)]), count);
        }
        set(&self.max_connections, connections.max);
        set(&self.has_lease, usize::from(sample.has_lease));
    }

    fn set_stored(&self, stored: &StoredWork) {
        for kind in WorkKind::ALL {
            let labels = [("kind", kind.as_str()), ("status", "running")];
            set(&self.stored.get_or_create(&labels), of_kind(stored.running, kind));
        }
        let waiting = [("kind", WorkKind::Answer.as_str()), ("status", "waiting")];
        set(&self.stored.get_or_create(&waiting), stored.waiting_answers);
        set(&self.queued_messages.get_or_create(&[]), stored.queued_messages);
    }
}

fn of_kind(count: WorkCount, kind: WorkKind) -> usize {
    match kind {
        WorkKind::Answer => count.answers,
        WorkKind::Job => count.jobs,
    }
}

fn set(gauge: &Gauge, value: usize) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}
