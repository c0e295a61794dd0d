//! Copies of a database with rows in every table, from SQLite to Postgres and back.

use std::path::Path;

use sqlx::{Connection as _, PgConnection};

use super::{copy::Copy, tables::Table, *};
use crate::{
    Change, PersonalChange, SqlStorage, Storage,
    accounts::{AccountChange, FailedAttempt},
    postgres::tests::database_of,
    sql::database::{query, query_scalar},
    sqlite::tests::fill_tables,
};
use parlor_protocol::{Timestamp, UserId};

/// A text that Postgres refuses as it is, and one that looks like its stored form.
const ODD_TEXT: &str = "nul \0, delete \u{7f}0, emoji \u{1F600}, \"quotes\" and \\u0000";

/// Returns a folder with rows in every table.
async fn filled_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fill_tables(folder.path()).await;
    let storage = SqlStorage::open(folder.path()).await.unwrap();
    let change = PersonalChange::SetInstructions {
        text: ODD_TEXT.into(),
    };
    let change = Change::Personal {
        user_id: UserId::LOCAL,
        change,
    };
    let committed = storage.commit(Timestamp(1), &[change]).await.unwrap();
    assert!(committed.outcomes.iter().all(Result::is_ok));
    // Postgres sorts a key with U+0000 elsewhere than SQLite does.
    execute(
        &storage,
        "INSERT INTO allowed_tools SELECT user_id, id, char(0) || 'tool' FROM conversations",
    )
    .await;
    storage.close().await.unwrap();
    folder
}

async fn open_postgres(folder: &Path) -> SqlStorage {
    SqlStorage::open_postgres(folder, &database_of(folder).await)
        .await
        .unwrap()
}

async fn source_of_postgres(folder: &Path) -> Source {
    Source::open_postgres(&database_of(folder).await).await.unwrap()
}

async fn copy(source: &Source, target: &SqlStorage) -> Result<TableDigests, TransferError> {
    copy_all(source, target, &mut |_| {}).await
}

async fn execute(storage: &SqlStorage, sql: &'static str) {
    let mut writer = storage.writer.lock().await;
    query(sql)
        .execute(writer.connection.as_mut().unwrap())
        .await
        .unwrap();
}

async fn count(storage: &SqlStorage, sql: &'static str) -> i64 {
    let mut writer = storage.writer.lock().await;
    let count = query_scalar::<i64>(sql).fetch_one(writer.connection.as_mut().unwrap());
    count.await.unwrap()
}

#[tokio::test]
async fn tables_have_keys_and_come_after_those_they_refer_to() {
    let tables = tables::tables().await.unwrap();
    assert!(tables.iter().all(|table| !table.key.is_empty()), "{tables:?}");
    let place = |name: &str| tables.iter().position(|table| table.name == name).unwrap();
    for (table, parent) in [
        ("messages", "conversations"),
        ("conversations", "projects"),
        ("payload_verdicts", "payloads"),
        ("share_readers", "accounts"),
        ("project_readers", "accounts"),
        ("project_readers", "projects"),
        ("job_steps", "jobs"),
    ] {
        assert!(place(table) > place(parent), "{table}");
    }
    assert_eq!(place(tables::PENDING), tables.len() - 1);
}

#[tokio::test]
async fn every_table_survives_the_way_to_postgres_and_back() {
    let original = filled_folder().await;
    let source = Source::open_folder(original.path()).await.unwrap();
    let digests = source.digests().await.unwrap();
    let without_rows: Vec<_> = digests.iter().filter(|(_, table)| table.rows == 0).collect();
    assert!(without_rows.is_empty(), "{without_rows:?}");

    let second = tempfile::tempdir().unwrap();
    let postgres = open_postgres(second.path()).await;
    assert_eq!(copy(&source, &postgres).await.unwrap(), digests);
    assert_eq!(postgres.instructions(UserId::LOCAL).await.unwrap(), ODD_TEXT);
    // The numbers of the audit log go on behind those that came.
    let entries = count(&postgres, "SELECT count(*) FROM audit_log").await;
    let failed = AccountChange::NoteFailure {
        user_id: Some(UserId::LOCAL),
        address: "192.0.2.9".into(),
        attempt: FailedAttempt::SignIn,
    };
    let committed = postgres
        .commit(Timestamp(2), &[Change::Account(failed)])
        .await
        .unwrap();
    assert!(committed.outcomes.iter().all(Result::is_ok), "{committed:?}");
    assert_eq!(
        count(&postgres, "SELECT count(*) FROM audit_log").await,
        entries + 1
    );
    execute(&postgres, "DELETE FROM audit_log WHERE address = '192.0.2.9'").await;
    // What is to be indexed is what was, although the copied rows were noted, too.
    let pending = count(&postgres, "SELECT count(*) FROM search_pending").await;
    postgres.close().await.unwrap();

    let third = tempfile::tempdir().unwrap();
    let sqlite = SqlStorage::open(third.path()).await.unwrap();
    let source = source_of_postgres(second.path()).await;
    assert_eq!(copy(&source, &sqlite).await.unwrap(), digests);
    assert_eq!(
        count(&sqlite, "SELECT count(*) FROM search_pending").await,
        pending
    );
    let documents = count(&sqlite, "SELECT count(*) FROM search_documents").await;
    assert_eq!(
        count(&sqlite, "SELECT count(*) FROM search_index").await,
        documents
    );
    sqlite.close().await.unwrap();
    let copied = Source::open_folder(third.path()).await.unwrap();
    assert_eq!(copied.digests().await.unwrap(), digests);
    let unchanged = Source::open_folder(original.path()).await.unwrap();
    assert_eq!(unchanged.digests().await.unwrap(), digests);
}

