//! The server dies between any two steps that end a run, and between any two that end what a crash has left: each turn has one
//! answer and one end all the same, and whoever was shown something finds it again.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::process::ExitStatusExt,
    panic::AssertUnwindSafe,
    path::Path,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use futures::{FutureExt, StreamExt, stream};
use parlor::protocol::{AssistantMessage, MessageBody, MessageId, RunStatus, transcript::apply_to_run};
use serde_json::json;
use tokio::{process::Child, sync::oneshot, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    SOON, Server,
    client::{Seen, log, query, stored},
};

/// How soon after the restart every run must have its end.
const RECOVERY: Duration = Duration::from_secs(2);

/// How many servers die at a time.
const TOGETHER: usize = 3;

/// What a crash at a point leaves of the end that the run was about to have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Left {
    /// Nothing: the next start ends the run.
    Nothing,
    /// All of it.
    TheEnd,
    /// The one or the other: the point is not a step of the end, but comes beside it.
    Either,
}

/// Every point that a run's end goes by, in order.
const ENDING: [(&str, Left); 18] = [
    ("runs::ending", Left::Nothing),
    ("journal::taken", Left::Nothing),
    ("commit::beginning", Left::Nothing),
    ("commit::begun", Left::Nothing),
    ("end::status", Left::Nothing),
    ("end::message", Left::Nothing),
    ("end::conversation", Left::Nothing),
    ("commit::changed", Left::Nothing),
    ("commit::logged", Left::Nothing),
    ("commit::stored", Left::Nothing),
    ("commit::committed", Left::TheEnd),
    ("journal::committed", Left::TheEnd),
    ("journal::published", Left::TheEnd),
    ("journal::answered", Left::TheEnd),
    ("runs::ended", Left::TheEnd),
    ("runs::left", Left::TheEnd),
    ("checkpoint::beginning", Left::Either),
    ("checkpoint::copied", Left::Either),
];

/// Every point that only the next start goes by, if the last process left a run.
const RECOVERING: [&str; 3] = ["recovery::found", "recovery::ending", "recovery::done"];

/// A point where the first server leaves its run without an end.
const LEAVES_A_RUN: &str = "commit::begun";

/// How the run ends, if nothing comes between.
const ENDS: [RunStatus; 3] = [RunStatus::Complete, RunStatus::Stopped, RunStatus::Failed];

/// The point at which the first server dies, the one at which the second does, if it does, and how the run was to end.
#[derive(Clone, Copy, Debug)]
struct Case {
    dies_at: &'static str,
    again_at: Option<&'static str>,
    end: RunStatus,
    left: Left,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_the_server_dies_while_a_run_ends_the_turn_has_one_answer_and_one_end() {
    let cases = ENDING.iter().flat_map(|&(dies_at, left)| {
        ENDS.map(|end| Case {
            dies_at,
            again_at: None,
            end,
            left,
        })
    });
    all_hold(cases).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_again_while_it_ends_what_the_first_one_left_changes_nothing() {
    // What recovery hands to the journal goes by the same points as any other end.
    let shared = ENDING
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.starts_with("runs::") && !name.starts_with("checkpoint::"));
    let cases = RECOVERING.into_iter().chain(shared).map(|again_at| Case {
        dies_at: LEAVES_A_RUN,
        again_at: Some(again_at),
        end: RunStatus::Complete,
        left: Left::Nothing,
    });
    all_hold(cases).await;
}

#[test]
fn every_point_in_the_source_is_in_the_tables() {
    let in_tables = ENDING.iter().map(|(name, _)| *name).chain(RECOVERING);
    let in_tables: BTreeSet<String> = in_tables.map(str::to_owned).collect();
    let mut in_source = BTreeSet::new();
    points_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut in_source);
    assert_eq!(in_source, in_tables);
}

/// Adds the names of the points in a folder's source files.
fn points_below(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            points_below(&path, names);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for call in source.split("crash_point!(").skip(1) {
            let name = call.split('"').nth(1).expect("a name");
            assert!(names.insert(name.to_owned()), "two points have the name {name}");
        }
    }
}

