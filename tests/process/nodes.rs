//! Several nodes on one database, as processes: one is killed, or paused beyond its lease and woken.

use std::path::Path;

use parlor_protocol::{AssistantMessage, MessageBody, MessageId, RunStatus};
use serde_json::json;
use tokio::{process::Command, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT,
    client::{ObservedRun, post_turn, read_log, stored_message},
};

/// The settings file of nodes.
const NODES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/nodes.toml");

/// The nodes of a database, with a scripted model server.
struct Nodes {
    folder: tempfile::TempDir,
    database: String,
    upstream: Upstream,
}

impl Nodes {
    async fn new() -> Self {
        parlor_web::http_client::install_tls();
        let folder = tempfile::tempdir().unwrap();
        Self {
            database: test_postgres::database_of(folder.path(), async |_| {}).await,
            upstream: Upstream::start().await,
            folder,
        }
    }

    fn command(&self, data: &Path) -> Command {
        let mut command = Server::command(data, &self.upstream, "127.0.0.1:0");
        command
            .env("PARLOR_CONFIG", NODES)
            .env("PARLOR_DATABASE", &self.database)
            .env("PARLOR_LOG", "parlor=warn,parlor_runs=warn,parlor_journal=warn");
        command
    }

    async fn start(&self) -> Server {
        Server::run(&mut self.command(self.folder.path())).await
    }

    /// The first call is cut off at a gate; the next one ends the answer.
    fn answer_in_two_halves(&self, first: Script) {
        self.upstream
            .add_script(When::user_contains("cut off"), Script::new().text(", three."));
        self.upstream
            .add_script_times(1, When::user_contains("count"), first);
    }
}

/// Asks, and reads until the answer has this text.
async fn ask(server: &Server, question: &str, text: &str) -> (reqwest::Response, MessageId) {
    let ask = json!({ "message": question, "model": "openai/echo" });
    let response = post_turn(&server.url, &ask).await.unwrap();
    ObservedRun::read_until_text(response, text).await
}

async fn answer(server: &Server, run: MessageId) -> AssistantMessage {
    match stored_message(&server.url, run).await.body {
        MessageBody::Assistant(answer) => answer,
        _ => panic!("a run's message is an answer"),
    }
}

/// Reads a run's stream from its first event to its last one.
async fn read_to_end(server: &Server, run: MessageId) -> ObservedRun {
    let response = reqwest::get(format!("{}/api/runs/{run}/events", server.url)).await;
    let reading = ObservedRun::read_response(response.unwrap(), None);
    timeout(TEST_TIMEOUT, reading).await.expect("it ends")
}

async fn signal(server: &Server, name: &str) {
    let pid = server.child.id().expect("it runs").to_string();
    let sent = Command::new("kill").args([name, &pid]).status().await;
    assert!(sent.expect("kill").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_a_killed_node_goes_on_elsewhere() {
    let nodes = Nodes::new().await;
    nodes.answer_in_two_halves(Script::new().text("One, two").gate("never").end());
    let (first, second) = (nodes.start().await, nodes.start().await);
    let (_, run) = ask(&first, "count", "two").await;
    // A reader at the other node, from before the kill to the end.
    let response = reqwest::get(format!("{}/api/runs/{run}/events", second.url)).await;
    let reading = tokio::spawn(ObservedRun::read_response(response.unwrap(), None));
    first.kill().await;

    let seen = timeout(TEST_TIMEOUT, reading).await.expect("it ends").unwrap();
    let kept = answer(&second, run).await;
    assert_eq!(
        (kept.status, kept.text().as_str(), kept.resumptions),
        (RunStatus::Complete, "One, two, three.", 1)
    );
    assert_eq!(seen.answer.map(|answer| answer.text()), Some(kept.text()));
    let asked = nodes.upstream.requests();
    let asked = asked
        .iter()
        .filter(|request| request.path.ends_with("/chat/completions"));
    assert_eq!(asked.count(), 2, "it goes on once");
    let last = seen.events.last().unwrap().position.0;
    let log = read_log(&second.url, 0, last).await;
    let positions: Vec<u64> = log.iter().map(|event| event.position.0).collect();
    assert_eq!(positions, (1..=last).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_node_leaves_no_trace_when_it_wakes() {
    let nodes = Nodes::new().await;
    nodes.answer_in_two_halves(Script::new().text("One, two").gate("later").text(", late."));
    nodes
        .upstream
        .add_script(When::user_contains("again"), Script::new().text("Here."));
    let (first, second) = (nodes.start().await, nodes.start().await);
    let (_stream, run) = ask(&first, "count", "two").await;
    nodes.upstream.wait_for_gate("later").await;
    signal(&first, "-STOP").await;
    let seen = read_to_end(&second, run).await;
    let last = seen.events.last().unwrap().position.0;
    let before = read_log(&second.url, 0, last).await;

    // It finds the rest of the answer when it wakes.
    nodes.upstream.open_gate("later");
    signal(&first, "-CONT").await;
    first.wait_for_log_line(0, "has a lease again").await;
    let kept = answer(&second, run).await;
    assert_eq!(
        (kept.status, kept.text().as_str(), kept.resumptions),
        (RunStatus::Complete, "One, two, three.", 1)
    );
    // It works as a new node, at the next positions, and the other one sees that.
    let (_, next) = ask(&first, "again", "Here.").await;
    let seen = read_to_end(&second, next).await;
    assert_eq!(seen.answer.map(|answer| answer.text()).as_deref(), Some("Here."));
    let until = seen.events.last().unwrap().position.0;
    let log = read_log(&second.url, 0, until).await;
    assert_eq!(log[..before.len()], before);
    let of_run = log.iter().filter(|event| event.message_id == Some(run)).count();
    let of_run_before = before
        .iter()
        .filter(|event| event.message_id == Some(run))
        .count();
    assert_eq!(of_run, of_run_before, "nothing of the paused node was stored");
}

#[tokio::test]
async fn nodes_share_the_database_with_nodes_only() {
    let nodes = Nodes::new().await;
    let first = nodes.start().await;
    // With a folder of its own, so that only the database refuses it.
    let folder = tempfile::tempdir().unwrap();
    let mut alone = nodes.command(folder.path());
    let refused = alone
        .env("PARLOR_CONFIG", crate::DEFAULT_SETTINGS)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("another Parlor uses the database: stop it first"),
        "{said}"
    );
    first.kill().await;
}
