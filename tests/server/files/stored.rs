//! Stored files: upload, limits, contents, and their deletion.

use std::{io::ErrorKind, path::Path};

use parlor_tools::ToolRegistry;
use reqwest::StatusCode;
use serde_json::json;
use sqlx::{ConnectOptions, Connection, Executor, sqlite::SqliteConnectOptions};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{file_path, png, start};
use crate::support::{Parlor, TEST_TIMEOUT};

pub(super) fn stored_names(data: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![data.join("files")];
    while let Some(folder) = folders.pop() {
        // The server may delete or rename a file meanwhile.
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => names.push(entry.file_name().into_string().unwrap()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound),
            }
        }
    }
    names.sort();
    names
}

pub(crate) async fn wait_for_names(data: &Path, count: usize) {
    let wait = async {
        while stored_names(data).len() != count {
            tokio::task::yield_now().await;
        }
    };
    let waited = timeout(TEST_TIMEOUT, wait).await;
    assert!(waited.is_ok(), "{:?}", stored_names(data));
}

#[tokio::test]
async fn upload_is_typed_stored_and_served() {
    let (folder, _upstream, parlor) = start(|_, _| {}).await;
    let data = png(4, 3);
    // The content decides, not the name.
    let (status, file) = parlor.upload("../a%20b.txt", None, data.clone()).await;
    assert_eq!(status, 201);
    let mut expected = json!({
        "name": "a b.txt", "media_type": "image/png", "bytes": data.len(), "width": 4, "height": 3,
    });
    expected["id"] = file["id"].clone();
    expected["conversation_id"] = file["conversation_id"].clone();
    assert_eq!(file, expected);
    assert_eq!(
        stored_names(folder.path()).len(),
        2,
        "the original and the form for models"
    );
    let path = file_path(&file);
    for path in [path.clone(), path.replace("files", "attachments")] {
        let response = parlor.get(&path).send().await.unwrap();
        let headers = response.headers();
        assert_eq!(headers["content-type"], "image/png");
        assert_eq!(headers["content-disposition"], "inline; filename=\"a b.txt\"");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert!(
            headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("sandbox")
        );
        assert_eq!(response.bytes().await.unwrap(), data);
    }
    let part = parlor
        .get(&path)
        .header("range", "bytes=1-3")
        .send()
        .await
        .unwrap();
    let range = format!("bytes 1-3/{}", data.len());
    assert_eq!(
        (part.status(), part.headers()["content-range"].to_str().unwrap()),
        (StatusCode::PARTIAL_CONTENT, &*range)
    );
    assert_eq!(part.bytes().await.unwrap(), "PNG");
    let deleted = parlor
        .client
        .delete(format!("{}{path}", parlor.url))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(parlor.get(&path).send().await.unwrap().status(), 404);
    wait_for_names(folder.path(), 0).await;
}

#[tokio::test]
async fn rejected_uploads_leave_nothing() {
    let (folder, _upstream, parlor) = start(|settings, _| {
        settings.files.max_bytes = 5000;
        settings.files.max_pixels = 100;
    })
    .await;
    let chunks = std::iter::repeat_n(Ok::<_, std::convert::Infallible>(vec![b'x'; 1000]), 6);
    let unsized_body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
    for (name, data, status, code) in [
        ("long.txt", vec![b'x'; 5001].into(), 413, "too_large"),
        ("chunks.txt", unsized_body, 413, "too_large"),
        ("bomb.png", png(101, 1).into(), 413, "too_large"),
        (
            "cut.png",
            png(9, 9)[..40].to_vec().into(),
            415,
            "unsupported_media_type",
        ),
        (
            "a.txt",
            b"PK\x03\x04 and so on".to_vec().into(),
            415,
            "unsupported_media_type",
        ),
        ("a.txt", b"a\0b".to_vec().into(), 415, "unsupported_media_type"),
        ("empty.txt", Vec::new().into(), 400, "bad_request"),
    ] {
        let body: reqwest::Body = data;
        let (found, problem) = parlor.upload(name, None, body).await;
        assert_eq!((found, problem["code"].as_str()), (status, Some(code)), "{name}");
    }
    wait_for_names(folder.path(), 0).await;
}

