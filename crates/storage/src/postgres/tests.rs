//! Tests of what only Postgres has: its schema beside that of SQLite, and poolers.

use std::collections::BTreeSet;

use super::*;
use crate::{
    Change, PersonalChange, Storage,
    nodes::NodeStorage,
    sqlite::{DATABASE_FILE_NAME, SqliteStorage},
};
use parlor_protocol::{Timestamp, UserId};

/// Returns the database of Postgres that belongs to a folder.
pub(crate) async fn database_of(folder: &Path) -> PostgresDatabase {
    let database = |url| PostgresDatabase {
        url,
        has_pooler: false,
        readers: 2,
        nodes: NodeSettings::default(),
        max_runs: None,
    };
    let prepare = async |url| {
        let folder = tempfile::tempdir().unwrap();
        let storage = SqlStorage::open_postgres(folder.path(), &database(url)).await;
        storage.unwrap().close().await.unwrap();
    };
    database(test_postgres::database_of(folder, prepare).await)
}

async fn open(folder: &Path, has_pooler: bool) -> SqlStorage {
    let database = PostgresDatabase {
        has_pooler,
        ..database_of(folder).await
    };
    SqlStorage::open_postgres(folder, &database).await.unwrap()
}

/// The columns of both databases: table, column, type, and whether it may be null.
type Columns = BTreeSet<(String, String, String, bool)>;

async fn columns_of_postgres(url: &str) -> Columns {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let rows = sqlx::query(
        "SELECT table_name::TEXT, column_name::TEXT, data_type::TEXT, is_nullable = 'YES' FROM information_schema.columns \
         WHERE table_schema = 'public' AND table_name NOT IN ('parlor_migrations', 'nodes', 'node_changes', 'node_values', 'node_commits', 'process_commits', 'limits')",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let rows = rows
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2), row.get(3)));
    rows.collect()
}

/// The columns of SQLite, with the types that they have in Postgres.
async fn columns_of_sqlite(folder: &Path) -> Columns {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join(DATABASE_FILE_NAME));
    let mut connection = options.connect().await.unwrap();
    let rows = sqlx::query(
        "SELECT t.name, c.name, c.type, c.\"notnull\" = 0 AND c.pk = 0 FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'search\\_index%' ESCAPE '\\' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         AND t.name NOT LIKE '\\_sqlx%' ESCAPE '\\'",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let columns = rows.iter().map(|row| {
        let data_type = match row.get(2) {
            "TEXT" => "text",
            "INTEGER" => "bigint",
            "BLOB" => "bytea",
            other => other,
        };
        (row.get(0), row.get(1), data_type.to_owned(), row.get(3))
    });
    columns.collect()
}

#[tokio::test]
async fn both_databases_have_the_same_columns() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStorage::open(folder.path()).await.unwrap());
    let of_sqlite = columns_of_sqlite(folder.path()).await;
    let other = tempfile::tempdir().unwrap();
    drop(open(other.path(), false).await);
    let mut of_postgres = columns_of_postgres(&database_of(other.path()).await.url).await;
    // The index of the words, which SQLite has in tables of its own.
    let lexemes = ("search_documents", "lexemes", "tsvector", true);
    let lexemes = (
        lexemes.0.to_owned(),
        lexemes.1.to_owned(),
        lexemes.2.to_owned(),
        lexemes.3,
    );
    assert!(of_postgres.remove(&lexemes));
    let lacking: Vec<_> = of_sqlite.difference(&of_postgres).collect();
    let further: Vec<_> = of_postgres.difference(&of_sqlite).collect();
    assert!(
        lacking.is_empty() && further.is_empty(),
        "{lacking:?}\n{further:?}"
    );
    assert!(of_sqlite.len() > 150);
}

#[tokio::test]
async fn newer_databases_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), false).await.close().await.unwrap();
    let database = database_of(folder.path()).await;
    let mut connection = PgConnection::connect(&database.url).await.unwrap();
    sqlx::query("INSERT INTO parlor_migrations (version, description, checksum) VALUES (9999, 'later', '')")
        .execute(&mut connection)
        .await
        .unwrap();
    let opened = SqlStorage::open_postgres(folder.path(), &database).await;
    assert!(matches!(opened, Err(StorageError::NewerSchema(9999))));
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = open(folder.path(), false).await;
    let database = database_of(folder.path()).await;
    let second = SqlStorage::open_postgres(other.path(), &database).await;
    assert!(matches!(second, Err(StorageError::DatabaseInUse)));
    storage.close().await.unwrap();
    SqlStorage::open_postgres(other.path(), &database).await.unwrap();
}

fn change() -> Change {
    Change::Personal {
        user_id: UserId::LOCAL,
        change: PersonalChange::SetInstructions {
            text: "Be brief.".into(),
        },
    }
}