#[tokio::test]
async fn a_copied_postgres_has_the_constraints_of_a_new_one() {
    let constraints = async |folder: &Path| {
        let mut connection = PgConnection::connect(&database_of(folder).await.url)
            .await
            .unwrap();
        let sql = "SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
            WHERE connamespace = 'public'::regnamespace ORDER BY 1";
        sqlx::query_scalar::<_, String>(sql)
            .fetch_all(&mut connection)
            .await
            .unwrap()
    };
    let original = filled_folder().await;
    let (new, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    open_postgres(new.path()).await.close().await.unwrap();
    let target = open_postgres(copied.path()).await;
    let source = Source::open_folder(original.path()).await.unwrap();
    copy(&source, &target).await.unwrap();
    target.close().await.unwrap();
    assert_eq!(constraints(copied.path()).await, constraints(new.path()).await);
}

/// Copies the first tables only, as a copy that was killed.
async fn copy_beginning(source: &Source, target: &SqlStorage, count: usize) {
    let tables: Vec<Table> = tables::tables().await.unwrap();
    let mut from = source.begin().await.unwrap();
    let mut writer = target.writer.lock().await;
    let mut copy = Copy {
        from: &mut from,
        to: writer.connection.as_mut().unwrap(),
        report: &mut |_| {},
    };
    copy.begin(&tables).await.unwrap();
    for table in tables.iter().take(count) {
        copy.copy_table(table).await.unwrap();
    }
}

#[tokio::test]
async fn a_database_with_anything_of_a_person_is_not_empty() {
    let original = filled_folder().await;
    let source = Source::open_folder(original.path()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = SqlStorage::open(folder.path()).await.unwrap();
    let change = PersonalChange::SetInstructions {
        text: "Be brief.".into(),
    };
    let change = Change::Personal {
        user_id: UserId::LOCAL,
        change,
    };
    target.commit(Timestamp(1), &[change]).await.unwrap();
    execute(&target, "DELETE FROM events").await;
    let refused = copy(&source, &target).await;
    assert!(matches!(refused, Err(TransferError::NotEmpty)), "{refused:?}");
    assert_eq!(target.instructions(UserId::LOCAL).await.unwrap(), "Be brief.");
}

#[tokio::test]
async fn an_interrupted_copy_goes_on() {
    let original = filled_folder().await;
    let source = Source::open_folder(original.path()).await.unwrap();
    let digests = source.digests().await.unwrap();
    let (of_sqlite, of_postgres) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let targets = [
        SqlStorage::open(of_sqlite.path()).await.unwrap(),
        open_postgres(of_postgres.path()).await,
    ];
    for target in targets {
        copy_beginning(&source, &target, 12).await;
        let refused = refuse_incomplete(&mut target.readers.acquire().await.unwrap()).await;
        assert!(
            matches!(refused, Err(StorageError::IncompleteCopy)),
            "{refused:?}"
        );
        // A row that the source does not have, and one that is missing in the middle.
        execute(&target, "UPDATE conversations SET title = 'another'").await;
        execute(
            &target,
            "DELETE FROM messages WHERE id = (SELECT min(id) FROM messages)",
        )
        .await;
        assert_eq!(copy(&source, &target).await.unwrap(), digests);
        refuse_incomplete(&mut target.readers.acquire().await.unwrap())
            .await
            .unwrap();
        // It has data of its own now.
        let again = copy(&source, &target).await;
        assert!(matches!(again, Err(TransferError::NotEmpty)), "{again:?}");
        target.close().await.unwrap();
    }
}

#[tokio::test]
async fn data_of_other_versions_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqlStorage::open(folder.path()).await.unwrap();
    execute(&storage, "DELETE FROM _sqlx_migrations WHERE version = 40").await;
    let opened = Source::open_folder(folder.path()).await;
    assert!(matches!(opened, Err(TransferError::EarlierVersion)), "{opened:?}");
    execute(
        &storage,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', 1, X'', 0)",
    )
    .await;
    let opened = Source::open_folder(folder.path()).await;
    assert!(
        matches!(
            opened,
            Err(TransferError::Storage(StorageError::NewerSchema(9999)))
        ),
        "{opened:?}"
    );
    storage.close().await.unwrap();
}
