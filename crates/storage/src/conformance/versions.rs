//! Nodes of two versions on one database of Postgres.

use sqlx::{
    AssertSqlSafe, Connection, PgConnection, SqlSafeStr,
    migrate::{Migration, MigrationType},
};

use super::{
    nodes::{LONG, node},
    *,
};
use crate::{nodes::NodeStorage, postgres::migrations};
use parlor_base::settings::NodeSettings;

/// Additions of a version that may run beside the one before: columns, tables and indexes, which that one does not name.
const ADDING: &str = "-- Works with: NEWEST\n\
    ALTER TABLE messages ADD COLUMN added TEXT; ALTER TABLE runs ADD COLUMN added BIGINT NOT NULL DEFAULT 0;\n\
    CREATE TABLE added (id TEXT PRIMARY KEY); CREATE INDEX added_by_time ON conversations (created_at);";

const BREAKING: &str = "ALTER TABLE messages RENAME COLUMN body TO content;";

/// Returns the migrations of a later version, whose last ones are these.
fn later_version(texts: &[&str]) -> Vec<Migration> {
    let mut all = migrations::all();
    for text in texts {
        let newest = all.last().unwrap().version;
        let sql = text.replace("NEWEST", &newest.to_string());
        let sql = AssertSqlSafe(sql).into_sql_str();
        all.push(Migration::new(
            newest + 1,
            "later".into(),
            MigrationType::Simple,
            sql,
            false,
        ));
    }
    all
}

async fn connect(folder: &TempDir) -> PgConnection {
    let database = postgres::tests::database_of(folder.path()).await;
    PgConnection::connect(&database.url).await.unwrap()
}

/// Opens the database as a node of this version, which may be refused.
async fn open(folder: &TempDir) -> Result<SqlStorage, StorageError> {
    let database = postgres::PostgresDatabase {
        nodes: NodeSettings {
            enabled: true,
            ..NodeSettings::default()
        },
        ..postgres::tests::database_of(folder.path()).await
    };
    SqlStorage::open_postgres(folder.path(), &database).await
}

/// Writes a turn and reads it again.
async fn answer(storage: &SqlStorage, words: &str) {
    let turn = new_turn(TEST_USER, ConversationId::new(), words);
    let end = answer_run(turn.run, words, RunStatus::Complete);
    for change in [turn.change.clone(), end] {
        commit_one(storage, &change).await.expect("it is stored");
    }
    let read = full_transcript(storage, turn.run.conversation_id).await.unwrap();
    assert_eq!(read.messages.len(), 2, "{words}");
}

#[tokio::test]
async fn the_next_version_runs_beside_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let old = node(&folder, LONG).await;
    answer(&old, "before").await;
    let mut next = connect(&folder).await;
    let versions = later_version(&[ADDING]);
    assert!(
        !migrations::apply(&mut next, &versions).await.unwrap(),
        "its tables stay"
    );
    // With the statements that it has prepared.
    answer(&old, "beside").await;
    // It may begin another lease, and be started again.
    old.join().await.unwrap();
    answer(&old, "again").await;
    answer(&node(&folder, LONG).await, "restarted").await;
    assert!(!migrations::apply(&mut next, &versions).await.unwrap());
}

#[tokio::test]
async fn breaking_migrations_wait_for_the_end_of_older_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let old = node(&folder, LONG).await;
    answer(&old, "before").await;
    let mut next = connect(&folder).await;
    let versions = later_version(&[BREAKING]);
    let refused = migrations::apply(&mut next, &versions).await;
    assert!(
        matches!(refused, Err(StorageError::OlderNodesAtWork)),
        "{refused:?}"
    );
    answer(&old, "still at work").await;
    old.join().await.expect("nothing was changed");

    // A node that sleeps without a lease does not come back to tables that it does not know.
    let asleep = node(&folder, LONG).await;
    for storage in [&old, &asleep] {
        sqlx::query("DELETE FROM nodes").execute(&mut next).await.unwrap();
        assert!(!storage.renew().await.unwrap());
    }
    migrations::apply(&mut next, &versions).await.unwrap();
    let newest = migrations::newest();
    for refused in [asleep.join().await, open(&folder).await.map(drop)] {
        assert!(
            matches!(refused, Err(StorageError::NewerSchema(version)) if version == newest + 1),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn nodes_of_three_versions_do_not_run_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let old = node(&folder, LONG).await;
    let mut next = connect(&folder).await;
    migrations::apply(&mut next, &later_version(&[ADDING]))
        .await
        .unwrap();
    // The second one works with the first, but not with the version that is still at work.
    let versions = later_version(&[
        ADDING,
        "-- Works with: NEWEST\nCREATE TABLE further (id TEXT PRIMARY KEY);",
    ]);
    let refused = migrations::apply(&mut next, &versions).await;
    assert!(
        matches!(refused, Err(StorageError::OlderNodesAtWork)),
        "{refused:?}"
    );
    old.leave().await.unwrap();
    migrations::apply(&mut next, &versions).await.unwrap();
}
