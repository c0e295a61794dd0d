//! Hostile SQL: each statement of the files ends with an error within its limits, and nothing has changed.

use std::{collections::BTreeMap, fs, path::Path};

use super::*;

/// Returns the statements of a file.
pub fn statements(file: &str) -> Vec<String> {
    let repeat = |count: usize, text: &str, between: &str| vec![text; count].join(between);
    let lines = file.lines().filter(|line| !line.starts_with("# "));
    let statements = lines.map(|line| {
        line.replace("\\n", "\n")
            .replace("\\r", "\r")
            .replace("\\f", "\x0c")
            .replace("\\v", "\x0b")
            .replace("\\0", "\0")
            .replace("$WIDE", &repeat(3000, "1", ","))
            .replace("$COMPOUND", &repeat(2000, "1", " UNION ALL SELECT "))
            .replace("$DEEP", &format!("{}1{}", "(-".repeat(5000), ")".repeat(5000)))
            .replace("$LONG", &repeat(100_000, "1", ","))
            .replace("$ARGS", &repeat(2000, "NULL", ","))
    });
    statements.collect()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[tokio::test]
async fn sqlite_survives_hostile_statements() {
    let folder = tempfile::tempdir().unwrap();
    let settings = make_sqlite(folder.path());
    let database = Database::new(&settings, &hostile_limits()).unwrap();
    let before = files(folder.path());
    let statements = statements(include_str!("../../../../tests/fixtures/sql/hostile-sqlite.txt"));
    assert!(statements.len() >= 150, "{} statements", statements.len());
    let mut accepted = Vec::new();
    for sql in &statements {
        let shown: String = sql.chars().take(100).collect();
        match tokio::time::timeout(Duration::from_secs(60), database.query(sql)).await {
            Ok(Ok(result)) => accepted.push(format!("{shown}: {:?}", cells(&result))),
            Ok(Err(error)) => assert!(!error.message.is_empty(), "{shown}"),
            Err(_) => panic!("it runs too long: {shown}"),
        }
        assert_eq!(files(folder.path()), before, "{shown}");
    }
    assert!(accepted.is_empty(), "not refused:\n{}", accepted.join("\n"));
    let outside = [
        "/tmp/stolen.db",
        "/tmp/stolen-by-vacuum.db",
        "/tmp/stolen",
        "stolen.db",
    ];
    assert!(outside.iter().all(|path| !Path::new(path).exists()));
    // It still works.
    let database = Database::new(&settings, &limits()).unwrap();
    let rows = database.query("SELECT count(*) FROM jobs").await.unwrap();
    assert_eq!(cells(&rows), [[Some("3".to_owned())]]);
}

/// Checks that the statements are hostile: without the authorizer and the limits, some of them work.
#[test]
fn hostile_statements_work_without_protection() {
    let folder = tempfile::tempdir().unwrap();
    make_sqlite(folder.path());
    let mut worked = 0;
    for sql in [
        "DELETE FROM jobs WHERE 1 RETURNING *",
        "CREATE TABLE stolen AS SELECT * FROM jobs",
        "ATTACH ':memory:' AS other",
        "PRAGMA user_version = 5",
        "SELECT * FROM pragma_database_list",
    ] {
        let file = include_str!("../../../../tests/fixtures/sql/hostile-sqlite.txt");
        assert!(file.lines().any(|line| line == sql), "{sql}");
        let connection = rusqlite::Connection::open(folder.path().join("town.db")).unwrap();
        worked += usize::from(connection.execute_batch(sql).is_ok());
    }
    assert_eq!(worked, 5);
}
