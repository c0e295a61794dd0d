//! Runs without a driver, while the database can't be read or after the caller has gone away.

use sqlx::{ConnectOptions, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::time::timeout;

use super::*;
use captured_log::CapturedLog;
use parlor_protocol::MessageId;
use parlor_storage::{RunStart, sqlite::DATABASE_FILE_NAME};

/// A run that is stored as running, without a driver.
pub(super) async fn abandoned_run(runs: &Runs) -> RunKey {
    let intent = hello();
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: intent.conversation_id,
        message_id: MessageId::new(),
    };
    let start = RunStart {
        context_snapshot: None,
        run: run.message_id,
        default_model: String::new(),
        parameters: None,
        fingerprint: String::new(),
    };
    let send = Change::Intent {
        user_id: run.user_id,
        change: IntentChange::SendMessage { intent, start },
    };
    runs.0.journal.submit(send).await.unwrap();
    run
}

async fn status(runs: &Runs, run: RunKey) -> RunStatus {
    let stored = runs.0.storage.run(run.user_id, run.message_id).await.unwrap();
    stored.expect("it is there").status
}

async fn database(folder: &tempfile::TempDir) -> SqliteConnection {
    let file = folder.path().join(DATABASE_FILE_NAME);
    SqliteConnectOptions::new()
        .filename(file)
        .connect()
        .await
        .unwrap()
}

/// Returns a run's message as it is stored.
async fn stored_body(database: &mut SqliteConnection, run: RunKey) -> String {
    sqlx::query_scalar("SELECT body FROM messages WHERE id = $1")
        .bind(run.message_id.to_string())
        .fetch_one(database)
        .await
        .unwrap()
}

#[tokio::test]
async fn ends_an_unreadable_run_once_readable() {
    let (folder, runs) = tour_runs().await;
    let run = abandoned_run(&runs).await;
    let mut database = database(&folder).await;
    let unreadable = "ALTER TABLE messages RENAME COLUMN body TO body_away";
    sqlx::query(unreadable).execute(&mut database).await.unwrap();
    let (log, _listening) = CapturedLog::capture();
    let recovering = tokio::spawn({
        let runs = runs.clone();
        async move { runs.recover().await }
    });
    wait_until(async || log.contains("can't be read; trying again").then_some(())).await;
    assert_eq!(status(&runs, run).await, RunStatus::Running);
    let readable = "ALTER TABLE messages RENAME COLUMN body_away TO body";
    sqlx::query(readable).execute(&mut database).await.unwrap();
    timeout(Duration::from_secs(20), recovering)
        .await
        .expect("it is ended")
        .unwrap();
    assert_eq!(status(&runs, run).await, RunStatus::Interrupted);
}

#[tokio::test]
async fn ends_a_damaged_run_without_changing_it() {
    let (folder, runs) = tour_runs().await;
    let run = abandoned_run(&runs).await;
    let mut database = database(&folder).await;
    let damage = "UPDATE messages SET body = 'x' || body";
    sqlx::query(damage).execute(&mut database).await.unwrap();
    timeout(Duration::from_secs(20), runs.recover())
        .await
        .expect("it is not tried again");
    assert_eq!(status(&runs, run).await, RunStatus::Interrupted);
    let stored = runs.0.storage.message(run.user_id, run.message_id).await.unwrap();
    let answer = stored
        .expect("it is there")
        .1
        .assistant()
        .cloned()
        .expect("an answer");
    assert!(answer.is_damaged());
    assert_eq!(answer.status, RunStatus::Interrupted);
    let kept = stored_body(&mut database, run).await;
    assert!(kept.starts_with('x'), "{kept}");
}

#[tokio::test]
async fn ends_a_run_with_a_foreign_message() {
    for damage in [
        "UPDATE messages SET conversation_id = 'none' WHERE id = $1",
        // The body of the question.
        "UPDATE messages SET body = (SELECT q.body FROM messages q WHERE q.id = messages.parent_id) WHERE id = $1",
    ] {
        let (folder, runs) = tour_runs().await;
        let (recovered, driven) = (abandoned_run(&runs).await, abandoned_run(&runs).await);
        let mut database = database(&folder).await;
        let unchecked = "PRAGMA foreign_keys = OFF";
        sqlx::query(unchecked).execute(&mut database).await.unwrap();
        for run in [recovered, driven] {
            sqlx::query(damage)
                .bind(run.message_id.to_string())
                .execute(&mut database)
                .await
                .unwrap();
        }
        let mut slot = runs.0.active.enter(driven).expect("nobody drives it");
        runs.drive_run(driven, &mut slot).await;
        assert_eq!(status(&runs, driven).await, RunStatus::Failed, "{damage}");
        runs.recover().await;
        assert_eq!(status(&runs, recovered).await, RunStatus::Failed, "{damage}");
    }
}

#[tokio::test]
async fn abandoned_run_keeps_unreadable_rows() {
    let (folder, runs) = tour_runs().await;
    let run = abandoned_run(&runs).await;
    let mut database = database(&folder).await;
    let damage = "UPDATE messages SET body = 'x' || body";
    sqlx::query(damage).execute(&mut database).await.unwrap();
    let (_, message) = runs
        .0
        .storage
        .message(run.user_id, run.message_id)
        .await
        .unwrap()
        .expect("it is there");
    runs.0.end_damaged_run(run, message.assistant().cloned()).await;
    assert_eq!(status(&runs, run).await, RunStatus::Failed);
    assert!(stored_body(&mut database, run).await.starts_with('x'));
}

#[tokio::test]
async fn logs_and_retries_a_failed_recovery() {
    let (folder, runs) = tour_runs().await;
    let run = abandoned_run(&runs).await;
    let mut database = database(&folder).await;
    let away = "ALTER TABLE runs RENAME COLUMN status TO status_away";
    sqlx::query(away).execute(&mut database).await.unwrap();
    let (log, _listening) = CapturedLog::capture();
    let recovering = tokio::spawn({
        let runs = runs.clone();
        async move { runs.recover().await }
    });
    wait_until(async || log.contains("can't be read; trying again").then_some(())).await;
    let back = "ALTER TABLE runs RENAME COLUMN status_away TO status";
    sqlx::query(back).execute(&mut database).await.unwrap();
    timeout(Duration::from_secs(20), recovering)
        .await
        .expect("it succeeds")
        .unwrap();
    assert_eq!(status(&runs, run).await, RunStatus::Interrupted);
}

#[tokio::test]
async fn stops_an_abandoned_run_after_disconnect() {
    let (_folder, runs) = tour_runs().await;
    let run = abandoned_run(&runs).await;
    let mut stopping = Box::pin(runs.stop(run.user_id, run.message_id));
    tokio::select! {
        biased;
        stopped = &mut stopping => panic!("too soon: {stopped:?}"),
        _ = wait_until(async || runs.0.active.any_active()) => {}
    }
    drop(stopping);
    wait_until(async || (status(&runs, run).await == RunStatus::Stopped).then_some(())).await;
}

#[tokio::test]
async fn shutdown_ends_waiting_for_storage() {
    let (folder, runs) = tour_runs().await;
    abandoned_run(&runs).await;
    let mut database = database(&folder).await;
    let unreadable = "ALTER TABLE messages RENAME COLUMN body TO body_away";
    sqlx::query(unreadable).execute(&mut database).await.unwrap();
    let recovered = async {
        let down = runs.shut_down(Duration::ZERO);
        futures::join!(runs.recover(), down).0
    };
    timeout(Duration::from_secs(20), recovered)
        .await
        .expect("it gives up");
}
