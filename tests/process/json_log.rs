//! The log as JSON: an object a line, with the ids of a run, and without secrets.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::Server;

const KEY: &str = "sk-canary-5f0c1d2e3b4a";

#[tokio::test]
async fn lines_of_a_run_have_its_ids_and_no_secret() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let error = json!({ "error": { "message": format!("Wrong key: {KEY}") } });
    upstream.add_script(When::any(), Script::new().status(401, error, &[]));
    let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
    command
        .env("PARLOR_LOG_FORMAT", "json")
        .env(
            "PARLOR_LOG",
            "info,parlor_providers=trace,parlor_runs=trace,parlor::http=debug",
        )
        .env("OPENAI_API_KEY", KEY);
    let server = Server::run(&mut command).await;
    let ask = json!({ "message": "Hello", "model": "openai/echo" });
    let response = reqwest::Client::new()
        .post(format!("{}/api/chat/stream", server.url))
        .header("content-type", "application/json")
        .body(ask.to_string());
    let response = response.send().await.unwrap();
    let request_id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let events = response.text().await.unwrap();
    let first = events.lines().find_map(|line| line.strip_prefix("data: "));
    let first: Value = serde_json::from_str(first.expect("an event")).unwrap();

    let ended = "an answer has ended with an error";
    server.wait_for_log_line(0, ended).await;
    let lines = server.log.borrow().clone();
    let parsed = lines.iter().map(|line| serde_json::from_str::<Value>(line));
    let parsed: Vec<Value> = parsed.collect::<Result<_, _>>().expect("each line is JSON");
    for line in &parsed {
        for name in ["time", "level", "target", "message"] {
            assert!(line[name].is_string(), "{name}: {line}");
        }
        assert!(line["fields"].is_object(), "{line}");
    }
    let end = parsed.iter().find(|line| line["message"] == ended).unwrap();
    assert_eq!(end["level"], "WARN");
    assert_eq!(end["fields"]["status"], "failed");
    for (name, event) in [("run_id", "message_id"), ("conversation_id", "conversation_id")] {
        assert_eq!(end[name], first[event], "{end}");
    }
    assert!(end["user_id"].is_string(), "{end}");
    assert_eq!(end["request_id"], request_id.as_str(), "{end}");
    assert!(!lines.concat().contains(KEY), "{lines:?}");
}

#[tokio::test]
async fn an_error_of_the_start_is_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut command = Server::command(folder.path(), &upstream, "256.0.0.1:1");
    let ended = command.env("PARLOR_LOG_FORMAT", "json").output().await.unwrap();
    assert!(!ended.status.success());
    let error = String::from_utf8(ended.stderr).unwrap();
    let line: Value = serde_json::from_str(error.lines().last().expect("a line")).unwrap();
    let message = line["message"].as_str().unwrap();
    assert!(message.starts_with("Parlor can't start: "), "{line}");
}
