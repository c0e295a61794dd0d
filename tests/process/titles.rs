//! A server that is killed while a title is made.

use std::{fs, path::Path};

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    Server,
    client::{ObservedRun, query_sql, wait_for_event},
};

async fn start(data: &Path, upstream: &Upstream) -> Server {
    let settings = data.join("settings.toml");
    fs::write(&settings, "[titles]\nmode = 'always'\n").unwrap();
    let mut command = Server::command(data, upstream, "127.0.0.1:0");
    Server::run(command.arg("--config").arg(&settings)).await
}

async fn conversation(server: &Server, id: Uuid) -> Value {
    let url = format!("{}/rpc/conversation?conversation_id={id}", server.url);
    let found = reqwest::get(url).await.unwrap().text().await.unwrap();
    serde_json::from_str(&found).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_title_is_made_after_a_later_answer() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("In Oslo."));
    let title_request = When::user_contains("Assistant: In Oslo.");
    upstream.add_script(title_request.clone(), Script::new().text("Finding Oslo"));
    upstream.add_script_times(
        1,
        title_request,
        Script::new().text("Wro").gate("title").text("ng"),
    );
    let server = start(folder.path(), &upstream).await;
    let id = Uuid::now_v7();
    let ask = json!({ "message": "Where is it?", "model": "openai/echo", "conversation_id": id });
    ObservedRun::read_turn(server.url.clone(), ask, None).await;
    upstream.wait_for_gate("title").await;
    server.kill().await;

    let server = start(folder.path(), &upstream).await;
    let found = conversation(&server, id).await;
    assert_eq!(found["title"], "Where is it?");
    assert_eq!(found["messages"][1]["status"], "complete");
    let ask = json!({ "message": "Thanks", "conversation_id": id });
    ObservedRun::read_turn(server.url.clone(), ask, None).await;
    wait_for_event(&server.url, |line| {
        line.contains(r#""type":"conversation_renamed""#)
    })
    .await;
    assert_eq!(conversation(&server, id).await["title"], "Finding Oslo");
    server.kill().await;
    let [messages, renamed]: [i64; 2] = [
        query_sql(folder.path(), "SELECT count(*) FROM messages").await,
        query_sql(
            folder.path(),
            "SELECT count(*) FROM events WHERE event LIKE '%\"conversation_renamed\"%'",
        )
        .await,
    ];
    assert_eq!((messages, renamed), (4, 1));
}
