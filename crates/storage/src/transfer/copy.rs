//! Copying: rows from one connection into another, table by table, and the comparison at the end.

use futures::TryStreamExt;

use super::{
    Source, TableDigests, TransferError,
    digest::{Digester, TableDigest},
    tables::{self, ColumnKind, OPTIONS, PENDING, Table},
};
use crate::{
    SqlStorage, StorageError,
    sql::database::{Connection, Row, Sql, Value, query, query_scalar},
};

/// The name of the server's option that marks a database into which a copy was not completed.
const INCOMPLETE: &str = "incomplete_copy";

/// The rows of a statement, and the rows and bytes after which a transaction ends.
const STATEMENT_ROWS: usize = 100;
const BATCH_ROWS: usize = 2000;
const BATCH_BYTES: usize = 4 << 20;

/// The attempts to make a table equal. The triggers of one table can write into another.
const ATTEMPTS: usize = 3;

/// Rows of messages may come before those that they answer. Foreign keys are checked at the end. The write-ahead log of SQLite, which
/// Parlor else copies into the file itself, is copied as it grows.
const LOOSEN: Sql = Sql::Two {
    sqlite: "PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 1000",
    postgres: "ALTER TABLE messages DROP CONSTRAINT IF EXISTS messages_parent_id_fkey",
};

const TIGHTEN_ON_POSTGRES: [&str; 2] = [
    "ALTER TABLE messages ADD CONSTRAINT messages_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES messages (id) ON DELETE CASCADE",
    // The next number behind those that came with the rows.
    "SELECT setval(pg_get_serial_sequence('audit_log', 'id'), coalesce(max(id), 0) + 1, false) FROM audit_log",
];

/// Tables that the server fills by itself. A database with rows in no other one is empty.
const FILLED_BY_THE_SERVER: [&str; 3] = ["users", OPTIONS, PENDING];

/// The state of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress<'a> {
    pub table: &'a str,
    /// The rows of this table that were read so far.
    pub rows: u64,
}

/// Copies all data of a source into a database, or goes on with an earlier attempt. Returns the digests of the tables, which are the
/// same on both sides. On an error, another attempt goes on from what was copied.
///
/// # Errors
///
/// If the target has data of its own, or either side can't be read or written.
pub async fn copy_all(
    source: &Source,
    target: &SqlStorage,
    report: &mut (dyn FnMut(CopyProgress<'_>) + Send),
) -> Result<TableDigests, TransferError> {
    let tables = tables::tables().await?;
    let mut from = source.begin().await?;
    let mut writer = target.writer.lock().await;
    let mut to = writer.take_connection().await?;
    let mut copy = Copy {
        from: &mut from,
        to: &mut to,
        report,
    };
    let copied = copy.run(&tables).await;
    writer.return_connection(copied.is_ok(), to).await;
    copied
}

/// Fails if a copy into this database was not completed.
pub(crate) async fn refuse_incomplete(connection: &mut Connection) -> Result<(), StorageError> {
    match is_incomplete(connection).await? {
        true => Err(StorageError::IncompleteCopy),
        false => Ok(()),
    }
}

async fn is_incomplete(connection: &mut Connection) -> Result<bool, sqlx::Error> {
    query_scalar::<bool>("SELECT EXISTS (SELECT 1 FROM server_options WHERE name = $1)")
        .bind(INCOMPLETE)
        .fetch_one(connection)
        .await
}

/// Returns the digests of tables.
pub(super) async fn digests(
    connection: &mut Connection,
    tables: &[Table],
) -> Result<TableDigests, TransferError> {
    let mut digests = TableDigests::new();
    for table in tables.iter().filter(|table| table.name != PENDING) {
        digests.insert(table.name.clone(), digest(connection, table, None).await?);
    }
    Ok(digests)
}

pub(super) struct Copy<'a> {
    pub from: &'a mut Connection,
    pub to: &'a mut Connection,
    pub report: &'a mut (dyn FnMut(CopyProgress<'_>) + Send),
}

