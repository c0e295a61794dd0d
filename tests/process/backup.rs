//! Backups while the server runs, their restoration, and moves to Postgres and back, as commands.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;
use tokio::process::Command;
use upstream::{Script, Upstream, When};

use crate::{Server, WITHOUT_TITLES, client::post_turn};

/// Runs a command of Parlor on a data folder.
async fn run(data: &Path, arguments: &[&str], database: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
    command.args(arguments).arg("--data").arg(data).current_dir(data);
    if let Some(url) = database {
        command
            .env("PARLOR_DATABASE", url)
            .env("PARLOR_FILES", "database");
    }
    command.output().await.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

async fn succeed(data: &Path, arguments: &[&str], database: Option<&str>) -> String {
    let output = run(data, arguments, database).await;
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

async fn fail(data: &Path, arguments: &[&str], database: Option<&str>) -> String {
    let output = run(data, arguments, database).await;
    assert!(!output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

async fn get(server: &Server, path: &str) -> String {
    let response = reqwest::get(format!("{}{path}", server.url)).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

/// Everything that a person sees of a conversation, and the content of its file.
async fn shown(server: &Server, conversation: &str, file: &str) -> [String; 3] {
    [
        get(server, "/api/conversations").await,
        get(server, &format!("/api/conversations/{conversation}")).await,
        get(server, &format!("/api/files/{file}")).await,
    ]
}

/// A server whose conversation has an answer and a file. Returns the ids of both.
async fn start_with_data(data: &Path, upstream: &Upstream) -> (Server, String, String) {
    fs::write(data.join("Leptos.toml"), WITHOUT_TITLES).unwrap();
    upstream.add_script(
        When::user_contains("keep"),
        Script::new().text("An answer with \u{0} and \u{7f}."),
    );
    let server = Server::start(data, upstream).await;
    let uploaded = reqwest::Client::new()
        .post(format!("{}/api/files?name=notes.txt", server.url))
        .body("the content of the file")
        .send()
        .await
        .unwrap();
    let file: Value = serde_json::from_str(&uploaded.text().await.unwrap()).unwrap();
    let [file, conversation] =
        ["id", "conversation_id"].map(|field| file[field].as_str().unwrap().to_owned());
    let body = serde_json::json!({ "message": "keep this", "model": "openai/echo", "files": [file], "conversation_id": conversation });
    let response = post_turn(&server.url, &body).await.unwrap();
    assert_eq!(response.status(), 200);
    response.bytes().await.unwrap();
    (server, conversation, file)
}

#[tokio::test]
async fn a_running_server_is_backed_up_and_restored() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let (data, backup) = (folder.path().join("data"), folder.path().join("backup"));
    fs::create_dir(&data).unwrap();
    let upstream = Upstream::start().await;
    let (server, conversation, file) = start_with_data(&data, &upstream).await;
    let before = shown(&server, &conversation, &file).await;
    let to = backup.to_str().unwrap();
    let text = succeed(&data, &["backup", to, "--verify"], None).await;
    assert!(
        text.contains("Backed up 1 conversations, 2 messages and 1 files"),
        "{text}"
    );
    assert!(text.contains("Verified: "), "{text}");
    // Only the data and the backup are left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let text = fail(&data, &["backup", to], None).await;
    assert!(text.contains("there is something in"), "{text}");
    // Nothing of the person's is overwritten.
    let text = fail(&data, &["restore", to], None).await;
    assert!(text.contains("another Parlor uses it"), "{text}");
    server.kill().await;
    let text = fail(&data, &["restore", to], None).await;
    assert!(text.contains("parlor.db already"), "{text}");
    // SQLite would take the log of another database for the restored one's.
    let lost = folder.path().join("lost");
    fs::create_dir(&lost).unwrap();
    fs::write(lost.join("parlor.db-wal"), "the log of a lost database").unwrap();
    let text = fail(&lost, &["restore", to], None).await;
    assert!(text.contains("parlor.db-wal already"), "{text}");

    let restored = folder.path().join("restored");
    fs::create_dir(&restored).unwrap();
    succeed(&restored, &["restore", to], None).await;
    fs::write(restored.join("Leptos.toml"), WITHOUT_TITLES).unwrap();
    let server = Server::start(&restored, &upstream).await;
    assert_eq!(shown(&server, &conversation, &file).await, before);
    server.kill().await;

    // A changed byte is noticed, and so is a missing file.
    let stored = files_below(&backup.join("files")).pop().unwrap();
    fs::write(&stored, "the content of the fill").unwrap();
    let text = fail(&data, &["restore", to, "--verify"], None).await;
    assert!(text.contains("of the backup is damaged"), "{text}");
    fs::remove_file(backup.join("backup.json")).unwrap();
    let text = fail(&data, &["restore", to, "--verify"], None).await;
    assert!(text.contains("not completed"), "{text}");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files
}

#[tokio::test]
async fn data_moves_to_postgres_and_back() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let upstream = Upstream::start().await;
    let (server, conversation, file) = start_with_data(&data, &upstream).await;
    let before = shown(&server, &conversation, &file).await;
    let url = test_postgres::database_of(folder.path(), async |_| {}).await;
    let text = fail(&data, &["move", "--to", &url], None).await;
    assert!(text.contains("another Parlor uses it"), "{text}");
    server.kill().await;

    let text = succeed(&data, &["move", "--to", &url], None).await;
    assert!(text.contains("Each was compared"), "{text}");
    let on_postgres = async |folder: &Path| {
        let mut command = Server::command(folder, &upstream, "127.0.0.1:0");
        command
            .env("PARLOR_DATABASE", &url)
            .env("PARLOR_FILES", "database");
        Server::run(&mut command).await
    };
    let server = on_postgres(&data).await;
    assert_eq!(shown(&server, &conversation, &file).await, before);
    // The file is in the database now: another node has it, too.
    fs::remove_dir_all(data.join("files")).unwrap();
    server.kill().await;
    let server = on_postgres(&data).await;
    assert_eq!(shown(&server, &conversation, &file).await, before);
    // A backup of Postgres is a data folder of SQLite.
    let backup = folder.path().join("backup");
    succeed(
        &data,
        &["backup", backup.to_str().unwrap(), "--verify"],
        Some(&url),
    )
    .await;
    server.kill().await;
    // The database is not empty any more.
    let text = fail(&data, &["move", "--to", &url], None).await;
    assert!(text.contains("there is data in it already"), "{text}");

    let back = folder.path().join("back");
    succeed(&data, &["move", "--to", back.to_str().unwrap()], Some(&url)).await;
    for folder in [&back, &backup] {
        fs::write(folder.join("Leptos.toml"), WITHOUT_TITLES).unwrap();
        let server = Server::start(folder, &upstream).await;
        assert_eq!(shown(&server, &conversation, &file).await, before);
        server.kill().await;
    }
}
