//! The figures of the report, printed as a table and written as JSON.

use serde::{Deserialize, Serialize};

use crate::{nodes::NodesResult, stream_check::Faults};

/// Percentiles of a set of durations, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Percentiles {
    /// Computes the percentiles of durations in microseconds.
    pub fn from_micros(mut micros: Vec<u32>) -> Self {
        micros.sort_unstable();
        let at = |share: f64| {
            let rank = (micros.len() as f64 * share).ceil() as usize;
            micros
                .get(rank.saturating_sub(1))
                .map_or(0.0, |micros| f64::from(*micros) / 1e3)
        };
        Self {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

/// Resident memory of the server, in megabytes (10⁶ bytes).
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Memory {
    pub before: f64,
    pub peak: f64,
    pub after: f64,
}

/// One row of the load table.
#[derive(Clone, Debug, Serialize)]
pub struct LoadResult {
    pub name: String,
    pub runs: usize,
    /// Tokens per second of each run. 0 is as fast as the model server can.
    pub per_second: f64,
    pub completed: usize,
    pub seconds: f64,
    pub tokens: u64,
    pub tokens_per_second: f64,
    pub events_per_second: f64,
    /// From the model server's stamp to the client's receipt.
    pub delay_ms: Percentiles,
    /// Delay behind the pace that the run's first token sets. Includes the delay of the model server itself.
    pub behind_ms: Percentiles,
    /// From the request to the first token.
    pub first_token_ms: Percentiles,
    pub faults: Faults,
    /// CPU seconds of the server per 10,000 tokens.
    pub cpu_per_10k: f64,
    /// The average number of busy cores: of the server, the model server, this client and everything else.
    pub cores: Cores,
    pub memory_mb: Memory,
    pub complaints: Vec<String>,
    /// Of the rows that are compared with it.
    pub bare: Option<BareResult>,
}

/// The same runs of the model server, read without Parlor just before.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BareResult {
    pub tokens_per_second: f64,
    pub delay_ms: Percentiles,
    pub first_token_ms: Percentiles,
    /// CPU seconds of the model server per 10,000 tokens.
    pub cpu_per_10k: f64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cores {
    pub server: f64,
    pub upstream: f64,
    pub client: f64,
    pub others: f64,
}

/// The result of killing a server during runs.
#[derive(Clone, Debug, Serialize)]
pub struct CrashResult {
    /// Runs of which a client had seen an event.
    pub runs: usize,
    /// From the start of the next process until it is ready. It ends interrupted runs before that.
    pub ready_ms: f64,
    /// Events that clients had seen when the server was killed.
    pub seen: u64,
    /// Seen events that the next process does not have, or has with other contents. Must be 0.
    pub missing: u64,
    /// Runs that the next process did not end as interrupted.
    pub unterminated: u64,
    pub complaints: Vec<String>,
}

/// From the start of the process, in milliseconds: the median of several starts, and the slowest one.
#[derive(Clone, Debug, Serialize)]
pub struct StartupResult {
    pub conversations: usize,
    pub starts: usize,
    pub ready_ms: (f64, f64),
    pub healthz_ms: (f64, f64),
    pub page_ms: (f64, f64),
    pub idle_mb: f64,
    pub database_mb: f64,
}

/// Databases and sessions of Python.
#[derive(Clone, Debug, Serialize)]
pub struct DataAgentResult {
    pub table_rows: usize,
    /// The page with the first rows of the table, rendered.
    pub table_ms: Percentiles,
    pub result_rows: usize,
    /// A question that is answered with such a result as a data frame: the kernel's start, the query and the frame.
    pub query_ms: f64,
    /// The memory of the server for it.
    pub query_grown_mb: f64,
    /// The first call of a session, without the time of a later one.
    pub kernel_start_ms: f64,
    /// A question that is answered with a call.
    pub call_ms: Percentiles,
    pub cells: usize,
    /// The same after a restart, which restores a session of so many calls, without the time of a call.
    pub restore_ms: f64,
    pub sessions: usize,
    /// The memory of a session, with its helper process.
    pub session_mb: f64,
}

/// From the request for a conversation to the last byte of the response, with many conversations stored.
#[derive(Clone, Debug, Serialize)]
pub struct StoredResult {
    pub conversations: usize,
    pub messages: usize,
    /// The number of messages of the long conversation.
    pub long_messages: usize,
    /// The request of the page when a conversation is clicked.
    pub snapshot_ms: Percentiles,
    /// The whole page, rendered.
    pub page_ms: Percentiles,
    pub long_snapshot_ms: Percentiles,
    pub long_page_ms: Percentiles,
    /// A conversation whose running answer has reached 200 KB.
    pub growing_snapshot_ms: Percentiles,
}

/// The time to the first token of a new conversation, by adapter.
#[derive(Clone, Debug, Serialize)]
pub struct FirstTokenResult {
    /// The number of conversations with each adapter.
    pub runs: usize,
    pub adapters: Vec<AdapterResult>,
}

#[derive(Clone, Debug, Serialize)]
pub struct AdapterResult {
    pub adapter: String,
    /// From the request to the first token.
    pub first_token_ms: Percentiles,
    /// The difference of the medians from that of chat completions.
    pub beyond_openai_ms: f64,
}

/// A large file up and down.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FilesResult {
    pub megabytes: usize,
    pub upload_mb_per_second: f64,
    pub download_mb_per_second: f64,
    /// The additional resident memory of the server at its peak.
    pub grown_mb: f64,
}

/// The cost of idle streams.
#[derive(Clone, Debug, Serialize)]
pub struct IdleResult {
    pub streams: usize,
    /// Resident memory of the server per stream, in kilobytes (10³ bytes).
    pub kb_each: f64,
    /// From sending a message until the last stream has received it.
    pub told_ms: f64,
}

/// The cost of readers that read a byte per second.
#[derive(Clone, Debug, Serialize)]
pub struct SlowReadersResult {
    pub readers: usize,
    /// Resident memory of the server per reader, in kilobytes (10³ bytes).
    pub kb_each: f64,
    /// The delay of other clients' tokens without and with the slow readers.
    pub delay_ms: (Percentiles, Percentiles),
    /// The events that all slow readers received in the end, and the time that it took.
    pub events: u64,
    pub caught_up_seconds: f64,
    /// Faults in the events of the slow readers or of the others.
    pub faults: Faults,
}

/// The first tokens of a user's answers, in the quiet and while another user floods the server.
#[derive(Clone, Debug, Serialize)]
pub struct FloodResult {
    /// The number of the other user's concurrent runs.
    pub runs: usize,
    pub first_token_ms: (Percentiles, Percentiles),
}

/// A client whose connection breaks.
#[derive(Clone, Debug, Serialize)]
pub struct ReconnectResult {
    /// The number of concurrent runs.
    pub runs: usize,
    pub times: usize,
    /// From the new connection to the first missed event.
    pub first_missed_ms: Percentiles,
    pub faults: Faults,
}

/// Bytes of one file on the wire.
#[derive(Clone, Debug, Serialize)]
pub struct AssetSize {
    pub path: String,
    pub kind: String,
    pub encoding: String,
    pub bytes: usize,
}

/// The results of the script in `benches/browser`.
#[derive(Debug, Serialize, Deserialize)]
pub struct BrowserResult {
    pub chromium: String,
    pub per_second: f64,
    pub figures: Vec<Figure>,
    /// The figures over their limit.
    pub faults: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Figure {
    pub name: String,
    pub value: Option<f64>,
    pub unit: String,
}

/// All figures.
#[derive(Debug, Serialize)]
pub struct Report {
    pub machine: crate::machine::Machine,
    pub binary_mb: f64,
    pub idle_mb: Option<f64>,
    pub sizes: Vec<AssetSize>,
    pub load: Vec<LoadResult>,
    pub idle: Option<IdleResult>,
    pub first_token: Option<FirstTokenResult>,
    pub data_agent: Option<DataAgentResult>,
    pub files: Option<FilesResult>,
    pub slow: Option<SlowReadersResult>,
    pub flood: Option<FloodResult>,
    pub reconnect: Option<ReconnectResult>,
    pub killed: Option<CrashResult>,
    pub startup: Option<StartupResult>,
    pub stored: Option<StoredResult>,
    pub browser: Option<BrowserResult>,
    pub largest: Option<BrowserResult>,
    pub nodes: Vec<NodesResult>,
    /// True if a chosen measurement was not possible.
    pub has_missing: bool,
}

impl Report {
    /// Returns true if there are faults, so that the command fails.
    pub fn has_failed(&self) -> bool {
        let slow = self.slow.as_ref().map(|slow| slow.faults);
        let reconnect = self.reconnect.as_ref().map(|reconnect| reconnect.faults);
        self.has_missing
            || self
                .load
                .iter()
                .chain(self.nodes.iter().map(|row| &row.load))
                .any(|load| load.faults != Faults::default() || load.completed != load.runs)
            || [slow, reconnect]
                .into_iter()
                .flatten()
                .any(|faults| faults != Faults::default())
            || self
                .killed
                .as_ref()
                .is_some_and(|killed| killed.missing + killed.unterminated > 0)
            || self
                .largest
                .as_ref()
                .is_some_and(|largest| !largest.faults.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_use_the_nearest_rank() {
        let spread = Percentiles::from_micros((1..=200).rev().map(|n| n * 1000).collect());
        assert_eq!(
            (spread.p50, spread.p95, spread.p99, spread.max),
            (100.0, 190.0, 198.0, 200.0)
        );
        let one = Percentiles::from_micros(vec![7000]);
        assert_eq!((one.p50, one.p95, one.p99, one.max), (7.0, 7.0, 7.0, 7.0));
        assert_eq!(Percentiles::from_micros(Vec::new()).max, 0.0);
    }
}
