//! `kill -9` between two calls of Python: the same data frame is there afterwards.

use std::{fs, path::Path};

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::Server;

/// Sends a message and returns all events of its turn.
async fn turn(url: &str, conversation: Option<&str>, message: &str) -> Vec<Value> {
    let body = json!({ "message": message, "conversation_id": conversation, "model": "openai/echo" });
    let response = reqwest::Client::new()
        .post(format!("{url}/api/chat/stream"))
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .expect("an answer");
    let text = response.text().await.expect("all events");
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn output(events: &[Value]) -> &str {
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    ended.unwrap_or_else(|| panic!("no call ended: {events:?}"))["output"]
        .as_str()
        .expect("a text")
}

#[tokio::test]
async fn killed_server_restores_the_frame() {
    parlor::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-python/bin/python");
    assert!(
        python.exists(),
        "the environment of Python is missing, for this test: `make test` makes it, or says how"
    );
    let settings = format!(
        "[python]\ninterpreter = {:?}\nstart_timeout = \"60s\"\n[timeouts]\nmcp_start = \"60s\"\n",
        python.display().to_string()
    );
    fs::write(folder.path().join("Leptos.toml"), settings).unwrap();
    let upstream = Upstream::start().await;
    for (word, code) in [
        (
            "make",
            "import pandas as pd\nimport random\ndf = pd.DataFrame({'n': [1, 2, 3]})",
        ),
        ("change", "df['square'] = df.n ** 2"),
        ("show", "df"),
    ] {
        let call = Script::new().tool_call("call_1", "execute_code", json!({ "code": code }).to_string());
        upstream.add_script(When::user_contains(word), call);
        let result = When {
            tool_gave: Some(String::new()),
            ..When::user_contains(word)
        };
        upstream.add_script(result, Script::new().text("That is it."));
    }
    let server = Server::start(folder.path(), &upstream).await;
    let first = turn(&server.url, None, "make").await;
    let conversation = first[0]["conversation_id"].as_str().expect("an id").to_owned();
    turn(&server.url, Some(&conversation), "change").await;
    let before = turn(&server.url, Some(&conversation), "show").await;
    server.kill().await;
    let server = Server::start(folder.path(), &upstream).await;
    let after = turn(&server.url, Some(&conversation), "show").await;
    assert_eq!(output(&after), output(&before));
    assert!(
        output(&after).starts_with("| n | square |\n| ---: | ---: |\n| 1 | 1 |\n| 2 | 4 |\n| 3 | 9 |"),
        "{}",
        output(&after)
    );
    let restored = after.iter().any(|event| {
        let message = event["message"].as_str().unwrap_or_default();
        message.starts_with("Restoring session...")
    });
    assert!(restored, "{after:?}");
    server.kill().await;
}