async fn all_hold(cases: impl Iterator<Item = Case>) {
    parlor::outgoing::install_tls();
    let outcomes = stream::iter(cases).map(|case| async move {
        // What is wrong is printed where it is found; here only, with which of them.
        AssertUnwindSafe(holds(case))
            .catch_unwind()
            .await
            .err()
            .map(|_| case)
    });
    let wrong: Vec<Case> = outcomes
        .buffer_unordered(TOGETHER)
        .filter_map(|wrong| async move { wrong })
        .collect()
        .await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn holds(case: Case) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let answer = Script::new().think("Well…").text("one").text(" two").gate("end");
    upstream.script(
        When::user_contains("count"),
        match case.end {
            RunStatus::Failed => answer.error_object(json!({ "message": "out of memory" })),
            _ => answer.text(" three").finish("stop"),
        },
    );
    upstream.script(When::user_contains("again"), Script::new().text("as before"));

    let seen = until_it_dies(folder.path(), &upstream, case).await;
    if let Some(again_at) = case.again_at {
        let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
        command.env("FAILPOINTS", format!("{again_at}=return"));
        let mut second = command.stdout(Stdio::null()).spawn().expect("the server starts");
        assert_died(end_of(&mut second).await, case);
    }

    let restarted = Instant::now();
    let server = Server::start(folder.path(), &upstream).await;
    check(&server.url, folder.path(), &seen, case, restarted).await;
}

/// Starts a server that is to die, and a run; ends the run and gives what its client has seen when the server is dead.
async fn until_it_dies(data: &Path, upstream: &Upstream, case: Case) -> Seen {
    let mut command = Server::command(data, upstream, "127.0.0.1:0");
    command.env("FAILPOINTS", format!("{}=return", case.dies_at));
    let mut server = Server::run(&mut command).await;
    let (begun, run) = oneshot::channel();
    let ask = json!({ "message": "count", "model": "openai/echo" });
    let client = tokio::spawn(Seen::until_the_end(server.url.clone(), ask, Some(begun)));
    let run = timeout(SOON, run).await.expect("it begins").expect("a run");
    if case.end == RunStatus::Stopped {
        stop(&server.url, run).await;
    } else {
        upstream.release("end");
    }
    assert_died(end_of(&mut server.child).await, case);
    timeout(SOON, client)
        .await
        .expect("the connection breaks")
        .expect("no panic")
}

async fn stop(url: &str, run: MessageId) {
    let asked = reqwest::Client::new()
        .post(format!("{url}/api/runs/{run}/stop"))
        .send()
        .await;
    // The server may be dead before it can answer.
    drop(asked);
}

async fn end_of(server: &mut Child) -> ExitStatus {
    timeout(SOON, server.wait())
        .await
        .expect("it dies")
        .expect("its status")
}

/// It ended at its failpoint, and not by itself.
fn assert_died(status: ExitStatus, case: Case) {
    const SIGABRT: i32 = 6;
    assert_eq!(status.signal(), Some(SIGABRT), "{status} {case:?}");
}

async fn check(url: &str, data: &Path, seen: &Seen, case: Case, restarted: Instant) {
    let run = seen.run.expect("the client has seen its run");
    let MessageBody::Assistant(kept) = stored(url, run).await.body else {
        panic!("a run's message is an answer")
    };
    assert!(restarted.elapsed() < RECOVERY, "{:?}", restarted.elapsed());
    let expected = match case.left {
        Left::Nothing => RunStatus::Interrupted,
        Left::TheEnd => case.end,
        Left::Either if kept.status == RunStatus::Interrupted => RunStatus::Interrupted,
        Left::Either => case.end,
    };
    assert_eq!(kept.status, expected, "{case:?}");

    // What was seen is there, and once.
    let shown = seen.answer.as_ref().expect("an answer had begun").text();
    assert!(kept.text().starts_with(&shown), "seen: {shown:?}, kept: {kept:?}");
    let head: i64 = query(data, "SELECT max(position) FROM events").await;
    let log = log(url, 0, head.unsigned_abs()).await;
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

    // The turn has one answer and one end, and its log says the same as its message.
    let of_run = log.iter().filter(|event| event.message_id == Some(run));
    let ends: Vec<RunStatus> = of_run
        .clone()
        .filter_map(|event| event.body.terminal_status())
        .collect();
    assert_eq!(ends, [expected], "{case:?}");
    let mut folded = AssistantMessage::started("openai/echo");
    for event in of_run {
        apply_to_run(&mut folded, &event.body).expect("no gap");
    }
    assert_eq!(folded, kept, "{case:?}");
    let [messages, open]: [i64; 2] = [
        query(data, "SELECT count(*) FROM messages").await,
        query(
            data,
            "SELECT count(*) FROM runs WHERE status IN ('running', 'waiting')",
        )
        .await,
    ];
    assert_eq!((messages, open), (2, 0), "{case:?}");
    let integrity: String = query(data, "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok", "{case:?}");

    // And the conversation goes on.
    let conversation = seen.events[0].conversation_id;
    let ask = json!({ "message": "again", "conversation_id": conversation });
    let more = Seen::until_the_end(url.to_owned(), ask, None).await;
    let answer = more.answer.expect("an answer");
    assert_eq!(
        (answer.status, &*answer.text()),
        (RunStatus::Complete, "as before"),
        "{case:?}"
    );
}
