//! The disk is full, or no file may grow: who wants something hears so at once, what runs produce waits, and all goes on by itself
//! when there is room again.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use parlor::protocol::{ConversationId, RunStatus};
use reqwest::{Response, StatusCode};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tokio::{process::Command, sync::oneshot, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    SOON, Server,
    client::{Seen, post, query, stored},
    followed_by,
};

/// How soon who wants something hears that it can't be stored.
const REFUSAL: Duration = Duration::from_secs(5);

/// How many more messages may fit when there is no more room. What was written before is written over.
const LAST_FEW: usize = 200;

/// Why nothing can be stored.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// The data is on a file system of its own, in memory, which gets filled. Nobody but the server sees that one.
    FullDisk,
    /// The process may not write to files any more. That works without any rights.
    NoWrites,
}

impl Trouble {
    fn command(self, data: &Path, upstream: &Upstream) -> Command {
        let parlor = Server::command(data, upstream, "127.0.0.1:0");
        match self {
            Self::FullDisk => {
                let mut command = in_own_namespace();
                let mount = r#"mount -t tmpfs -o size=4m,mode=0700 none "$0" && exec "$@""#;
                command.args(["sh", "-c", mount]).arg(data);
                followed_by(command, &parlor)
            }
            Self::NoWrites => {
                // Otherwise the first attempt would be the process's end.
                let mut command = Command::new("sh");
                command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#]);
                followed_by(command, &parlor)
            }
        }
    }

    fn begin(self, server: &Server, data: &Path) {
        match self {
            Self::FullDisk => fill(&as_seen_by(server, data).join("ballast")),
            Self::NoWrites => limit_files(server, Some(0)),
        }
    }

    fn end(self, server: &Server, data: &Path) {
        match self {
            Self::FullDisk => fs::remove_file(as_seen_by(server, data).join("ballast")).expect("it is there"),
            Self::NoWrites => limit_files(server, None),
        }
    }

    /// What a person is told to do.
    fn advice(self) -> &'static str {
        match self {
            Self::FullDisk => "The disk is full",
            Self::NoWrites => "try again in a moment",
        }
    }
}

/// Whether file systems of one's own can be had here. Containers often have none, those that many CIs run in among them; there the
/// limit of file sizes, and SQLite's own, stand in for a full disk.
pub async fn may_mount() -> bool {
    let mut probe = in_own_namespace();
    let probe = probe.args(["mount", "-t", "tmpfs", "none", "/mnt"]);
    probe
        .stderr(Stdio::null())
        .status()
        .await
        .is_ok_and(|status| status.success())
}

/// Runs what follows where it may mount without anybody else seeing it.
pub fn in_own_namespace() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command
}

/// A folder as the server has it, in its own namespace.
fn as_seen_by(server: &Server, folder: &Path) -> PathBuf {
    let pid = server.child.id().expect("it runs");
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(folder.strip_prefix("/").expect("a whole path"))
}

