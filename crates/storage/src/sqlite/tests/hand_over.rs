//! The hand-over of a user's data has a place for every table with a user.

use super::*;
use crate::sql::commit::hand_over::CHANGE_OWNER;

/// The tables that `CHANGE_OWNER` leaves out, each with the reason. Most rows are deleted with the account.
const OTHER_TABLES: &[(&str, &str)] = &[
    ("accounts", "the account that is deleted"),
    ("allowed_tools", "decisions of the former owner"),
    ("api_tokens", "access to the account"),
    ("audit_log", "a record of the former owner, which stays"),
    ("chat_search", "a decision of the former owner"),
    ("retention", "a decision of the former owner"),
    ("conversations", "handed over one by one, each with an event"),
    ("daily_usage", "use that does not count for the new owner"),
    ("deleted_conversations", "nothing of them is left but the id"),
    ("deleted_files", "files below the folder of their first user"),
    ("endpoints", "access of the former owner to model servers"),
    ("events", "the former log; the new owner's log gets new events"),
    (
        "file_contents",
        "below the folder of their first user, as other files",
    ),
    ("file_parts", "as their contents"),
    ("hidden_messages", "deleted before"),
    ("identities", "access to the account"),
    ("instructions", "about the former owner"),
    ("intents", "requests of the former owner's clients"),
    ("invitations", "links for the account"),
    ("job_calls", "records with the former owner's instructions"),
    ("model_calls", "records with the former owner's instructions"),
    ("pending_deletions", "the deletion itself"),
    (
        "project_readers",
        "end with the account: its heir shares with others",
    ),
    ("queued_messages", "deleted before, as they were never sent"),
    ("schedule_runs", "end with the account"),
    (
        "schedules",
        "end with the account: nobody goes on sending another's prompts",
    ),
    ("search_documents", "made again for the new owner"),
    ("sessions", "access to the account"),
    ("share_readers", "shares of others"),
    ("shares", "end with the account"),
];

const TABLES_WITH_A_USER: &str = "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND ( \
         EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = 'user_id') \
         OR EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name) k \
             WHERE k.\"table\" IN ('users', 'accounts')) \
     ) ORDER BY t.name";

/// Returns the table of a statement `UPDATE … table SET user_id = $2 …`.
fn changed_table(statement: &str) -> &str {
    let (before, _) = statement.split_once(" SET user_id = $2").unwrap();
    before.rsplit(' ').next().unwrap()
}

#[tokio::test]
async fn every_table_with_a_user_has_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let mut writer = storage.writer.lock().await;
    let connection = writer.connection.as_mut().unwrap().sqlite().unwrap();
    let stored: Vec<String> = sqlx::query_scalar(TABLES_WITH_A_USER)
        .fetch_all(connection)
        .await
        .unwrap();

    let changed = CHANGE_OWNER.map(changed_table);
    let others = OTHER_TABLES.iter().map(|(table, _)| *table);
    let mut listed: Vec<&str> = changed.into_iter().chain(others).collect();
    listed.sort_unstable();
    assert_eq!(
        listed, stored,
        "add a new table to CHANGE_OWNER, or to OTHER_TABLES with the reason"
    );
}
