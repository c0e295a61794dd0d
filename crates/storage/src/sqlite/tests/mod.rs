//! Tests of SQLite's own behaviour: its errors and its query plans. Tests for every backend are in
//! `conformance`.

use std::path::Path;

use sqlx::{ConnectOptions, Connection, Row, sqlite::SqliteConnectOptions};

use super::*;
use crate::{
    sql::{
        branch, commit,
        database::{Sql, query, query_scalar},
        log_page, messages, payloads, personal, provider_data, queries, run_context,
    },
    *,
};
use parlor_protocol::{AssistantMessage, IntentId, RunEvent, intent::SendMessage};

mod damage;
pub(crate) use damage::tables::fill_tables;
mod data_folder;
mod erasure;
mod hand_over;
mod search;

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// Executes SQL directly on the database, whose logs are read again afterwards as after a restart.
async fn execute_sql(storage: &SqliteStorage, sql: String) {
    let mut writer = storage.writer.lock().await;
    writer.last_positions.clear();
    let connection = writer.connection.as_mut().unwrap().sqlite().unwrap();
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .execute(connection)
        .await
        .unwrap();
}

fn send_change(text: &str) -> (Change, RunKey) {
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    };
    let intent = SendMessage {
        intent_id: IntentId::new(),
        conversation_id: run.conversation_id,
        user_message_id: MessageId::new(),
        text: text.into(),
        files: Vec::new(),
        model: Some("x/m".into()),
        replaces: None,
        temporary: false,
        project_id: None,
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    };
    let start = RunStart {
        context_snapshot: None,
        run: run.message_id,
        default_model: String::new(),
        parameters: None,
        fingerprint: String::new(),
    };
    let change = Change::Intent {
        user_id: run.user_id,
        change: IntentChange::SendMessage { intent, start },
    };
    (change, run)
}

#[tokio::test]
async fn recovers_when_a_full_disk_has_room() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    storage.commit(NOON, &[send_change("before").0]).await.unwrap();
    {
        // SQLite reports a full disk when the file may not grow. The limit is per connection: a new one has
        // none.
        let mut writer = storage.writer.lock().await;
        let connection = writer.connection.as_mut().unwrap().sqlite().unwrap();
        sqlx::query("PRAGMA max_page_count = 1")
            .execute(connection)
            .await
            .unwrap();
    }
    let (large, run) = send_change(&"x".repeat(1 << 20));
    let full = storage.commit(NOON, std::slice::from_ref(&large)).await;
    assert!(
        full.as_ref()
            .is_err_and(|error| error.kind() == StorageErrorKind::DiskFull),
        "{full:?}"
    );
    assert_eq!(
        storage
            .transcript(run.user_id, run.conversation_id, PageSize::UNLIMITED, None)
            .await
            .unwrap(),
        None
    );
    let committed = storage.commit(NOON, &[large]).await.unwrap();
    assert!(committed.outcomes[0].is_ok(), "{committed:?}");
}

#[tokio::test]
async fn an_unstorable_change_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let (first, _) = send_change("first");
    storage.commit(NOON, std::slice::from_ref(&first)).await.unwrap();
    execute_sql(&storage, "UPDATE intents SET started = 'not JSON'".into()).await;
    let committed = storage
        .commit(NOON, &[first, send_change("another").0])
        .await
        .unwrap();
    assert!(matches!(
        committed.outcomes[0],
        Err(ChangeRejection::Damaged(Some(_)))
    ));
    assert!(committed.outcomes[1].is_ok(), "{committed:?}");
}

/// Returns SQLite's plan of a query.
async fn query_plan(storage: &SqliteStorage, query: &str) -> String {
    let mut connection = storage.readers.acquire().await.unwrap();
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {query}")))
        .fetch_all(connection.sqlite().unwrap())
        .await
        .unwrap();
    let details: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
    details.join("; ")
}

fn select_context() -> &'static str {
    match run_context::SELECT_CONTEXT {
        Sql::Two { sqlite, .. } => sqlite,
        _ => unreachable!("it has two forms"),
    }
}

