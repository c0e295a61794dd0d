//! Runs that nothing drives, while the database can't be read or who wants their end has gone.

use sqlx::{ConnectOptions, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::time::timeout;

use super::{
    tests::{hello, runs, until},
    *,
};
use crate::{
    protocol::MessageId,
    storage::{Start, sqlite::FILE_NAME},
    test_log::Log,
};

/// A run that is stored as running, and that nothing drives.
pub(super) async fn left(runs: &Runs) -> RunKey {
    let intent = hello();
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: intent.conversation_id,
        message_id: MessageId::new(),
    };
    let start = Start {
        looking: None,
        run: run.message_id,
        default_model: String::new(),
        parameters: None,
        fingerprint: String::new(),
    };
    let send = Change::Send {
        user_id: run.user_id,
        intent,
        start,
    };
    runs.0.journal.submit(send).await.unwrap();
    run
}

async fn status(runs: &Runs, run: RunKey) -> RunStatus {
    let stored = runs.0.storage.run(run.user_id, run.message_id).await.unwrap();
    stored.expect("it is there").status
}

async fn database(folder: &tempfile::TempDir) -> SqliteConnection {
    let file = folder.path().join(FILE_NAME);
    SqliteConnectOptions::new()
        .filename(file)
        .connect()
        .await
        .unwrap()
}

/// A run's message, as it is stored.
async fn body(database: &mut SqliteConnection, run: RunKey) -> String {
    sqlx::query_scalar("SELECT body FROM messages WHERE id = ?")
        .bind(run.message_id.to_string())
        .fetch_one(database)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_run_that_cannot_be_read_is_ended_as_soon_as_it_can() {
    let (folder, runs) = runs().await;
    let run = left(&runs).await;
    let mut database = database(&folder).await;
    let unreadable = "ALTER TABLE messages RENAME COLUMN body TO body_away";
    sqlx::query(unreadable).execute(&mut database).await.unwrap();
    let (log, _listening) = Log::listen();
    let recovering = tokio::spawn({
        let runs = runs.clone();
        async move { runs.recover().await }
    });
    until(async || log.says("can't be read; trying again").then_some(())).await;
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
async fn a_damaged_run_is_ended_and_kept_as_it_is() {
    let (folder, runs) = runs().await;
    let run = left(&runs).await;
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
    let kept = body(&mut database, run).await;
    assert!(kept.starts_with('x'), "{kept}");
}

#[tokio::test]
async fn a_run_whose_message_is_not_its_own_is_ended() {
    for damage in [
        "UPDATE messages SET conversation_id = 'none' WHERE id = ?",
        // That of the question.
        "UPDATE messages SET body = (SELECT q.body FROM messages q WHERE q.id = messages.parent_id) WHERE id = ?",
    ] {
        let (folder, runs) = runs().await;
        let (recovered, driven) = (left(&runs).await, left(&runs).await);
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
        let mut place = runs.0.at_work.enter(driven).expect("nobody drives it");
        runs.drive(driven, &mut place).await;
        assert_eq!(status(&runs, driven).await, RunStatus::Failed, "{damage}");
        runs.recover().await;
        assert_eq!(status(&runs, recovered).await, RunStatus::Failed, "{damage}");
    }
}

#[tokio::test]
async fn a_run_that_is_given_up_keeps_what_cannot_be_read() {
    let (folder, runs) = runs().await;
    let run = left(&runs).await;
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
    runs.0.give_up(run, message.assistant().cloned()).await;
    assert_eq!(status(&runs, run).await, RunStatus::Failed);
    assert!(body(&mut database, run).await.starts_with('x'));
}

#[tokio::test]
async fn a_recovery_that_fails_says_so_and_is_tried_again() {
    let (folder, runs) = runs().await;
    let run = left(&runs).await;
    let mut database = database(&folder).await;
    let away = "ALTER TABLE runs RENAME COLUMN status TO status_away";
    sqlx::query(away).execute(&mut database).await.unwrap();
    let (log, _listening) = Log::listen();
    let recovering = tokio::spawn({
        let runs = runs.clone();
        async move { runs.recover().await }
    });
    until(async || log.says("can't be read; trying again").then_some(())).await;
    let back = "ALTER TABLE runs RENAME COLUMN status_away TO status";
    sqlx::query(back).execute(&mut database).await.unwrap();
    timeout(Duration::from_secs(20), recovering)
        .await
        .expect("it succeeds")
        .unwrap();
    assert_eq!(status(&runs, run).await, RunStatus::Interrupted);
}

#[tokio::test]
async fn a_run_that_nothing_drives_is_stopped_also_for_somebody_who_has_gone() {
    let (_folder, runs) = runs().await;
    let run = left(&runs).await;
    let mut stopping = Box::pin(runs.stop(run.user_id, run.message_id));
    tokio::select! {
        biased;
        stopped = &mut stopping => panic!("too soon: {stopped:?}"),
        _ = until(async || runs.0.at_work.any()) => {}
    }
    drop(stopping);
    until(async || (status(&runs, run).await == RunStatus::Stopped).then_some(())).await;
}

#[tokio::test]
async fn what_waits_for_storage_waits_no_longer_when_the_server_goes_down() {
    let (folder, runs) = runs().await;
    left(&runs).await;
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