impl Copy<'_> {
    async fn run(&mut self, tables: &[Table]) -> Result<TableDigests, TransferError> {
        self.begin(tables).await?;
        let (pending, tables): (Vec<_>, Vec<_>) = tables.iter().partition(|table| table.name == PENDING);
        let mut wanted = TableDigests::new();
        for table in &tables {
            wanted.insert(table.name.clone(), self.copy_table(table).await?);
        }
        for attempt in 1.. {
            let mut differing = Vec::new();
            for table in &tables {
                let found = digest(self.to, table, None).await?;
                if wanted.get(&table.name) != Some(&found) {
                    differing.push(*table);
                }
            }
            if differing.is_empty() {
                break;
            }
            if attempt == ATTEMPTS {
                let names: Vec<&str> = differing.iter().map(|table| &*table.name).collect();
                return Err(TransferError::Differing(names.join(", ")));
            }
            for table in differing {
                self.copy_table(table).await?;
            }
        }
        self.end(&pending).await?;
        Ok(wanted)
    }

    /// Marks the target, which must be empty or marked already.
    pub async fn begin(&mut self, tables: &[Table]) -> Result<(), TransferError> {
        if !is_incomplete(self.to).await? {
            for table in tables {
                let has_rows = format!("SELECT EXISTS (SELECT 1 FROM \"{}\")", table.name);
                let counts = !FILLED_BY_THE_SERVER.contains(&table.name.as_str());
                if counts && query_scalar::<bool>(has_rows).fetch_one(self.to).await? {
                    return Err(TransferError::NotEmpty);
                }
            }
            query("INSERT INTO server_options (name, value) VALUES ($1, '1')")
                .bind(INCOMPLETE)
                .execute(self.to)
                .await?;
        }
        query(LOOSEN).execute(self.to).await?;
        Ok(())
    }

    /// Copies the rows of a table that the target lacks. Returns the digest of the source's table.
    pub async fn copy_table(&mut self, table: &Table) -> Result<TableDigest, TransferError> {
        let mut found = digest(self.to, table, None).await?;
        if found.rows > 0 && digest(self.from, table, Some(found.rows)).await? != found {
            query(format!("DELETE FROM {}", table.quoted_source()))
                .execute(self.to)
                .await?;
            found.rows = 0;
        }
        let fail = |error| table.fail(error);
        let mut digester = Digester::default();
        let mut batch = Batch::default();
        let mut rows = query(table.select()).fetch(self.from);
        while let Some(row) = rows.try_next().await.map_err(fail)? {
            let values = table.read(&row).map_err(fail)?;
            digester.add(&values);
            if digester.rows() <= found.rows {
                continue;
            }
            batch.push(values);
            if batch.is_full() {
                batch.write(self.to, table).await.map_err(fail)?;
                (self.report)(CopyProgress {
                    table: &table.name,
                    rows: digester.rows(),
                });
            }
        }
        drop(rows);
        batch.write(self.to, table).await.map_err(fail)?;
        (self.report)(CopyProgress {
            table: &table.name,
            rows: digester.rows(),
        });
        Ok(digester.finish())
    }

    /// Makes the target an ordinary database, in one transaction.
    async fn end(&mut self, pending: &[&Table]) -> Result<(), TransferError> {
        query("BEGIN IMMEDIATE").execute(self.to).await?;
        for table in pending {
            query(format!("DELETE FROM {}", table.quoted_source()))
                .execute(self.to)
                .await?;
            let rows = query(table.select()).fetch_all(self.from).await?;
            let mut batch = Batch::default();
            for row in &rows {
                batch.push(table.read(row)?);
            }
            batch.insert(self.to, table).await?;
        }
        if self.to.is_postgres() {
            for statement in TIGHTEN_ON_POSTGRES {
                query(statement).execute(self.to).await?;
            }
        } else if let Some(row) = query("PRAGMA foreign_key_check").fetch_optional(self.to).await? {
            let table = row.try_get_lossy("table")?.unwrap_or_default();
            return Err(TransferError::Dangling(table));
        }
        query("DELETE FROM server_options WHERE name = $1")
            .bind(INCOMPLETE)
            .execute(self.to)
            .await?;
        query("COMMIT").execute(self.to).await?;
        if !self.to.is_postgres() {
            query("PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0")
                .execute(self.to)
                .await?;
        }
        Ok(())
    }
}