#[tokio::test]
async fn frequent_queries_use_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    for (query, index) in [
        (
            log_page::SELECT_USER_EVENTS,
            "PRIMARY KEY (user_id=? AND position>?)",
        ),
        (
            log_page::SELECT_RUN_EVENTS,
            "events_of_run (message_id=? AND position>?)",
        ),
        (
            messages::SELECT_UNSTORED_EVENTS,
            "events_of_run (message_id=? AND position>?)",
        ),
        (
            queries::SELECT_CONVERSATIONS,
            "listed_conversations (user_id=? AND activity<?)",
        ),
        (
            queries::SELECT_ARCHIVED,
            "archived_conversations (user_id=? AND activity<?)",
        ),
        (
            queries::SELECT_OF_PROJECT,
            "conversations_of_project (project_id=? AND activity<?)",
        ),
        (
            queries::SELECT_PINNED_OF_PROJECT,
            "conversations_of_project (project_id=?)",
        ),
        (queries::SELECT_PINNED, "pinned_conversations (user_id=?)"),
        (personal::SELECT_MEMORIES, "memories_of_user (user_id=?)"),
        (personal::SELECT_TOKENS, "api_tokens_of_user (user_id=?)"),
        (personal::SELECT_TOKEN, "(hash=?)"),
        (queries::SELECT_RUNNING_RUNS, "one_active_run_per_conversation"),
        (select_context(), "messages_of_parent (parent_id=?)"),
        (
            payloads::SELECT_PAYLOADS,
            "SEARCH p USING PRIMARY KEY (conversation_id=? AND id=?)",
        ),
        (
            provider_data::SELECT_PROVIDER_DATA,
            "opaque_of_conversation (conversation_id=? AND message_id=?)",
        ),
        (branch::SELECT_BRANCH, "SEARCH m USING PRIMARY KEY (id=?)"),
        (messages::SELECT_SIBLINGS, "messages_of_parent (parent_id=?)"),
        (messages::SELECT_SIBLINGS, "root_messages (conversation_id=?)"),
        (
            commit::conversations::NEWEST_DESCENDANT,
            "messages_of_parent (parent_id=?)",
        ),
        (
            messages::SELECT_ACTIVE_RUN,
            "one_active_run_per_conversation (conversation_id=?)",
        ),
    ] {
        let plan = query_plan(&storage, query).await;
        assert!(plan.contains(index), "{query}\n{plan}");
        assert!(
            !plan.contains("TEMP B-TREE")
                || [
                    queries::SELECT_RUNNING_RUNS,
                    branch::SELECT_BRANCH,
                    select_context(),
                    payloads::SELECT_PAYLOADS,
                    provider_data::SELECT_PROVIDER_DATA,
                    commit::conversations::NEWEST_DESCENDANT
                ]
                .contains(&query),
            "{query}\n{plan}"
        );
    }
}

#[tokio::test]
async fn old_answers_have_no_provider_data() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let (change, run) = send_change("Hello");
    storage.commit(NOON, &[change]).await.unwrap();
    storage.close().await.unwrap();
    drop(storage);
    // A row from before the table existed, with an answer that has no finish reason.
    let body = r#"{"role":"assistant","model":"x/m","status":"complete","nodes":[{"parts":[{"type":"text","text":"Hi"}]}]}"#;
    let options = SqliteConnectOptions::new().filename(folder.path().join(DATABASE_FILE_NAME));
    let mut connection = options.connect().await.unwrap();
    for (sql, bound) in [
        (
            "DROP TABLE opaque; DELETE FROM _sqlx_migrations WHERE version = 13 OR version = $1",
            "0".into(),
        ),
        (
            "UPDATE messages SET body = $1 WHERE parent_id IS NOT NULL",
            body.to_owned(),
        ),
    ] {
        sqlx::query(sql)
            .bind(bound)
            .execute(&mut connection)
            .await
            .unwrap();
    }
    connection.close().await.unwrap();

    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let context = storage.run_context(run).await.unwrap().unwrap();
    assert!(context.provider_data.is_empty());
    assert_eq!(
        (context.answer.text().as_str(), context.answer.finish_reason),
        ("Hi", None)
    );
}

