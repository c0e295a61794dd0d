//! Files and crashes: neither a file without a content, nor, after the next start, a content without a file.

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    Server, TEST_TIMEOUT,
    client::{execute_sql, post_turn, query_sql},
};

fn stored_count(data: &Path) -> usize {
    let mut count = 0;
    let mut folders = vec![data.join("files")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => count += 1,
            }
        }
    }
    count
}

async fn upload(url: &str, data: &'static [u8]) -> Result<Value, reqwest::Error> {
    let request = reqwest::Client::new().post(format!("{url}/api/files?name=a.txt"));
    let response = request.body(data).send().await?;
    assert_eq!(response.status(), 201);
    Ok(serde_json::from_slice(&response.bytes().await?).unwrap())
}

#[tokio::test]
async fn crash_during_an_upload_leaves_no_orphan() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let server = Server::start_with_failpoint(folder.path(), &upstream, "files::written").await;
    assert!(upload(&server.url, b"Hello").await.is_err());
    server.expect_crash().await;
    let rows: i64 = query_sql(folder.path(), "SELECT count(*) FROM files").await;
    assert_eq!((rows, stored_count(folder.path())), (0, 1));
    let server = Server::start(folder.path(), &upstream).await;
    assert_eq!(stored_count(folder.path()), 0);
    upload(&server.url, b"Hello").await.unwrap();
    server.kill().await;
    let server = Server::start(folder.path(), &upstream).await;
    assert_eq!(stored_count(folder.path()), 1);
    server.kill().await;
}

#[tokio::test]
async fn crash_during_a_deletion_ends_it_later() {
    // Before and after the deletion of the content, whose row is gone.
    for (point, contents) in [("files::deleting", 1), ("files::deleted", 0)] {
        check_crash_during_a_deletion(point, contents).await;
    }
}

/// Crashes at a point where this number of contents is left.
async fn check_crash_during_a_deletion(point: &str, contents: usize) {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let server = Server::start_with_failpoint(folder.path(), &upstream, point).await;
    let file = upload(&server.url, b"Hello").await.unwrap();
    let id = file["conversation_id"].as_str().unwrap();
    let ask =
        json!({ "message": "Look", "model": "openai/echo", "files": [file["id"]], "conversation_id": id });
    let response = post_turn(&server.url, &ask).await.unwrap();
    response.bytes().await.unwrap();
    let url = format!("{}/api/conversations/{id}", server.url);
    // The server may die before its response.
    let _ = reqwest::Client::new().delete(url).send().await;
    server.expect_crash().await;
    let rows: i64 = query_sql(folder.path(), "SELECT count(*) FROM files").await;
    let deleted_count = async || query_sql::<i64>(folder.path(), "SELECT count(*) FROM deleted_files").await;
    assert_eq!(
        (rows, deleted_count().await, stored_count(folder.path())),
        (0, 1, contents),
        "{point}"
    );
    let server = Server::start(folder.path(), &upstream).await;
    let wait = async {
        while deleted_count().await > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, wait).await.expect("the deletion goes on");
    assert_eq!(stored_count(folder.path()), 0);
    server.kill().await;
}

#[tokio::test]
async fn crash_while_moving_files_repeats_the_move() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let server = Server::start(folder.path(), &upstream).await;
    let (id, file) = (Uuid::now_v7(), Uuid::now_v7());
    let ask = json!({ "message": "Look", "model": "openai/echo", "conversation_id": id });
    post_turn(&server.url, &ask).await.unwrap().bytes().await.unwrap();
    server.kill().await;
    let insert = format!(
        "INSERT INTO attachments SELECT '{file}', user_id, conversation_id, id, 'a.txt', 'text/plain', CAST('content' AS BLOB), 1 \
         FROM runs"
    );
    execute_sql(folder.path(), insert).await;
    Server::crash_at_start(folder.path(), &upstream, "files::moved").await;
    assert_eq!(stored_count(folder.path()), 1);
    let server = Server::start(folder.path(), &upstream).await;
    let moved = reqwest::get(format!("{}/api/files/{file}", server.url))
        .await
        .unwrap();
    assert_eq!(moved.bytes().await.unwrap(), "content");
    assert_eq!(stored_count(folder.path()), 1);
    server.kill().await;
}

#[tokio::test]
async fn killed_generation_of_an_image_is_not_repeated() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.list_models(
        200,
        json!({ "data": [{ "id": "echo" }, { "id": "gpt-image-1" }] }),
    );
    upstream.add_script(When::image_prompt("fox"), Script::new().gate("made"));
    let call = Script::new().tool_call("id0", "generate_image", r#"{"prompt":"A fox"}"#);
    upstream.add_script_times(1, When::user_contains("draw"), call);
    upstream.add_script(When::tool_gave("outcome"), Script::new().text("Who knows."));
    let server = Server::start(folder.path(), &upstream).await;
    let ask = json!({ "message": "draw", "model": "openai/echo" });
    let _turn = post_turn(&server.url, &ask).await.unwrap();
    timeout(TEST_TIMEOUT, upstream.wait_for_gate("made"))
        .await
        .expect("the image is asked for");
    server.kill().await;
    upstream.open_gate("made");
    let server = Server::start(folder.path(), &upstream).await;
    let run: String = query_sql(folder.path(), "SELECT id FROM runs").await;
    let url = format!("{}/api/runs/{run}/continue", server.url);
    let continued = reqwest::Client::new().post(url).send().await.unwrap();
    let events = timeout(TEST_TIMEOUT, continued.text()).await.unwrap().unwrap();
    assert!(events.contains("Who knows."), "{events}");
    let is_image = |request: &upstream::CapturedRequest| request.path.contains("/images/");
    let images = upstream
        .requests()
        .iter()
        .filter(|request| is_image(request))
        .count();
    assert_eq!((images, stored_count(folder.path())), (1, 0));
    server.kill().await;
}
