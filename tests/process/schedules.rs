//! Crashes around the start of a run by a schedule: each planned time has one conversation.

use std::{fs, path::Path};

use serde_json::json;
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use upstream::{Script, Upstream, When};

use crate::{
    Server, WITHOUT_TITLES,
    client::{query_sql, wait_for_event},
};

/// The failpoints that belong to schedules.
pub const SCHEDULE_POINTS: [&str; 2] = ["schedule::sending", "schedule::sent"];

/// The failpoints from the plan to the running answer.
const POINTS: [&str; 6] = [
    "schedule::sending",
    "journal::taken",
    "journal::committed",
    "journal::published",
    "schedule::sent",
    "commit::beginning",
];

/// Makes the planned time of all schedules one hour ago.
async fn make_due(data: &Path) {
    let mut connection = SqliteConnectOptions::new()
        .filename(data.join("parlor.db"))
        .connect()
        .await
        .unwrap();
    sqlx::query("UPDATE schedules SET next_at = (CAST(strftime('%s', 'now') AS INTEGER) - 3600) * 1000")
        .execute(&mut connection)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_around_a_planned_time_sends_once() {
    parlor_web::http_client::install_tls();
    for point in POINTS {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Nothing much."));
        let settings = data.join("Leptos.toml");
        fs::write(&settings, WITHOUT_TITLES).unwrap();
        let server = Server::start(data, &upstream).await;
        let schedule = json!({
            "prompt": "What is new?", "model": "openai/echo", "days": ["monday"], "time": "08:00", "time_zone": "UTC",
        });
        let url = format!("{}/api/schedules/{}", server.url, uuid::Uuid::now_v7());
        let request = reqwest::Client::new()
            .put(url)
            .header("content-type", "application/json");
        let saved = request.body(schedule.to_string()).send().await.unwrap();
        assert_eq!(saved.status(), 200);
        server.kill().await;
        make_due(data).await;

        Server::crash_at_start(data, &upstream, point).await;
        let server = Server::start(data, &upstream).await;
        wait_for_event(&server.url, |line| line.contains("run_started")).await;
        server.kill().await;
        let [conversations, questions, sent, due]: [i64; 4] = [
            query_sql(data, "SELECT count(*) FROM conversations").await,
            query_sql(data, "SELECT count(*) FROM messages WHERE body LIKE '%What is new%'").await,
            query_sql(data, "SELECT count(*) FROM schedule_runs").await,
            query_sql(
                data,
                "SELECT count(*) FROM schedules WHERE next_at <= CAST(strftime('%s', 'now') AS INTEGER) * 1000",
            )
            .await,
        ];
        assert_eq!((conversations, questions, sent, due), (1, 1, 1, 0), "{point}");
    }
}
