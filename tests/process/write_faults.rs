//! A full disk, or a limit of file sizes: requests fail at once, the output of runs waits, and everything
//! continues by itself when there is space again.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use parlor_protocol::{ConversationId, RunStatus};
use reqwest::{Response, StatusCode};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tokio::{process::Command, sync::oneshot, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT, chain_commands,
    client::{ObservedRun, post_turn, query_sql, stored_message},
};

/// The time limit in which a request is rejected when it cannot be stored.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(5);

/// The number of messages that may still fit when there is no space. SQLite reuses written pages.
const MAX_EXTRA_MESSAGES: usize = 200;

/// The cause of the write failure.
#[derive(Clone, Copy, Debug)]
enum WriteFault {
    /// The data is on a separate file system in memory, which gets filled. Only the server sees it.
    FullDisk,
    /// The process may no longer write to files. This needs no privileges.
    NoWrites,
}

impl WriteFault {
    fn command(self, data: &Path, upstream: &Upstream) -> Command {
        let parlor = Server::command(data, upstream, "127.0.0.1:0");
        match self {
            Self::FullDisk => {
                let mut command = mount_namespace_command();
                let mount = r#"mount -t tmpfs -o size=4m,mode=0700 none "$0" && exec "$@""#;
                command.args(["sh", "-c", mount]).arg(data);
                chain_commands(command, &parlor)
            }
            Self::NoWrites => {
                // Otherwise the first attempt would end the process.
                let mut command = Command::new("sh");
                command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#]);
                chain_commands(command, &parlor)
            }
        }
    }

    fn start(self, server: &Server, data: &Path) {
        match self {
            Self::FullDisk => fill_disk(&path_in_namespace(server, data).join("ballast")),
            Self::NoWrites => limit_file_size(server, Some(0)),
        }
    }

    fn clear(self, server: &Server, data: &Path) {
        match self {
            Self::FullDisk => {
                fs::remove_file(path_in_namespace(server, data).join("ballast")).expect("it is there")
            }
            Self::NoWrites => limit_file_size(server, None),
        }
    }

    /// The advice that the error text must contain.
    fn advice(self) -> &'static str {
        match self {
            Self::FullDisk => "The disk is full",
            Self::NoWrites => "try again in a moment",
        }
    }
}

/// Returns true if file systems can be mounted here. Many containers do not allow it, including those of many
/// CIs. There, the limit of file sizes and SQLite's own limit replace a full disk.
pub async fn can_mount() -> bool {
    let mut probe = mount_namespace_command();
    let probe = probe.args(["mount", "-t", "tmpfs", "none", "/mnt"]);
    probe
        .stderr(Stdio::null())
        .status()
        .await
        .is_ok_and(|status| status.success())
}

/// Returns a command prefix that runs a program in its own mount namespace.
pub fn mount_namespace_command() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command
}

/// Returns a folder's path in the mount namespace of the server.
fn path_in_namespace(server: &Server, folder: &Path) -> PathBuf {
    let pid = server.child.id().expect("it runs");
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(folder.strip_prefix("/").expect("an absolute path"))
}

/// Writes until there is no space for another byte.
fn fill_disk(path: &Path) {
    let mut file = File::create(path).expect("a file");
    for size in [1 << 16, 1 << 12, 1] {
        let chunk = vec![1; size];
        let full = loop {
            if let Err(error) = file.write_all(&chunk) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::StorageFull, "{full}");
    }
}