#[tokio::test]
async fn checkpoints_run_during_commits() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let file = folder.path().join(DATABASE_FILE_NAME);
    wait_for_empty_wal(folder.path()).await;
    let before = std::fs::metadata(&file).unwrap().len();
    let (start, run) = send_change(&"x".repeat(100_000));
    storage.commit(NOON, &[start]).await.unwrap();
    let event = RunEvent::run_ended(RunStatus::Complete, None, NOON, 0);
    let message = AssistantMessage::new("x/m");
    let end = Change::Output {
        run,
        output: RunOutput::EndRun {
            events: vec![event],
            message,
        },
    };
    storage.commit(NOON, &[end]).await.unwrap();
    wait_until(|| std::fs::metadata(&file).unwrap().len() >= before + 100_000).await;
}

/// Polls until a condition without notification holds.
async fn wait_until(is_so: impl Fn() -> bool) {
    let becomes_so = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), becomes_so)
        .await
        .expect("the condition holds in time");
}

/// Waits until the write-ahead log is empty, which happens once after each start.
async fn wait_for_empty_wal(folder: &Path) {
    let log = folder.join(format!("{DATABASE_FILE_NAME}-wal"));
    wait_until(|| std::fs::metadata(&log).unwrap().len() == 0).await;
}

#[tokio::test]
async fn unusable_data_is_left_unchanged() {
    let open = async |folder: &Path| {
        SqliteStorage::open(folder)
            .await
            .map(drop)
            .unwrap_err()
            .to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DATABASE_FILE_NAME);
    let noise = vec![b'x'; 9000];
    std::fs::write(&file, &noise).unwrap();
    let error = open(folder.path()).await;
    assert!(error.contains("damaged") && error.contains(".recover"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), noise);

    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStorage::open(folder.path()).await.unwrap());
    let mut connection = SqliteConnectOptions::new()
        .filename(folder.path().join(DATABASE_FILE_NAME))
        .connect()
        .await
        .unwrap();
    sqlx::query("INSERT INTO _sqlx_migrations VALUES (99, 'later', current_timestamp, 1, x'00', 1)")
        .execute(&mut connection)
        .await
        .unwrap();
    let error = open(folder.path()).await;
    assert!(error.contains("newer Parlor"), "{error}");

    let file = tempfile::NamedTempFile::new().unwrap();
    let error = open(file.path()).await;
    assert!(error.contains("the data folder"), "{error}");
}

#[tokio::test]
async fn other_users_linked_data_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let link = async |child: MessageId, parent: MessageId| {
        let mut writer = storage.writer.lock().await;
        query("UPDATE messages SET parent_id = $1 WHERE id = $2")
            .bind_value(parent)
            .bind_value(child)
            .execute(writer.connection.as_mut().unwrap())
            .await
            .unwrap();
    };
    let of = |user_id: UserId, text: &str| {
        let (change, mut run) = send_change(text);
        let Change::Intent {
            change: IntentChange::SendMessage { intent, start, .. },
            ..
        } = change
        else {
            unreachable!("it sends")
        };
        run.user_id = user_id;
        let asked = intent.user_message_id;
        let change = Change::Intent {
            user_id,
            change: IntentChange::SendMessage { intent, start },
        };
        (change, run, asked)
    };
    let bob = UserId(uuid::Uuid::from_u128(2));
    let (before, bobs_before, _) = of(bob, "before");
    let (mine, run, asked) = of(UserId::LOCAL, "mine");
    let (after, _, bobs_after) = of(bob, "after");
    storage.commit(NOON, &[before, mine, after]).await.unwrap();
    link(asked, bobs_before.message_id).await;
    link(bobs_after, run.message_id).await;

    let through = Change::Conversation {
        user_id: run.user_id,
        conversation_id: run.conversation_id,
        change: ConversationChange::SelectBranch { through: asked },
    };
    let selected = storage.commit(NOON, &[through]).await.unwrap();
    assert!(selected.outcomes[0].is_ok(), "{selected:?}");
    let read = storage
        .transcript(run.user_id, run.conversation_id, PageSize::UNLIMITED, None)
        .await
        .unwrap()
        .expect("it is there");
    let ids: Vec<MessageId> = read.messages.iter().map(|message| message.id).collect();
    assert_eq!(
        (ids, read.active_leaf),
        (vec![asked, run.message_id], Some(run.message_id))
    );
}
