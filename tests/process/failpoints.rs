//! Crashes between any two steps that end a run, and between any two steps of the recovery: each turn has
//! exactly one answer and one end, and every event that a client has seen is stored.

use std::{collections::BTreeSet, fs, panic::AssertUnwindSafe, path::Path};

use futures::{FutureExt, StreamExt, stream};
use parlor_protocol::{
    AssistantMessage, EventBody, MessageBody, MessageId, RunStatus, transcript::apply_to_run,
};
use serde_json::json;
use tokio::{sync::oneshot, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT,
    client::{ObservedRun, query_sql, read_log, stored_message},
    schedules::SCHEDULE_POINTS,
};

/// The number of servers that run concurrently.
const MAX_CONCURRENT: usize = 3;

/// The part of a run's end that is stored after a crash at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Remainder {
    /// Nothing: the next start ends the run.
    Nothing,
    /// The whole end.
    Complete,
    /// Either of them: the point is not a step of the end, but runs at the same time.
    Either,
}

/// Every failpoint of a run's end, in order.
const RUN_END_POINTS: [(&str, Remainder); 15] = [
    ("runs::ending", Remainder::Nothing),
    ("journal::taken", Remainder::Nothing),
    ("commit::beginning", Remainder::Nothing),
    ("end::status", Remainder::Nothing),
    ("end::message", Remainder::Nothing),
    ("end::conversation", Remainder::Nothing),
    ("commit::changed", Remainder::Nothing),
    ("commit::committed", Remainder::Complete),
    ("journal::committed", Remainder::Complete),
    ("journal::published", Remainder::Complete),
    ("journal::answered", Remainder::Complete),
    ("runs::ended", Remainder::Complete),
    ("runs::left", Remainder::Complete),
    ("checkpoint::beginning", Remainder::Either),
    ("checkpoint::copied", Remainder::Either),
];

/// The failpoints that only recovery reaches, if the last process left a run.
const RECOVERY_POINTS: [&str; 3] = ["recovery::found", "recovery::ending", "recovery::done"];

/// The failpoint of the next message of a queue: see `queue`.
const QUEUE_POINT: &str = "queue::found";

/// The failpoints of files: see `files`.
const FILE_POINTS: [&str; 4] = [
    "files::written",
    "files::deleting",
    "files::deleted",
    "files::moved",
];

/// The failpoints of the deletion of an account: see `hand_over`.
const DELETION_POINTS: [&str; 2] = ["deletion::begun", "deletion::stopped"];

/// The failpoints of changes of model servers: see `endpoints`.
pub const ENDPOINT_POINTS: [&str; 2] = ["endpoints::begun", "endpoints::committed"];

/// The failpoints of the steps of jobs: see `jobs`.
pub const JOB_POINTS: [&str; 5] = [
    "job::started",
    "job::performed",
    "job::finished",
    "job::ending",
    "job::ended",
];

/// The failpoint of the deletion of a project: see `projects`.
pub const PROJECT_POINT: &str = "projects::left";

/// A failpoint at which the first server leaves its run without an end.
const UNFINISHED_RUN_POINT: &str = "commit::beginning";

/// The possible ends of the run.
const FINAL_STATUSES: [RunStatus; 3] = [RunStatus::Complete, RunStatus::Stopped, RunStatus::Failed];

/// A case: the failpoint of the first server, that of the second one if it crashes too, and the intended end
/// of the run.
#[derive(Clone, Copy, Debug)]
struct CrashCase {
    first_crash: &'static str,
    second_crash: Option<&'static str>,
    end: RunStatus,
    remainder: Remainder,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_while_ending_leaves_one_end() {
    let cases = RUN_END_POINTS.iter().flat_map(|&(dies_at, left)| {
        FINAL_STATUSES.map(|end| CrashCase {
            first_crash: dies_at,
            second_crash: None,
            end,
            remainder: left,
        })
    });
    check_all(cases).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_during_recovery_changes_nothing() {
    // Ends that recovery commits reach the same points as all others.
    let shared = RUN_END_POINTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.starts_with("runs::") && !name.starts_with("checkpoint::"));
    let cases = RECOVERY_POINTS
        .into_iter()
        .chain(shared)
        .map(|again_at| CrashCase {
            first_crash: UNFINISHED_RUN_POINT,
            second_crash: Some(again_at),
            end: RunStatus::Complete,
            remainder: Remainder::Nothing,
        });
    check_all(cases).await;
}

#[test]
fn tables_list_every_crash_point() {
    let in_tables = RUN_END_POINTS
        .iter()
        .map(|(name, _)| *name)
        .chain(RECOVERY_POINTS)
        .chain([QUEUE_POINT])
        .chain(FILE_POINTS)
        .chain(DELETION_POINTS)
        .chain(ENDPOINT_POINTS)
        .chain(SCHEDULE_POINTS)
        .chain(JOB_POINTS)
        .chain([PROJECT_POINT]);
    let in_tables: BTreeSet<String> = in_tables.map(str::to_owned).collect();
    let mut in_source = BTreeSet::new();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "crates"] {
        collect_points(&repository.join(folder), &mut in_source);
    }
    assert_eq!(in_source, in_tables);
}

/// Collects the names of the failpoints in a folder's source files.
fn collect_points(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_points(&path, names);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for call in source.split("crash_point!(").skip(1) {
            let name = call.split('"').nth(1).expect("a name");
            assert!(names.insert(name.to_owned()), "two points have the name {name}");
        }
    }
}

