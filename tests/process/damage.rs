//! Damaged data: Parlor reports the damage, shows what it can read, and lets no turn wait forever. Also other
//! checks at startup.

use std::{
    fs,
    io::{Seek, SeekFrom, Write},
    path::Path,
    process::Stdio,
};

use reqwest::StatusCode;
use serde_json::json;
use sqlx::{ConnectOptions, Connection, Row, sqlite::SqliteConnectOptions};
use tokio::{process::Command, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT, chain_commands,
    client::{ObservedRun, post_turn, query_sql, stored_message},
};

/// Zeroes the root pages of a table and of its indices.
async fn zero_table_pages(data: &Path, table: &str) {
    let file = data.join("parlor.db");
    let options = SqliteConnectOptions::new().filename(&file);
    let mut connection = options.connect().await.expect("it opens");
    let size = sqlx::query_scalar("PRAGMA page_size");
    let size: i64 = size.fetch_one(&mut connection).await.expect("a size");
    let pages = sqlx::query("SELECT rootpage FROM sqlite_schema WHERE tbl_name = $1")
        .bind(table)
        .fetch_all(&mut connection)
        .await
        .expect("its pages");
    let pages: Vec<i64> = pages
        .iter()
        .map(|row| row.get(0))
        .filter(|page| *page > 0)
        .collect();
    connection.close().await.expect("it closes");
    assert!(!pages.is_empty());
    let mut file = fs::File::options().write(true).open(file).expect("permission");
    for page in pages {
        let at = (page - 1) * size;
        file.seek(SeekFrom::Start(at.unsigned_abs()))
            .expect("it is there");
        let zeros = vec![0; usize::try_from(size).expect("small")];
        file.write_all(&zeros).expect("room");
    }
}

/// Creates data with one conversation, for a stopped server.
async fn create_conversation(data: &Path, upstream: &Upstream) {
    parlor_web::http_client::install_tls();
    upstream.add_script(When::any(), Script::new().text("well"));
    let mut server = Server::start(data, upstream).await;
    let seen = ObservedRun::read_turn(server.url.clone(), turn_request(), None).await;
    assert_eq!(seen.answer.expect("an answer").text(), "well");
    server.terminate().await;
    server.child.wait().await.expect("it ends");
}

fn turn_request() -> serde_json::Value {
    json!({ "message": "hello", "model": "openai/echo" })
}

async fn response_text(response: reqwest::Response) -> String {
    let body = response.bytes().await.expect("a body");
    String::from_utf8(body.to_vec()).expect("text")
}