/// Writes until there is no room for another byte.
fn fill(path: &Path) {
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

/// How long the server's files may be, from now on.
fn limit_files(server: &Server, bytes: Option<u64>) {
    let pid = server.child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, limit).expect("the limit is set");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_and_all_goes_on_when_there_is_room_again() {
    if !may_mount().await {
        // The next test stands for this one.
        println!("skipped: nothing may be mounted here");
        return;
    }
    trouble_comes_and_goes(Trouble::FullDisk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_may_not_write_any_more_loses_nothing_and_goes_on_when_it_may() {
    trouble_comes_and_goes(Trouble::NoWrites).await;
}

async fn trouble_comes_and_goes(trouble: Trouble) {
    parlor::outgoing::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().text("well"));
    upstream.script(
        When::user_contains("count"),
        Script::new().text("one").gate("more").text(" two").text(" three"),
    );
    let server = Server::run(&mut trouble.command(data, &upstream)).await;
    let (begun, run) = oneshot::channel();
    let counting = tokio::spawn(Seen::until_the_end(server.url.clone(), ask("count"), Some(begun)));
    let run = timeout(SOON, run).await.expect("it begins").expect("a run");

    trouble.begin(&server, data);
    // What still fits is taken, and has to be there afterwards.
    let long = "x".repeat(100_000);
    let mut taken = Vec::new();
    let refused = loop {
        let asked = Instant::now();
        let response = post(&server.url, &ask(&long)).await.expect("an answer");
        if response.status() == StatusCode::OK {
            taken.push(tokio::spawn(Seen::rest_of(response, None)));
            assert!(taken.len() < LAST_FEW, "there is no trouble");
            continue;
        }
        assert!(asked.elapsed() < REFUSAL, "{:?}", asked.elapsed());
        break response;
    };
    is_clear(refused, trouble).await;
    is_clear(
        post(&server.url, &ask("hello")).await.expect("an answer"),
        trouble,
    )
    .await;

    // A run that is at work waits; what there is can be read.
    let said = server.log.borrow().len();
    upstream.release("more");
    server.says_after(said, "could not commit").await;
    let page = reqwest::get(&server.url).await.expect("an answer");
    assert_eq!(page.status(), StatusCode::OK);
    let so_far = stored(&server.url, run).await;
    assert_eq!(so_far.assistant().expect("an answer").text(), "one");

    trouble.end(&server, data);
    let counted = timeout(SOON, counting).await.expect("it ends").expect("no panic");
    is_whole(&server, counted, "one two three").await;
    for seen in taken {
        let seen = timeout(SOON, seen).await.expect("it ends").expect("no panic");
        is_whole(&server, seen, "well").await;
    }
    let again = Seen::until_the_end(server.url.clone(), ask("hello"), None).await;
    is_whole(&server, again, "well").await;

    // SQLite follows links to their names, which mean something else here than where the server is.
    let copy = tempfile::tempdir().unwrap();
    for file in ["parlor.db", "parlor.db-wal"] {
        fs::copy(as_seen_by(&server, data).join(file), copy.path().join(file)).expect("a copy");
    }
    let integrity: String = query(copy.path(), "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
    let log = server.log.borrow().join("\n");
    assert!(!log.contains("panicked"), "{log}");
}

/// A message that begins a conversation.
fn ask(message: &str) -> Value {
    json!({ "message": message, "conversation_id": ConversationId::new(), "model": "openai/echo" })
}

/// A refusal says what happened, what was kept, and what to do.
async fn is_clear(refusal: Response, trouble: Trouble) {
    assert!(refusal.headers().contains_key("retry-after"));
    let (status, problem) = problem(refusal).await;
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

async fn problem(response: Response) -> (StatusCode, Value) {
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let status = response.status();
    let body = response.bytes().await.expect("a body");
    (status, serde_json::from_slice(&body).expect("JSON"))
}

/// What a client saw to its end is what the server has.
async fn is_whole(server: &Server, seen: Seen, text: &str) {
    let answer = seen.answer.expect("an answer");
    assert_eq!((answer.status, &*answer.text()), (RunStatus::Complete, text));
    let message = stored(&server.url, seen.run.expect("a run")).await;
    assert_eq!(message.assistant(), Some(&answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_cannot_write_shows_what_there_is_and_ends_what_was_left_as_soon_as_it_can() {
    parlor::outgoing::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().text("one").gate("never"));
    let server = Server::start(data, &upstream).await;
    let (begun, run) = oneshot::channel();
    let client = tokio::spawn(Seen::until_the_end(server.url.clone(), ask("count"), Some(begun)));
    let run = timeout(SOON, run).await.expect("it begins").expect("a run");
    server.kill().await;
    timeout(SOON, client).await.expect("it breaks").expect("no panic");

    let mut command = Command::new("sh");
    // Enough for the index of SQLite's log, which is made anew at each start, and less than the log has already.
    command.args(["-c", r#"trap "" XFSZ; ulimit -S -f 64; exec "$0" "$@""#]);
    let mut command = followed_by(command, &Server::command(data, &upstream, "127.0.0.1:0"));
    let server = Server::run(&mut command).await;
    server.says_after(0, "could not commit").await;
    let left = stored(&server.url, run).await;
    let left = left.assistant().expect("an answer");
    assert_eq!((left.status, &*left.text()), (RunStatus::Running, "one"));
    is_clear(
        post(&server.url, &ask("hello")).await.expect("an answer"),
        Trouble::NoWrites,
    )
    .await;
    let stop = reqwest::Client::new().post(format!("{}/api/runs/{run}/stop", server.url));
    let stop = timeout(SOON, stop.send()).await.expect("nobody waits for ever");
    let (status, problem) = problem(stop.expect("an answer")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        problem["detail"].as_str().expect("words").contains("can't store"),
        "{problem}"
    );

    limit_files(&server, None);
    let events = reqwest::get(format!("{}/api/runs/{run}/events?after=0", server.url)).await;
    let seen = Seen::rest_of(events.expect("an answer"), None);
    let seen = timeout(SOON, seen).await.expect("it ends");
    assert_eq!(seen.answer.expect("an answer").status, RunStatus::Interrupted);
}
