//! A start with one damaged row of each table: nothing fails as a whole, and what is not damaged can be used.

use std::{panic::AssertUnwindSafe, path::Path};

use futures::FutureExt;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, Row, SqliteConnection, sqlite::SqliteConnectOptions};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::post;
use crate::support::{Parlor, string_field};

/// The rows of every table, and which one of each is damaged.
const ROWS: &str = include_str!("../../fixtures/damage/rows.sql");
const TABLES: &str = include_str!("../../fixtures/damage/tables.json");

/// The content of the data folder, by the names that the rows have for it.
struct Content(Vec<(&'static str, String)>);

impl Content {
    fn fill(&self, text: &str) -> String {
        let names = self.0.iter();
        names.fold(text.to_owned(), |text, (name, id)| {
            text.replace(&format!("{{{name}}}"), id)
        })
    }

    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(other, _)| *other == name);
        &found.expect("a name").1
    }
}

async fn open_database(folder: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.join("parlor.db"));
    options.connect().await.expect("the database opens")
}

async fn execute(database: &mut SqliteConnection, sql: String) {
    let executed = sqlx::query(AssertSqlSafe(sql)).execute(database).await;
    executed.expect("it is executed");
}

/// Makes two conversations, and two rows of every other table.
async fn fill_folder(folder: &Path, upstream: &Upstream) -> Content {
    let parlor = Parlor::start(folder, upstream).await;
    let mut content = vec![
        ("user", Uuid::from_u128(1).to_string()),
        ("other", Uuid::now_v7().to_string()),
    ];
    for [conversation, question, answer] in [
        ["conversation", "question", "answer"],
        ["sound_conversation", "sound_question", "sound_answer"],
    ] {
        let turn = parlor.turn(None, "Hello").await;
        let saved = turn.iter().find(|event| event["type"] == "user_message_saved");
        let saved = saved.expect("a question");
        content.push((conversation, string_field(saved, "conversation_id")));
        content.push((question, string_field(saved, "user_message_id")));
        content.push((answer, string_field(saved, "message_id")));
    }
    parlor.stop().await;
    let content = Content(content);
    execute(&mut open_database(folder).await, content.fill(ROWS)).await;
    content
}

/// Copies a data folder, without its lock and the files of SQLite that a closed database does not need.
fn copy_folder(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    std::fs::copy(from.join("parlor.db"), to.path().join("parlor.db")).unwrap();
    std::fs::create_dir_all(to.path().join("files")).unwrap();
    to
}

/// Damages all values of a row that are no keys. No version writes any of them.
async fn damage_row(folder: &Path, table: &str, row: &str) {
    let mut database = open_database(folder).await;
    let columns = format!("SELECT name, type FROM pragma_table_info('{table}') WHERE pk = 0");
    let columns = sqlx::query(AssertSqlSafe(columns)).fetch_all(&mut database).await;
    let damage: Vec<String> = columns
        .expect("its columns")
        .iter()
        .map(|column| {
            let wrong = match column.get::<&str, _>("type") {
                "TEXT" => "CAST(X'7bff' AS TEXT)",
                _ => "'x{'",
            };
            format!("{} = {wrong}", column.get::<&str, _>("name"))
        })
        .collect();
    if damage.is_empty() {
        return;
    }
    for sql in [
        "PRAGMA foreign_keys = OFF".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        format!(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT,', ')'), ') STRICT', ')') WHERE name = '{table}'"
        ),
        "PRAGMA schema_version = 1000".to_owned(),
        "PRAGMA writable_schema = RESET".to_owned(),
        format!("UPDATE {table} SET {} WHERE {row}", damage.join(", ")),
    ] {
        execute(&mut database, sql).await;
    }
}

#[tokio::test]
async fn starts_with_a_damaged_row_of_any_table() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let content = fill_folder(folder.path(), &upstream).await;
    let tables: Vec<(String, String)> = serde_json::from_str(TABLES).expect("the tables");
    let mut failures = Vec::new();
    for (table, row) in tables {
        let copy = copy_folder(folder.path());
        damage_row(copy.path(), &table, &content.fill(&row)).await;
        let check = check_start(copy.path(), &upstream, &content, &table);
        if AssertUnwindSafe(check).catch_unwind().await.is_err() {
            failures.push(table);
        }
    }
    assert_eq!(failures, Vec::<String>::new());
}

/// Checks that what is not damaged can be read and continued, and that the damaged conversation can be deleted.
async fn check_start(folder: &Path, upstream: &Upstream, content: &Content, table: &str) {
    let (damaged, sound) = (content.get("conversation"), content.get("sound_conversation"));
    let parlor = Parlor::start(folder, upstream).await;
    let (status, list) = parlor.get_json("/api/conversations").await;
    let list = list["conversations"].as_array();
    let has_sound = list.is_some_and(|list| list.iter().any(|one| one["id"] == sound));
    assert!(status == 200 && has_sound, "{table}: {list:?}");
    let transcript = parlor.transcript(sound).await;
    assert_eq!(
        transcript["messages"].as_array().map(Vec::len),
        Some(2),
        "{table}: {transcript}"
    );
    for page in ["/", "/settings", "/literature/saved"] {
        let status = parlor.get(page).send().await.unwrap().status();
        assert_eq!(status, 200, "{table} {page}");
    }
    for conversation in [None, Some(sound)] {
        let turn = parlor.turn(conversation, "More").await;
        assert_eq!(turn.last().expect("an end")["type"], "complete", "{table}");
    }
    let delete = json!({ "conversation_id": damaged });
    let (status, said) = post(&parlor, "/rpc/delete_conversation", &delete).await;
    assert_eq!(status, 200, "{table}: {said}");
    let path = format!("/api/conversations/{damaged}");
    assert_eq!(parlor.get_json(&path).await.0, 404, "{table}");
    parlor.stop().await;
}