async fn check_all(cases: impl Iterator<Item = CrashCase>) {
    parlor_web::http_client::install_tls();
    let outcomes = stream::iter(cases).map(|case| async move {
        // The failure is printed where it occurs; here only the case.
        AssertUnwindSafe(check_case(case))
            .catch_unwind()
            .await
            .err()
            .map(|_| case)
    });
    let wrong: Vec<CrashCase> = outcomes
        .buffer_unordered(MAX_CONCURRENT)
        .filter_map(|wrong| async move { wrong })
        .collect()
        .await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn check_case(case: CrashCase) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let answer = Script::new().think("Well…").text("one").text(" two").gate("end");
    upstream.add_script(
        When::user_contains("count"),
        match case.end {
            RunStatus::Failed => answer.error_object(json!({ "message": "out of memory" })),
            _ => answer.text(" three").finish("stop"),
        },
    );
    upstream.add_script(When::user_contains("again"), Script::new().text("as before"));

    let seen = run_until_crash(folder.path(), &upstream, case).await;
    if let Some(again_at) = case.second_crash {
        Server::crash_at_start(folder.path(), &upstream, again_at).await;
    }

    let server = Server::start(folder.path(), &upstream).await;
    check_recovered(&server.url, folder.path(), &seen, case).await;
}

/// Starts a server that will crash, and a run; ends the run. Returns the events that its client has seen
/// until the crash.
async fn run_until_crash(data: &Path, upstream: &Upstream, case: CrashCase) -> ObservedRun {
    let server = Server::start_with_failpoint(data, upstream, case.first_crash).await;
    let (begun, run) = oneshot::channel();
    let ask = json!({ "message": "count", "model": "openai/echo" });
    let client = tokio::spawn(ObservedRun::read_turn(server.url.clone(), ask, Some(begun)));
    let run = timeout(TEST_TIMEOUT, run)
        .await
        .expect("the run starts")
        .expect("a run");
    if case.end == RunStatus::Stopped {
        stop_run(&server.url, run).await;
    } else {
        upstream.open_gate("end");
    }
    server.expect_crash().await;
    timeout(TEST_TIMEOUT, client)
        .await
        .expect("the connection breaks")
        .expect("no panic")
}

async fn stop_run(url: &str, run: MessageId) {
    let asked = reqwest::Client::new()
        .post(format!("{url}/api/runs/{run}/stop"))
        .send()
        .await;
    // The server may crash before it responds.
    drop(asked);
}

async fn check_recovered(url: &str, data: &Path, seen: &ObservedRun, case: CrashCase) {
    let run = seen.run.expect("the client has seen its run");
    let MessageBody::Assistant(kept) = stored_message(url, run).await.body else {
        panic!("a run's message is an answer")
    };
    let expected = match case.remainder {
        Remainder::Nothing => RunStatus::Interrupted,
        Remainder::Complete => case.end,
        Remainder::Either if kept.status == RunStatus::Interrupted => RunStatus::Interrupted,
        Remainder::Either => case.end,
    };
    assert_eq!(kept.status, expected, "{case:?}");

    // The seen events are stored, and only once.
    let shown = seen.answer.as_ref().expect("an answer had begun").text();
    assert!(kept.text().starts_with(&shown), "seen: {shown:?}, kept: {kept:?}");
    let head: i64 = query_sql(data, "SELECT max(position) FROM events").await;
    let log = read_log(url, 0, head.unsigned_abs()).await;
    let positions: Vec<u64> = log.iter().map(|event| event.position.0).collect();
    assert_eq!(
        positions,
        (1..=head.unsigned_abs()).collect::<Vec<_>>(),
        "{case:?}"
    );
    for event in &seen.events {
        assert!(
            log.contains(event),
            "{event:?} was shown and is not in the log: {case:?}"
        );
    }

    // The turn has one answer and one end, and its log matches its message.
    let of_run = log.iter().filter(|event| event.message_id == Some(run));
    let ends: Vec<RunStatus> = of_run
        .clone()
        .filter_map(|event| event.body.terminal_status())
        .collect();
    assert_eq!(ends, [expected], "{case:?}");
    let mut folded = AssistantMessage::new("openai/echo");
    for event in of_run {
        if let EventBody::Run(event) = &event.body {
            apply_to_run(&mut folded, event).expect("no gap");
        }
    }
    assert_eq!(folded, kept, "{case:?}");
    let [messages, open]: [i64; 2] = [
        query_sql(data, "SELECT count(*) FROM messages").await,
        query_sql(
            data,
            "SELECT count(*) FROM runs WHERE status IN ('running', 'waiting')",
        )
        .await,
    ];
    assert_eq!((messages, open), (2, 0), "{case:?}");
    let integrity: String = query_sql(data, "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok", "{case:?}");

    // The conversation can be continued.
    let conversation = seen.events[0].conversation_id;
    let ask = json!({ "message": "again", "conversation_id": conversation });
    let more = ObservedRun::read_turn(url.to_owned(), ask, None).await;
    let answer = more.answer.expect("an answer");
    assert_eq!(
        (answer.status, &*answer.text()),
        (RunStatus::Complete, "as before"),
        "{case:?}"
    );
}