/// Limits the size of the server's files from now on.
fn limit_file_size(server: &Server, bytes: Option<u64>) {
    let pid = server.child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, limit).expect("the limit is set");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recovers_from_a_full_disk() {
    if !can_mount().await {
        // The next test covers this case.
        println!("skipped: mounting is not allowed here");
        return;
    }
    check_write_fault(WriteFault::FullDisk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recovers_from_a_file_size_limit() {
    check_write_fault(WriteFault::NoWrites).await;
}

async fn check_write_fault(trouble: WriteFault) {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("well"));
    upstream.add_script(
        When::user_contains("count"),
        Script::new().text("one").gate("more").text(" two").text(" three"),
    );
    let server = Server::run(&mut trouble.command(data, &upstream)).await;
    let (begun, run) = oneshot::channel();
    let counting = tokio::spawn(ObservedRun::read_turn(
        server.url.clone(),
        turn_request("count"),
        Some(begun),
    ));
    let run = timeout(TEST_TIMEOUT, run)
        .await
        .expect("the run starts")
        .expect("a run");

    trouble.start(&server, data);
    // Messages that still fit are accepted, and must be stored afterwards.
    let long = "x".repeat(100_000);
    let mut taken = Vec::new();
    let refused = loop {
        let asked = Instant::now();
        let response = post_turn(&server.url, &turn_request(&long))
            .await
            .expect("a response");
        if response.status() == StatusCode::OK {
            taken.push(tokio::spawn(ObservedRun::read_response(response, None)));
            assert!(taken.len() < MAX_EXTRA_MESSAGES, "the fault has no effect");
            continue;
        }
        assert!(asked.elapsed() < MAX_REFUSAL_TIME, "{:?}", asked.elapsed());
        break response;
    };
    assert_clear_refusal(refused, trouble).await;
    assert_clear_refusal(
        post_turn(&server.url, &turn_request("hello"))
            .await
            .expect("a response"),
        trouble,
    )
    .await;

    // A running run waits, and stored data can be read.
    let said = server.log.borrow().len();
    upstream.open_gate("more");
    server.wait_for_log_line(said, "could not commit").await;
    let page = reqwest::get(&server.url).await.expect("a response");
    assert_eq!(page.status(), StatusCode::OK);
    let so_far = stored_message(&server.url, run).await;
    assert_eq!(so_far.assistant().expect("an answer").text(), "one");

    trouble.clear(&server, data);
    let counted = timeout(TEST_TIMEOUT, counting)
        .await
        .expect("it ends")
        .expect("no panic");
    assert_stored(&server, counted, "one two three").await;
    for seen in taken {
        let seen = timeout(TEST_TIMEOUT, seen)
            .await
            .expect("it ends")
            .expect("no panic");
        assert_stored(&server, seen, "well").await;
    }
    let again = ObservedRun::read_turn(server.url.clone(), turn_request("hello"), None).await;
    assert_stored(&server, again, "well").await;

    // SQLite resolves links to their names, which mean something else here than in the server's namespace.
    let copy = tempfile::tempdir().unwrap();
    for file in ["parlor.db", "parlor.db-wal"] {
        fs::copy(
            path_in_namespace(&server, data).join(file),
            copy.path().join(file),
        )
        .expect("a copy");
    }
    let integrity: String = query_sql(copy.path(), "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
    let log = server.log.borrow().join("\n");
    assert!(!log.contains("panicked"), "{log}");
}

/// Returns the request of a message that begins a conversation.
fn turn_request(message: &str) -> Value {
    json!({ "message": message, "conversation_id": ConversationId::new(), "model": "openai/echo" })
}

/// Asserts that a rejection says what happened, what was kept, and what to do.
async fn assert_clear_refusal(refusal: Response, trouble: WriteFault) {
    assert!(refusal.headers().contains_key("retry-after"));
    let (status, problem) = parse_problem(refusal).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("unavailable"))
    );
    let detail = problem["detail"].as_str().expect("words");
    assert!(
        detail.contains("Nothing was changed") && detail.contains(trouble.advice()),
        "{detail}"
    );
}

async fn parse_problem(response: Response) -> (StatusCode, Value) {
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let status = response.status();
    let body = response.bytes().await.expect("a body");
    (status, serde_json::from_slice(&body).expect("JSON"))
}

/// Asserts that a fully received answer is the one that the server has stored.
async fn assert_stored(server: &Server, seen: ObservedRun, text: &str) {
    let answer = seen.answer.expect("an answer");
    assert_eq!((answer.status, &*answer.text()), (RunStatus::Complete, text));
    let message = stored_message(&server.url, seen.run.expect("a run")).await;
    assert_eq!(message.assistant(), Some(&answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unwritable_start_reads_and_recovers_later() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("one").gate("never"));
    let server = Server::start(data, &upstream).await;
    let (begun, run) = oneshot::channel();
    let client = tokio::spawn(ObservedRun::read_turn(
        server.url.clone(),
        turn_request("count"),
        Some(begun),
    ));
    let run = timeout(TEST_TIMEOUT, run)
        .await
        .expect("the run starts")
        .expect("a run");
    server.kill().await;
    timeout(TEST_TIMEOUT, client)
        .await
        .expect("the connection breaks")
        .expect("no panic");

    let mut command = Command::new("sh");
    // Enough for the index of SQLite's log, which is created at each start, and less than the current size of
    // the log.
    command.args(["-c", r#"trap "" XFSZ; ulimit -S -f 64; exec "$0" "$@""#]);
    let mut command = chain_commands(command, &Server::command(data, &upstream, "127.0.0.1:0"));
    let server = Server::run(&mut command).await;
    server.wait_for_log_line(0, "could not commit").await;
    let left = stored_message(&server.url, run).await;
    let left = left.assistant().expect("an answer");
    assert_eq!((left.status, &*left.text()), (RunStatus::Running, "one"));
    assert_clear_refusal(
        post_turn(&server.url, &turn_request("hello"))
            .await
            .expect("a response"),
        WriteFault::NoWrites,
    )
    .await;
    let stop = reqwest::Client::new().post(format!("{}/api/runs/{run}/stop", server.url));
    let stop = timeout(TEST_TIMEOUT, stop.send())
        .await
        .expect("no client waits forever");
    let (status, problem) = parse_problem(stop.expect("a response")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        problem["detail"].as_str().expect("words").contains("can't store"),
        "{problem}"
    );

    limit_file_size(&server, None);
    let events = reqwest::get(format!("{}/api/runs/{run}/events?after=0", server.url)).await;
    let seen = ObservedRun::read_response(events.expect("a response"), None);
    let seen = timeout(TEST_TIMEOUT, seen).await.expect("it ends");
    // The stop, which is tried again too, may come before the recovery.
    let status = seen.answer.expect("an answer").status;
    assert!(
        matches!(status, RunStatus::Interrupted | RunStatus::Stopped),
        "{status:?}"
    );
}