/// Returns the output of a failed start.
async fn failed_start_output(command: &mut Command) -> String {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = timeout(TEST_TIMEOUT, output)
        .await
        .expect("it ends")
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).expect("words")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_damage_and_fails_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    create_conversation(data, &upstream).await;
    // Read when a run ends, and not before.
    zero_table_pages(data, "payloads").await;
    let server = Server::start(data, &upstream).await;
    server.wait_for_log_line(0, "Parlor's database is damaged").await;
    let page = reqwest::get(&server.url).await.expect("a response");
    assert_eq!(page.status(), StatusCode::OK);
    let page = response_text(page).await;
    assert!(
        page.contains("Parlor's database is damaged") && page.contains("restore a backup"),
        "{page}"
    );

    let seen = ObservedRun::read_turn(server.url.clone(), turn_request(), None);
    let seen = timeout(TEST_TIMEOUT, seen).await.expect("it ends");
    let error = seen.answer.expect("an answer").error.expect("an error");
    assert_eq!(error.code, "storage_damaged");
    assert!(error.hint.contains("backup"), "{error:?}");
    let at_work: i64 = query_sql(data, "SELECT count(*) FROM runs WHERE status = 'running'").await;
    assert_eq!(at_work, 0);
    let log = server.log.borrow().join("\n");
    assert!(!log.contains("panicked"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_table_rejects_turns_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    create_conversation(data, &upstream).await;
    zero_table_pages(data, "messages").await;
    let server = Server::start(data, &upstream).await;
    let response = timeout(TEST_TIMEOUT, post_turn(&server.url, &turn_request()))
        .await
        .expect("it ends");
    let response = response.expect("a response");
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let problem = response_text(response).await;
    assert!(
        problem.contains("database is damaged") && problem.contains("Nothing was changed"),
        "{problem}"
    );
}

/// The end of a run is stored even if nothing else of the log can be read or written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_ends_with_a_damaged_log() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("well").gate("never"));
    let server = Server::start(data, &upstream).await;
    let (begun, run) = tokio::sync::oneshot::channel();
    let client = tokio::spawn(ObservedRun::read_turn(
        server.url.clone(),
        turn_request(),
        Some(begun),
    ));
    let run = timeout(TEST_TIMEOUT, run)
        .await
        .expect("the run starts")
        .expect("a run");
    server.kill().await;
    let seen = timeout(TEST_TIMEOUT, client)
        .await
        .expect("the connection breaks")
        .expect("no panic");
    let conversation = seen.events[0].conversation_id;
    zero_table_pages(data, "events").await;

    let server = Server::start(data, &upstream).await;
    let at_work: i64 = query_sql(data, "SELECT count(*) FROM runs WHERE status = 'running'").await;
    assert_eq!(at_work, 0);
    let message = stored_message(&server.url, run).await;
    let answer = message.assistant().expect("an answer");
    assert!(answer.is_damaged() && answer.status.is_terminal(), "{answer:?}");
    let page = reqwest::get(format!("{}/c/{conversation}", server.url)).await;
    assert_eq!(page.expect("a response").status(), StatusCode::OK);
    // The user's stream ends with a notice that it is useless to ask again.
    for path in [
        "/api/events?after=0",
        "/api/events?after=1",
        "/rpc/events?after=0",
    ] {
        let stream = reqwest::get(format!("{}{path}", server.url))
            .await
            .expect("a response");
        let frames = timeout(TEST_TIMEOUT, response_text(stream))
            .await
            .expect("it ends");
        let data = frames.lines().filter(|line| line.starts_with("data:"));
        assert_eq!(
            data.collect::<Vec<_>>(),
            [r#"data: {"type":"log_damaged"}"#],
            "{path}"
        );
    }
    // Nothing follows: an EventSource is told not to reconnect.
    let events = reqwest::get(format!("{}/api/runs/{run}/events", server.url)).await;
    assert_eq!(events.expect("a response").status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn leaves_foreign_files_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let noise: Vec<u8> = (0..20_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    fs::write(data.join("parlor.db"), &noise).unwrap();
    let upstream = Upstream::start().await;
    let said = failed_start_output(&mut Server::command(data, &upstream, "127.0.0.1:0")).await;
    assert!(said.contains("damaged") && said.lines().count() == 1, "{said}");
    assert_eq!(fs::read(data.join("parlor.db")).unwrap(), noise);
}

#[tokio::test]
async fn second_server_cannot_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    let _server = Server::start(data, &upstream).await;
    fs::remove_file(data.join("parlor.lock")).expect("it is there");
    let said = failed_start_output(&mut Server::command(data, &upstream, "127.0.0.1:0")).await;
    assert!(said.contains("another Parlor uses it"), "{said}");
}

#[tokio::test]
async fn log_omits_secret_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let settings = folder.path().join("settings.toml");
    let script = r#"echo "args: $*" >&2
        echo 'in others: hush-a1%2fb2c3 hush%2da1%252Fb2c3 aHVzaC1hMS9iMmMz' >&2
        exec cat >/dev/null"#;
    // A JSON string is also a TOML string.
    let script = serde_json::to_string(script).expect("text");
    let file = format!(
        "[[mcp]]\nname = 'x'\ncommand = 'sh'\nargs = ['-c', {script}, 'sh', '--token', 'hush-a1/b2c3']\n"
    );
    fs::write(&settings, file).unwrap();
    let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
    command.env("PARLOR_LOG", "info").arg("--config").arg(&settings);
    let server = Server::run(&mut command).await;
    server.wait_for_log_line(0, "in others: ••• ••• •••").await;
    let log = server.log.borrow().join("\n");
    assert!(
        log.contains("args: --token •••") && !log.contains("hush"),
        "{log}"
    );
}

/// Files that an MCP server creates for other users are readable for them.
#[cfg(unix)]
#[tokio::test]
async fn mcp_server_inherits_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let settings = folder.path().join("settings.toml");
    let file = "[[mcp]]\nname = 'x'\ncommand = 'sh'\nargs = ['-c', 'echo \"mask $(umask)\" >&2; exec cat >/dev/null']\n";
    fs::write(&settings, file).unwrap();
    let parlor = Server::command(folder.path(), &upstream, "127.0.0.1:0");
    let mut command = Command::new("sh");
    command.args(["-c", r#"umask 026; exec "$0" "$@""#]);
    let mut command = chain_commands(command, &parlor);
    command.env("PARLOR_LOG", "info").arg("--config").arg(&settings);
    let server = Server::run(&mut command).await;
    server.wait_for_log_line(0, "mask 0026").await;
}
