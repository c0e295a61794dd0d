//! The statements that an answer makes, and the number of a token. Each costs switches between threads, of which most of a
//! server's time once went.

use std::{collections::BTreeSet, path::Path};

use serde_json::json;
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::{Server, TEST_TIMEOUT, client::post_turn};

/// The tokens of the longer answer, each of which is committed alone.
const TOKENS: usize = 20;

/// The kinds of statements of an answer. How often each is made depends on the moment: what is committed together has savepoints, and a
/// client that falls behind reads the log.
const MAX_KINDS_OF_ANSWER: usize = 34;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_one_round_trip_to_the_database() {
    parlor_web::http_client::install_tls();
    let one = statements(&[1]).await;
    let two = statements(&[1, 1]).await;
    let long = statements(&[1, 1 + TOKENS]).await;
    let kinds: BTreeSet<_> = two[one.len()..].iter().map(|statement| kind(statement)).collect();
    assert!(
        kinds.len() <= MAX_KINDS_OF_ANSWER,
        "{} kinds of statements for an answer: {kinds:#?}",
        kinds.len()
    );
    let count = two.len() - one.len();
    assert!(
        count <= 2 * MAX_KINDS_OF_ANSWER,
        "{count} statements for an answer: {:#?}",
        &two[one.len()..]
    );
    // The message so far is stored from time to time, and the client may read the log once more.
    let of_tokens = long.len() - two.len();
    assert!(
        of_tokens <= TOKENS + TOKENS / 2,
        "{of_tokens} statements for {TOKENS} tokens: {:#?}",
        &long[one.len()..]
    );
}

/// The beginning of a statement, which tells it from others whatever it is committed together with.
fn kind(statement: &str) -> &str {
    let statement = statement.trim_start_matches(['"', '\\', 'n']);
    let statement = statement.strip_prefix("BEGIN IMMEDIATE; ").unwrap_or(statement);
    statement.get(..48).unwrap_or(statement)
}

/// Returns the statements of a server that gives answers with these numbers of tokens.
async fn statements(answers: &[usize]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut server = start(folder.path(), &upstream).await;
    for (index, tokens) in answers.iter().enumerate() {
        answer(&server, &upstream, index, *tokens).await;
    }
    server.terminate().await;
    timeout(TEST_TIMEOUT, server.child.wait()).await.unwrap().unwrap();
    let mut log = server.log.clone();
    // The log ends with the process.
    while log.changed().await.is_ok() {}
    let lines = log.borrow();
    lines
        .iter()
        .filter_map(|line| line.split("db.statement=").nth(1))
        // Those without words begin and end transactions and savepoints.
        .filter(|statement| !statement.contains("wal_checkpoint") && !statement.starts_with("\"\""))
        .map(|statement| statement.chars().take(160).collect())
        .collect()
}

/// Asks a question and follows its answer, whose tokens come one after the other: each when the one before has arrived here.
async fn answer(server: &Server, upstream: &Upstream, index: usize, tokens: usize) {
    let gate = |token| format!("{index}, {token}");
    let mut answer = Script::new();
    for token in 0..tokens {
        answer = answer.text(format!("{token}.")).gate(gate(token));
    }
    let question = format!("question {index}");
    upstream.add_script(When::user_contains(&question), answer);
    let ask = json!({ "message": question, "model": "openai/echo" });
    let mut response = post_turn(&server.url, &ask).await.unwrap();
    let mut body = Vec::new();
    for token in 0..tokens {
        let text = format!(r#""{token}.""#);
        while !String::from_utf8_lossy(&body).contains(&text) {
            let chunk = timeout(TEST_TIMEOUT, response.chunk()).await.unwrap();
            body.extend(chunk.unwrap().expect("the stream goes on"));
        }
        upstream.open_gate(&gate(token));
    }
    timeout(TEST_TIMEOUT, response.bytes()).await.unwrap().unwrap();
}

/// The number of times that the threads of a server have waited and were woken (`proc_pid_status(5)`).
#[cfg(target_os = "linux")]
fn wake_ups(server: &Server) -> u64 {
    let threads = format!("/proc/{}/task", server.child.id().expect("it runs"));
    let threads = std::fs::read_dir(threads).unwrap();
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        // A thread may have ended meanwhile.
        let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let number = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        number.trim().parse::<u64>().ok()
    };
    threads.filter_map(of_thread).sum()
}

/// The tokens for the number of wake-ups.
#[cfg(target_os = "linux")]
const COUNTED_TOKENS: usize = 200;

/// The wake-ups of a token that comes alone: reading it, its commit on SQLite's thread, and sending it. 8.8 were counted on 30 November 2026.
#[cfg(target_os = "linux")]
const MAX_WAKE_UPS_OF_TOKEN: usize = 13;

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_wakes_few_threads() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let server = Server::start(folder.path(), &upstream).await;
    answer(&server, &upstream, 0, 1).await;
    let mut counts = Vec::new();
    for (index, tokens) in [(1, 1), (2, 1 + COUNTED_TOKENS)] {
        let before = wake_ups(&server);
        answer(&server, &upstream, index, tokens).await;
        // Those of a thread that has ended meanwhile are gone.
        counts.push(usize::try_from(wake_ups(&server).saturating_sub(before)).unwrap());
    }
    let of_tokens = counts[1].saturating_sub(counts[0]);
    println!(
        "{} wake-ups of an answer, {of_tokens} of {COUNTED_TOKENS} tokens",
        counts[0]
    );
    assert!(of_tokens <= COUNTED_TOKENS * MAX_WAKE_UPS_OF_TOKEN, "{of_tokens}");
    server.kill().await;
}

/// Starts a server that logs its statements.
async fn start(data: &Path, upstream: &Upstream) -> Server {
    let mut command = Server::command(data, upstream, "127.0.0.1:0");
    Server::run(command.env("PARLOR_LOG", "error,sqlx::query=debug")).await
}