#[tokio::test]
async fn a_process_whose_database_was_taken_over_stores_nothing() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = database_of(folder.path()).await;
    let first = open(folder.path(), false).await;
    first.commit(Timestamp(1), &[change()]).await.unwrap();
    // A proxy may end a connection that is idle.
    assert_eq!(test_postgres::end_connections(&database.url, false).await, 1);
    let second = SqlStorage::open_postgres(other.path(), &database).await.unwrap();
    let refused = first.commit(Timestamp(2), &[change()]).await;
    assert!(matches!(refused, Err(StorageError::LeaseLost)), "{refused:?}");
    second.commit(Timestamp(3), &[change()]).await.unwrap();
    // A node takes over as well.
    assert_eq!(test_postgres::end_connections(&database.url, false).await, 1);
    let of_node = PostgresDatabase {
        nodes: NodeSettings {
            enabled: true,
            ..NodeSettings::default()
        },
        ..database
    };
    let third = tempfile::tempdir().unwrap();
    let node = SqlStorage::open_postgres(third.path(), &of_node).await.unwrap();
    let refused = second.commit(Timestamp(4), &[change()]).await;
    assert!(matches!(refused, Err(StorageError::LeaseLost)), "{refused:?}");
    node.join().await.unwrap();
    node.commit(Timestamp(5), &[change()]).await.unwrap();
}

#[tokio::test]
async fn after_a_restart_of_the_server_the_database_is_locked_again() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = database_of(folder.path()).await;
    let first = open(folder.path(), false).await;
    assert!(test_postgres::end_connections(&database.url, true).await > 1);
    assert!(
        first.commit(Timestamp(1), &[change()]).await.is_err(),
        "its connection was ended"
    );
    first.commit(Timestamp(2), &[change()]).await.unwrap();
    let second = SqlStorage::open_postgres(other.path(), &database).await;
    assert!(matches!(second, Err(StorageError::DatabaseInUse)));
}

#[tokio::test]
async fn the_only_process_knows_which_of_its_transactions_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let database = database_of(folder.path()).await;
    let storage = open(folder.path(), false).await;
    let (options, owner) = (database.options().unwrap(), storage.writer.lock().await.owner);
    for number in 1..=2 {
        storage.commit(Timestamp(number), &[change()]).await.unwrap();
        for (asked, is_stored) in [(number, true), (number + 1, false)] {
            let found = commit_end::was_committed(&options, owner, asked, None)
                .await
                .unwrap();
            assert_eq!(found, is_stored, "{asked} of {number}");
        }
    }
}

#[tokio::test]
async fn a_process_waits_for_the_leases_of_killed_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let database = database_of(folder.path()).await;
    let of_node = PostgresDatabase {
        nodes: NodeSettings {
            enabled: true,
            lease: Duration::from_secs(1),
            ..NodeSettings::default()
        },
        ..database
    };
    let node = SqlStorage::open_postgres(folder.path(), &of_node).await.unwrap();
    node.join().await.unwrap();
    drop(node);
    let mut connection = PgConnection::connect(&of_node.url).await.unwrap();
    let end: i64 = sqlx::query_scalar("SELECT expires_at FROM nodes")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let storage = open(folder.path(), false).await;
    let now = sqlx::query_scalar::<_, i64>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    assert!(now.fetch_one(&mut connection).await.unwrap() > end);
    storage.commit(Timestamp(1), &[change()]).await.unwrap();
}

#[tokio::test]
async fn certificates_are_checked_unless_the_url_says_otherwise() {
    let mode = |url: &str| {
        let database = PostgresDatabase {
            url: url.into(),
            has_pooler: false,
            readers: 1,
            nodes: NodeSettings::default(),
            max_runs: None,
        };
        format!("{:?}", database.options().unwrap().get_ssl_mode())
    };
    for (url, expected) in [
        ("postgres://parlor@db.example/parlor", "VerifyFull"),
        (
            "postgres://parlor@10.0.0.7:6432/parlor?application_name=x",
            "VerifyFull",
        ),
        ("postgres://parlor@db.example/parlor?sslmode=require", "Require"),
        ("postgres://parlor@db.example/parlor?sslmode=disable", "Disable"),
        // Within the machine.
        ("postgres://parlor@127.0.0.1/parlor", "Prefer"),
        ("postgres:///parlor?host=/run/postgresql", "Prefer"),
    ] {
        assert_eq!(mode(url), expected, "{url}");
    }
}

#[tokio::test]
async fn behind_a_pooler_nothing_stays_prepared() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(folder.path(), true).await;
    let committed = storage.commit(Timestamp(1), &[change(), change()]).await.unwrap();
    assert!(committed.outcomes.iter().all(Result::is_ok));
    assert_eq!(storage.instructions(UserId::LOCAL).await.unwrap(), "Be brief.");
    let mut writer = storage.writer.lock().await;
    let prepared = crate::sql::database::query_scalar::<i64>(
        "SELECT count(*) FROM pg_prepared_statements WHERE name <> ''",
    );
    let prepared = prepared
        .fetch_one(writer.connection.as_mut().unwrap())
        .await
        .unwrap();
    assert_eq!(prepared, 0);
}