#[tokio::test]
async fn page_uploads_need_their_content_type() {
    let (_folder, _upstream, parlor) = start(|settings, _| settings.limits.request_bytes = 100).await;
    let upload = |content_type: &'static str| {
        let url = format!("{}/rpc/files?name=a.txt", parlor.url);
        let request = parlor.client.post(url).header("content-type", content_type);
        request.body(vec![b'x'; 1000]).send()
    };
    assert_eq!(upload("application/octet-stream").await.unwrap().status(), 201);
    for simple in [
        "text/plain",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
    ] {
        assert_eq!(upload(simple).await.unwrap().status(), 415, "{simple}");
    }
}

#[tokio::test]
async fn deleted_conversation_takes_its_files() {
    let (folder, _upstream, parlor) = start(|_, _| {}).await;
    let (file, _) = parlor.send_file("map.png", png(4, 3), "Look").await;
    let (_, kept) = parlor.upload("kept.txt", None, "Hello").await;
    let id = file["conversation_id"].as_str().unwrap();
    let deletion = parlor
        .client
        .delete(format!("{}/api/conversations/{id}", parlor.url));
    assert_eq!(deletion.send().await.unwrap().status(), 204);
    wait_for_names(folder.path(), 1).await;
    assert_eq!(parlor.get(&file_path(&file)).send().await.unwrap().status(), 404);
    assert_eq!(parlor.get(&file_path(&kept)).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn orphans_are_deleted_at_the_start() {
    let (folder, upstream, parlor) = start(|_, _| {}).await;
    parlor.upload("kept.txt", None, "Hello").await;
    parlor.stop().await;
    let kept = stored_names(folder.path());
    let orphan = folder.path().join("files").join(Uuid::now_v7().to_string());
    let orphan = orphan.join(Uuid::now_v7().to_string());
    std::fs::create_dir_all(&orphan).unwrap();
    std::fs::write(orphan.join(Uuid::new_v4().to_string()), "orphan").unwrap();
    let parlor = Parlor::start(folder.path(), &upstream).await;
    assert_eq!(stored_names(folder.path()), kept);
    parlor.stop().await;
}

#[tokio::test]
async fn tool_files_move_out_of_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, ToolRegistry::default(), |_| {}).await;
    let events = parlor.turn(None, "Hello").await;
    parlor.stop().await;
    let (conversation, run) = (
        events[0]["conversation_id"].as_str().unwrap(),
        events[0]["message_id"].as_str().unwrap(),
    );
    let id = Uuid::now_v7();
    // As the release before stored them.
    let options = SqliteConnectOptions::new().filename(folder.path().join("parlor.db"));
    let mut database = options.connect().await.unwrap();
    let insert = format!(
        "INSERT INTO attachments VALUES ('{id}', '00000000-0000-0000-0000-000000000001', '{conversation}', '{run}', 'a.txt', \
         'text/plain', CAST('content' AS BLOB), 1)"
    );
    database.execute(sqlx::AssertSqlSafe(insert)).await.unwrap();
    database.close().await.unwrap();
    for _ in 0..2 {
        let parlor = Parlor::start(folder.path(), &upstream).await;
        let response = parlor
            .get(&format!("/api/attachments/{id}"))
            .send()
            .await
            .unwrap();
        assert_eq!(response.bytes().await.unwrap(), "content");
        parlor.stop().await;
    }
    let mut database = options.connect().await.unwrap();
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM attachments")
        .fetch_one(&mut database)
        .await
        .unwrap();
    assert_eq!((left, stored_names(folder.path()).len()), (0, 1));
}

#[tokio::test]
async fn contents_outlive_a_lost_database() {
    let (folder, upstream, parlor) = start(|_, _| {}).await;
    parlor.send_file("a.txt", b"Hello".to_vec(), "Look").await;
    parlor.stop().await;
    let stored = stored_names(folder.path());
    assert_eq!(stored.len(), 1);
    // The last connection removes this file when it closes, after the end of the server; a new database must not lose its own by that.
    let closed = async {
        while folder.path().join("parlor.db-wal").exists() {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, closed).await.unwrap();
    std::fs::remove_file(folder.path().join("parlor.db")).unwrap();
    for start in 1..=3 {
        let parlor = Parlor::start(folder.path(), &upstream).await;
        assert_eq!(stored_names(folder.path()), stored, "start {start}");
        parlor.stop().await;
    }
    std::fs::remove_file(folder.path().join("keep-files")).unwrap();
    Parlor::start(folder.path(), &upstream).await.stop().await;
    assert_eq!(
        stored_names(folder.path()),
        [""; 0],
        "the user deleted the marker"
    );
}
