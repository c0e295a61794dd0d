//! Tests of databases: SQLite here, [`hostile`] statements for both kinds, and a real Postgres ([`server`]).

mod hostile;
mod oracle;
mod postgres;
mod server;
mod sqlite_features;
mod stored_rows;

use std::{path::Path, time::Duration};

use super::*;

/// The documentation of [`make_sqlite`]'s database.
const DOCUMENTATION: &str = "# Labour\nAbout work.\n## jobs\nOne row a year.\n- rate: Percent of all\n";

/// Limits for tests. No timeout that a busy machine could reach.
pub(super) fn limits() -> DataSettings {
    DataSettings {
        query_timeout: Duration::from_secs(600),
        query_memory_bytes: 64 << 20,
        ..DataSettings::default()
    }
}

/// Limits for hostile statements, some of which never end by themselves.
fn hostile_limits() -> DataSettings {
    DataSettings {
        query_timeout: Duration::from_millis(700),
        ..limits()
    }
}

/// Makes a small database of SQLite.
pub(super) fn make_sqlite(folder: &Path) -> DatabaseSettings {
    let path = folder.join("town.db");
    let connection = rusqlite::Connection::open(&path).expect("a new database");
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             CREATE TABLE jobs (year INTEGER PRIMARY KEY, rate REAL NOT NULL);
             INSERT INTO jobs VALUES (2020, 5.5), (2021, 4.25), (9007199254740993, 3);
             CREATE TABLE \"odd \"\"name\" (\"a b\" TEXT REFERENCES jobs(year), c BLOB);
             INSERT INTO \"odd \"\"name\" VALUES ('x%y', x'00ff'), ('x_y', NULL), ('x_y', NULL), (NULL, NULL);
             CREATE VIEW good_years AS SELECT year FROM jobs WHERE rate < 5;",
        )
        .expect("the tables");
    connection.close().expect("it is closed");
    let documentation = folder.join("town.md");
    std::fs::write(&documentation, DOCUMENTATION).expect("the documentation");
    DatabaseSettings {
        name: "town".into(),
        url: format!("sqlite:{}", path.display()),
        password_env: None,
        password: None,
        documentation: Some(parlor_base::settings::DocumentationSettings::File(
            documentation.into(),
        )),
        functions: Vec::new(),
    }
}

fn open(folder: &Path) -> Database {
    Database::new(&make_sqlite(folder), &limits()).expect("a URL")
}

fn cells(result: &QueryResult) -> Vec<Vec<Option<String>>> {
    let row = |row: &Vec<Cell>| row.iter().map(Cell::to_text).collect();
    result.rows.iter().map(row).collect()
}

#[tokio::test]
async fn queries_keep_types_and_precision() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let result = database
        .query("SELECT year, rate, x'00ff' AS b, NULL AS n, 'é' AS t FROM jobs ORDER BY year DESC LIMIT 1; -- end")
        .await
        .unwrap();
    let types: Vec<&str> = result.columns.iter().map(|column| &*column.data_type).collect();
    assert_eq!(types, ["INTEGER", "REAL", "BLOB", "", "TEXT"]);
    let row = ["9007199254740993", "3", "\\x00ff", "", "é"].map(|text| Some(text.to_owned()));
    let row = row.map(|text| text.filter(|text| !text.is_empty()));
    assert_eq!(cells(&result), [row.to_vec()]);
}

#[tokio::test]
async fn results_end_at_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let numbers =
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n, 'some text' FROM x";
    for (rows, bytes, cut_by) in [
        (10, 100_000, "data.result_rows"),
        (1000, 250, "data.result_bytes"),
    ] {
        let limits = DataSettings {
            result_rows: rows,
            result_bytes: bytes,
            ..limits()
        };
        let database = Database::new(&make_sqlite(folder.path()), &limits).unwrap();
        let result = database.query(numbers).await.unwrap();
        assert_eq!((result.cut_by, result.rows.len()), (Some(cut_by), 10));
        std::fs::remove_file(folder.path().join("town.db")).unwrap();
    }
}

#[tokio::test]
async fn catalogue_has_documentation_keys_and_views() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let catalogue = database.catalogue().await.unwrap();
    let names = |subject: &Subject| {
        let tables = subject.tables.iter().map(|table| table.name.clone());
        (subject.name.clone(), tables.collect::<Vec<_>>())
    };
    let subjects: Vec<_> = catalogue.subjects.iter().map(names).collect();
    let other = vec!["good_years".to_owned(), "odd \"name".to_owned()];
    let expected = [
        ("Labour".to_owned(), vec!["jobs".to_owned()]),
        ("Other tables".to_owned(), other),
    ];
    assert_eq!(subjects, expected);
    let jobs = catalogue.table("JOBS").unwrap();
    let rate = jobs.column("rate").unwrap();
    assert_eq!(
        (&*jobs.about, &*rate.about, rate.is_nullable),
        ("One row a year.", "Percent of all", false)
    );
    assert!(jobs.columns[0].is_key && catalogue.table("good_years").unwrap().is_view);
    let odd = catalogue.table("odd \"name").unwrap();
    assert_eq!(catalogue.table("\"odd \"\"name\""), Some(odd));
    assert_eq!(odd.columns[0].references.as_deref(), Some("jobs.year"));
}

#[tokio::test]
async fn values_are_searched_literally() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let catalogue = database.catalogue().await.unwrap();
    let odd = &catalogue.subjects[1].tables[1];
    let column = odd.column("a b").unwrap();
    let found = async |search| cells(&database.values(odd, column, search, 9).await.unwrap());
    let row = |value: Option<&str>, count: &str| vec![value.map(str::to_owned), Some(count.to_owned())];
    assert_eq!(
        found(None).await,
        [row(Some("x_y"), "2"), row(None, "1"), row(Some("x%y"), "1")]
    );
    assert_eq!(found(Some("x%")).await, [row(Some("x%y"), "1")]);
    assert_eq!(found(Some("' OR 1 --")).await, Vec::<Vec<_>>::new());
    let first = database.first_rows(odd, 2).await.unwrap();
    assert_eq!(first.rows.len(), 2);
}

#[tokio::test]
async fn errors_have_position_and_hint() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let message = async |sql: &str| database.query(sql).await.unwrap_err().to_string();
    assert_eq!(
        message("SELECT 1,\n  nope FROM jobs").await,
        "SQL error at line 2, column 3: no such column: nope\n  nope FROM jobs\n  ^\nHint: table_docs lists the columns of a table."
    );
    let missing = message("SELECT * FROM job").await;
    assert!(missing.contains("no such table: job"), "{missing}");
    assert!(
        missing.contains("Hint: The tables are: jobs, good_years"),
        "{missing}"
    );
}

#[tokio::test]
async fn a_dropped_query_stops() {
    let folder = tempfile::tempdir().unwrap();
    let limits = DataSettings {
        concurrent_queries: 1,
        ..limits()
    };
    let database = Database::new(&make_sqlite(folder.path()), &limits).unwrap();
    let endless = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x";
    let query = database.query(endless);
    assert!(
        tokio::time::timeout(Duration::from_millis(50), query)
            .await
            .is_err()
    );
    // Without the stop, the connection would be free only after the query's own timeout, which is longer.
    let next = tokio::time::timeout(Duration::from_secs(60), database.query("SELECT 1"));
    assert!(next.await.expect("the dropped query has stopped").is_ok());
}
