//! One damaged row of every table: each value of it is replaced by one that no version writes. What can't be read is that row,
//! nothing fails as a whole, and the row goes with what it belongs to.
//!
//! - [`readings`]: everything that storage returns, as lines
//! - [`changes`]: the changes that touch the rows, up to the deletion of their user

mod changes;
mod readings;

use std::{collections::BTreeSet, panic::AssertUnwindSafe, path::Path};

use futures::FutureExt;
use sqlx::{AssertSqlSafe, Row};

use self::{changes::check_changes, readings::read_all};
use super::*;
use captured_log::CapturedLog;

/// Returns every table, and its row that is damaged. Its text or the ids of the first conversation are in every line that reads it.
fn tables() -> Vec<(String, String)> {
    serde_json::from_str(include_str!(
        "../../../../../../../tests/fixtures/damage/tables.json"
    ))
    .unwrap()
}

/// Tables whose rows belong to no user, or to a user that these tests don't delete.
const KEPT_TABLES: &[&str] = &[
    "audit_log",
    "chat_search",
    "deleted_files",
    "endpoints",
    "file_contents",
    "file_parts",
    "invitations",
    "pending_deletions",
    "retention",
    "search_pending",
    "server_options",
    "users",
];

/// Tables without a row that can't be read: their values are shown as they are, or only compared.
const SHOWN_TABLES: &[&str] = &[
    "allowed_tools",
    "deleted_conversations",
    // Other bytes than were stored are found by their hash.
    "file_parts",
    "identities",
    "instructions",
    "payloads",
    "chat_search",
    "retention",
    "search_pending",
    "share_readers",
];

/// A storage with two rows in every table.
struct Filled {
    storage: SqliteStorage,
    ids: Ids,
    _folder: tempfile::TempDir,
}

/// The ids of its content.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    user: UserId,
    other: UserId,
    conversation: ConversationId,
    question: MessageId,
    answer: MessageId,
    sound_conversation: ConversationId,
    sound_question: MessageId,
    sound_answer: MessageId,
}

impl Ids {
    /// Replaces the names in braces.
    fn fill(&self, text: &str) -> String {
        [
            ("{user}", self.user.to_string()),
            ("{other}", self.other.to_string()),
            ("{conversation}", self.conversation.to_string()),
            ("{question}", self.question.to_string()),
            ("{answer}", self.answer.to_string()),
            ("{sound_conversation}", self.sound_conversation.to_string()),
            ("{sound_question}", self.sound_question.to_string()),
            ("{sound_answer}", self.sound_answer.to_string()),
        ]
        .iter()
        .fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    /// Returns true if a line is about the damaged rows.
    fn is_about_damaged(&self, line: &str) -> bool {
        ["dddddddd".to_owned()]
            .into_iter()
            .chain([self.conversation.to_string()])
            .chain([self.question, self.answer].map(|id| id.to_string()))
            .any(|id| line.contains(&id))
    }
}

pub(crate) async fn fill_tables(folder: &Path) -> Ids {
    let storage = SqliteStorage::open(folder).await.unwrap();
    let (conversation, sound_conversation) = (ConversationId::new(), ConversationId::new());
    let (question, run) = answered_turn(&storage, conversation, "Hello").await;
    let (sound_question, sound_run) = answered_turn(&storage, sound_conversation, "Another").await;
    let ids = Ids {
        user: UserId::LOCAL,
        other: UserId::new(),
        conversation,
        question,
        answer: run.message_id,
        sound_conversation,
        sound_question,
        sound_answer: sound_run.message_id,
    };
    let rows = include_str!("../../../../../../../tests/fixtures/damage/rows.sql");
    execute_sql(&storage, ids.fill(rows)).await;
    storage.close().await.unwrap();
    ids
}

/// Opens a copy of a filled storage, as a start of the server does.
async fn open_copy(original: &Path, ids: &Ids) -> Filled {
    let folder = tempfile::tempdir().unwrap();
    let file = DATABASE_FILE_NAME;
    std::fs::copy(original.join(file), folder.path().join(file)).unwrap();
    Filled {
        storage: SqliteStorage::open(folder.path()).await.unwrap(),
        ids: ids.clone(),
        _folder: folder,
    }
}

async fn rows(storage: &SqliteStorage, sql: String) -> Vec<sqlx::sqlite::SqliteRow> {
    let mut writer = storage.writer.lock().await;
    let connection = writer.connection.as_mut().unwrap().sqlite().unwrap();
    sqlx::query(AssertSqlSafe(sql))
        .fetch_all(connection)
        .await
        .unwrap()
}

/// Damages a row as a damaged page does: the constraints hold before and after, and not for its values. Returns false if the value
/// can't be in the column at all, such as null in a key.
async fn damage_row(storage: &SqliteStorage, table: &str, row: &str, column: &str, value: &str) -> bool {
    let mut writer = storage.writer.lock().await;
    let connection = writer.connection.as_mut().unwrap().sqlite().unwrap();
    let mut run = async |sql: String| sqlx::query(AssertSqlSafe(sql)).execute(&mut *connection).await;
    let relaxed = "replace(replace(replace(sql, ' NOT NULL', ''), ') STRICT,', ')'), ') STRICT', ')')";
    for sql in [
        "PRAGMA foreign_keys = OFF".to_owned(),
        "CREATE TEMP TABLE saved_schema AS SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
            .to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        format!("UPDATE sqlite_schema SET sql = {relaxed} WHERE type = 'table' AND name = '{table}'"),
        "PRAGMA schema_version = 1000".to_owned(),
        "PRAGMA writable_schema = RESET".to_owned(),
    ] {
        run(sql).await.unwrap();
    }
    let damaged = run(format!("UPDATE {table} SET {column} = {value} WHERE {row}")).await;
    for sql in [
        "PRAGMA writable_schema = ON".to_owned(),
        format!(
            "UPDATE sqlite_schema SET sql = (SELECT sql FROM saved_schema WHERE name = '{table}') \
             WHERE type = 'table' AND name = '{table}'"
        ),
        "PRAGMA schema_version = 1001".to_owned(),
        "PRAGMA writable_schema = RESET".to_owned(),
        "DROP TABLE temp.saved_schema".to_owned(),
        "PRAGMA foreign_keys = ON".to_owned(),
    ] {
        run(sql).await.unwrap();
    }
    match damaged {
        Ok(damaged) => {
            assert_eq!(damaged.rows_affected(), 1, "{table} {row}");
            true
        }
        Err(_) => false,
    }
}

/// Values that a column of this type never has.
fn damaged_values(data_type: &str) -> &'static [&'static str] {
    match data_type {
        "INTEGER" => &["NULL", "'x{'"],
        "BLOB" => &["NULL", "'x{'"],
        _ => &["NULL", "X'ff00'", "CAST(X'7bff' AS TEXT)"],
    }
}