/// Returns the digest of a table, or of its first rows.
async fn digest(
    connection: &mut Connection,
    table: &Table,
    first: Option<u64>,
) -> Result<TableDigest, TransferError> {
    let mut select = table.select();
    if let Some(first) = first {
        select.push_str(&format!(" LIMIT {first}"));
    }
    let fail = |error| table.fail(error);
    let mut digester = Digester::default();
    let mut rows = query(select).fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(fail)? {
        digester.add(&table.read(&row).map_err(fail)?);
    }
    Ok(digester.finish())
}

impl Table {
    /// The name in SQL, and the rows that are copied: all but the mark of a copy.
    fn quoted_source(&self) -> String {
        match self.name == OPTIONS {
            true => format!("\"{}\" WHERE name <> '{INCOMPLETE}'", self.name),
            false => format!("\"{}\"", self.name),
        }
    }

    fn fail(&self, error: sqlx::Error) -> TransferError {
        TransferError::Table {
            table: self.name.clone(),
            error: error.into(),
        }
    }

    fn select(&self) -> String {
        format!(
            "SELECT {} FROM {} ORDER BY {}",
            quoted(self.columns.iter().map(|column| &column.name)),
            self.quoted_source(),
            quoted(&self.key)
        )
    }

    fn read(&self, row: &Row) -> Result<Vec<Value>, sqlx::Error> {
        let read = |column: &tables::Column| {
            Ok(match column.kind {
                ColumnKind::Integer => Value::Integer(row.try_get(&column.name)?),
                ColumnKind::Text => Value::Text(row.try_get(&column.name)?),
                ColumnKind::Bytes => Value::Bytes(row.try_get(&column.name)?),
            })
        };
        self.columns.iter().map(read).collect()
    }
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    names.join(", ")
}

/// Rows that are written in one transaction.
#[derive(Default)]
struct Batch {
    rows: Vec<Vec<Value>>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, row: Vec<Value>) {
        let bytes = row.iter().map(|value| match value {
            Value::Text(Some(text)) => text.len(),
            Value::Bytes(Some(bytes)) => bytes.len(),
            _ => 8,
        });
        self.bytes += bytes.sum::<usize>();
        self.rows.push(row);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// Writes the rows in a transaction, and empties the batch.
    async fn write(&mut self, to: &mut Connection, table: &Table) -> Result<(), sqlx::Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        query("BEGIN IMMEDIATE").execute(to).await?;
        std::mem::take(self).insert(to, table).await?;
        query("COMMIT").execute(to).await?;
        Ok(())
    }

    async fn insert(self, to: &mut Connection, table: &Table) -> Result<(), sqlx::Error> {
        let columns = quoted(table.columns.iter().map(|column| &column.name));
        let mut rows = self.rows.into_iter();
        loop {
            let part: Vec<_> = rows.by_ref().take(STATEMENT_ROWS).collect();
            if part.is_empty() {
                return Ok(());
            }
            let mut number = 0;
            let places: Vec<String> = part
                .iter()
                .map(|row| {
                    let places: Vec<String> = (row.iter())
                        .map(|_| {
                            number += 1;
                            format!("${number}")
                        })
                        .collect();
                    format!("({})", places.join(", "))
                })
                .collect();
            let sql = format!(
                "INSERT INTO \"{}\" ({columns}) VALUES {}",
                table.name,
                places.join(", ")
            );
            let mut insert = query(sql).persistent(false);
            for value in part.into_iter().flatten() {
                insert = insert.bind(value);
            }
            insert.execute(to).await?;
        }
    }
}
