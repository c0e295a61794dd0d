//! A clock that is set to a time before 1970 while Parlor runs: requests are served and turns end.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Command;
use upstream::{Script, Upstream, When};

use crate::Server;

/// The number of simultaneous connections, so that every thread of the server has some.
const CONNECTION_COUNT: usize = 64;

/// Replaces the clock of a process: it is 126 years slow while the file that `SLOW_CLOCK` names exists.
const SLOW_CLOCK_SOURCE: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    const char *file = getenv("SLOW_CLOCK");
    if (result == 0 && clock == CLOCK_REALTIME && file && access(file, F_OK) == 0) time->tv_sec -= 4000000000L;
    return result;
}
"#;

/// Compiles the clock and returns the library.
async fn compile_clock(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&source, SLOW_CLOCK_SOURCE).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .await;
    assert!(compiled.expect("a C compiler, which SQLite needs too").success());
    library
}

#[tokio::test]
async fn serves_requests_with_a_clock_before_1970() {
    parlor_web::http_client::install_tls();
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Noon."));
    let is_slow = folder.path().join("slow");
    let mut command = Server::command(data.path(), &upstream, "127.0.0.1:0");
    command
        .env("LD_PRELOAD", compile_clock(folder.path()).await)
        .env("SLOW_CLOCK", &is_slow);
    let server = Server::run(&mut command).await;

    std::fs::write(&is_slow, "").unwrap();
    let requests = (0..CONNECTION_COUNT).map(|_| async {
        // A connection of its own.
        let response = reqwest::Client::new()
            .get(format!("{}/healthz", server.url))
            .send();
        response.await.map(|response| response.status().as_u16())
    });
    for status in futures::future::join_all(requests).await {
        assert_eq!(status.ok(), Some(200));
    }
    let turn = reqwest::Client::new()
        .post(format!("{}/api/chat/batch", server.url))
        .header("content-type", "application/json")
        .body(json!({ "message": "What time is it?", "model": "openai/echo" }).to_string());
    let response = turn.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["message"], "Noon.", "{answer}");
    // The server has seen that clock: earlier times are counted as the first one.
    let message = format!(
        "{}/api/messages/{}",
        server.url,
        answer["message_id"].as_str().unwrap()
    );
    let message = reqwest::get(message).await.unwrap().text().await.unwrap();
    assert!(message.contains("\"created_at\":0,"), "{message}");

    std::fs::remove_file(&is_slow).unwrap();
    let response = reqwest::get(format!("{}/healthz", server.url)).await.unwrap();
    assert_eq!(response.status(), 200);
}