#[tokio::test]
async fn every_table_has_an_entry() {
    // A damaged search index is built again.
    let (_folder, storage) = open_storage().await;
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%' \
               AND name NOT LIKE 'search_index%'";
    let stored: BTreeSet<String> = rows(&storage, sql.into())
        .await
        .iter()
        .map(|row| row.get("name"))
        .collect();
    let listed: BTreeSet<String> = tables().into_iter().map(|(table, _)| table).collect();
    assert_eq!(listed, stored);
}

mod properties {
    #[tokio::test]
    async fn damaged_row_is_skipped_alone_in_every_table() {
        for seed in fuzzing::test_seeds!() {
            super::damage_every_column(seed).await;
        }
    }
}

/// Damages each column of each table once; the seed decides with which of its values. (All of them take two minutes.)
async fn damage_every_column(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let ids = fill_tables(folder.path()).await;
    let (log, _guard) = CapturedLog::capture();
    let sound = read_all(&open_copy(folder.path(), &ids).await, "sound").await;
    let mut failures = Vec::new();
    for (table, row) in tables() {
        let row = ids.fill(&row);
        // Returns false if the value can't be in the column.
        let mut check = async |column: &str, value: &str| {
            let damage = format!("{table}.{column} = {value}");
            let filled = open_copy(folder.path(), &ids).await;
            if !damage_row(&filled.storage, &table, &row, column, value).await {
                return false;
            }
            let check = check_damage(&filled, &sound, &log, (&table, &row, column), &damage);
            if AssertUnwindSafe(check).catch_unwind().await.is_err() {
                failures.push(damage);
            }
            true
        };
        let mut untried = Vec::new();
        for (index, (column, data_type)) in columns(folder.path(), &ids, &table).await.into_iter().enumerate()
        {
            let values = damaged_values(&data_type);
            // There are two or three values.
            let first = (seed % 6) as usize + index;
            let mut values = values.iter().cycle().skip(first).take(values.len());
            while let Some(value) = values.next()
                && !check(&column, value).await
            {}
            untried.extend(values.map(|value| (column.clone(), value)));
        }
        // The names of events are positions, which other tests of this process log, too.
        let is_logged = || table == "events" || log.contains(&format!("\"{table}\""));
        let is_shown = SHOWN_TABLES.contains(&&*table);
        // Some tables have only one value that can't be read.
        while !is_shown
            && !is_logged()
            && let Some((column, value)) = untried.pop()
        {
            check(&column, value).await;
        }
        let is_logged = is_logged();
        if table != "events" && is_logged == is_shown {
            failures.push(format!("{table} is logged: {is_logged}"));
        }
    }
    assert_eq!(failures, Vec::<String>::new());
}

/// Checks that a damage costs only its row.
async fn check_damage(
    filled: &Filled,
    sound: &BTreeSet<String>,
    log: &CapturedLog,
    (table, row, column): (&str, &str, &str),
    damage: &str,
) {
    let read = read_all(filled, damage).await;
    for lost in sound.difference(&read) {
        let is_excused = filled.ids.is_about_damaged(lost) || is_of_a_run(table, lost);
        assert!(is_excused, "{damage}: {lost}");
    }
    // The first reading has logged the row.
    let logged = log.count("a stored row is damaged");
    assert_eq!(read_all(filled, damage).await, read, "{damage}");
    assert_eq!(log.count("a stored row is damaged"), logged, "{damage}");
    let is_key = ["id", "user_id", "conversation_id", "message_id"].contains(&column);
    check_changes(filled, damage, (table, row), is_key).await;
}

/// Returns true for a line about what a run gets, if the damaged message or conversation has no run any more.
fn is_of_a_run(table: &str, line: &str) -> bool {
    let labels = ["allowed", "summary", "provider data", "model call"];
    ["conversations", "messages"].contains(&table) && labels.iter().any(|label| line.starts_with(label))
}

/// Returns the columns of a table, with their types.
async fn columns(folder: &Path, ids: &Ids, table: &str) -> Vec<(String, String)> {
    let filled = open_copy(folder, ids).await;
    let columns = format!("SELECT name, type FROM pragma_table_info('{table}')");
    let columns = rows(&filled.storage, columns).await;
    let columns = columns.iter().map(|row| (row.get("name"), row.get("type")));
    columns.collect()
}
