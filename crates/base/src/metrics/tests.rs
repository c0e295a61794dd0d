use std::{fs, path::Path, time::Duration};

use super::{
    models::CallOutcome,
    runs::{ToolOutcome, WorkEnd, WorkKind},
    samples::{Sample, StoredWork},
    *,
};
use parlor_protocol::RunStatus;

/// Returns figures in which everything has happened once.
fn used_metrics() -> Metrics {
    let metrics = Metrics::default();
    metrics.commits.count_commit(Duration::from_millis(3), 2, 5);
    metrics.runs.count_start(WorkKind::Answer);
    metrics.runs.count_takeover(WorkKind::Job);
    metrics
        .runs
        .count_end(WorkKind::Answer, WorkEnd::Status(RunStatus::Complete));
    metrics.runs.count_tool_calls(ToolOutcome::Failed, 1);
    metrics.models.begin_call(Some("near")).receive();
    metrics
        .http
        .count_request(Some("/api/models"), "GET", 200, Duration::from_millis(1));
    metrics.samples.set(&Sample {
        stored: Some(StoredWork::default()),
        ..Sample::default()
    });
    metrics
}

/// Returns the value of a line of the exposition.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    line.parse().ok()
}

#[test]
fn histogram_counts_up_to_and_including_a_bound() {
    let metrics = Metrics::default();
    for milliseconds in [1, 2, 1000, 20_000] {
        metrics.commits.count_delta(Duration::from_millis(milliseconds));
    }
    let text = metrics.encode();
    let bucket = |bound: &str| {
        value(
            &text,
            &format!("parlor_delta_delay_seconds_bucket{{le=\"{bound}\"}}"),
        )
    };
    let counts = ["0.001", "0.0025", "0.5", "1", "10", "+Inf"].map(bucket);
    assert_eq!(counts, [1.0, 2.0, 2.0, 3.0, 3.0, 4.0].map(Some), "{text}");
    assert_eq!(value(&text, "parlor_delta_delay_seconds_count"), Some(4.0));
    assert_eq!(value(&text, "parlor_delta_delay_seconds_sum"), Some(21.003));
}

#[test]
fn endpoints_beyond_the_limit_share_a_label() {
    let metrics = Metrics::new(&MetricSettings {
        endpoints: 3,
        ..MetricSettings::default()
    });
    for number in 0..1000 {
        let name = format!("{number}\"\n\\{}", "odd ".repeat(100));
        metrics.models.begin_call(Some(&name)).end(CallOutcome::Complete);
    }
    metrics.models.begin_call(None).end(CallOutcome::Complete);
    let text = metrics.encode();
    let series = text
        .lines()
        .filter(|line| line.starts_with("parlor_model_calls_total"));
    assert_eq!(series.clone().count(), 4, "{text}");
    assert!(series.clone().all(|line| line.len() < 400), "{text}");
    let other = "parlor_model_calls_total{endpoint=\"other\",outcome=\"complete\"}";
    assert_eq!(value(&text, other), Some(998.0));
}

#[test]
fn a_dropped_call_counts_as_cut_once() {
    let metrics = Metrics::default();
    drop(metrics.models.begin_call(Some("near")));
    let mut ended = metrics.models.begin_call(Some("near"));
    ended.end(CallOutcome::Broken);
    ended.end(CallOutcome::Complete);
    drop(ended);
    let text = metrics.encode();
    let calls = |outcome: &str| {
        value(
            &text,
            &format!("parlor_model_calls_total{{endpoint=\"near\",outcome=\"{outcome}\"}}"),
        )
    };
    assert_eq!(
        ["cut", "broken", "complete"].map(calls),
        [Some(1.0), Some(1.0), None]
    );
    assert_eq!(
        value(&text, "parlor_model_calls_active{endpoint=\"near\"}"),
        Some(0.0)
    );
}

#[test]
fn figures_without_an_answer_are_missing() {
    let metrics = used_metrics();
    let running = "parlor_runs{kind=\"answer\",status=\"running\"}";
    assert_eq!(value(&metrics.encode(), running), Some(0.0));
    metrics.samples.set(&Sample::default());
    let text = metrics.encode();
    assert_eq!(value(&text, running), None);
    assert_eq!(value(&text, "parlor_queued_messages"), None);
    assert_eq!(value(&text, "parlor_runs_active{kind=\"answer\"}"), Some(0.0));
}

/// `docs/operations.md` has a row for each figure, and for nothing else.
#[test]
fn the_document_has_every_figure() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let document = fs::read_to_string(path).unwrap();
    let is_name = |name: &&str| name.starts_with("parlor_") || name.starts_with("process_");
    let documented: Vec<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .filter(is_name)
        .collect();
    let text = used_metrics().encode();
    let mut exposed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .map(|(name, _)| name)
        .collect();
    if !cfg!(target_os = "linux") {
        exposed.extend(documented.iter().filter(|name| name.starts_with("process_")));
    }
    let missing: Vec<_> = exposed.iter().filter(|name| !documented.contains(name)).collect();
    let unknown: Vec<_> = documented.iter().filter(|name| !exposed.contains(name)).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing: {missing:?}, unknown: {unknown:?}"
    );
}
