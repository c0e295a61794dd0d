//! The tables of this version, and the order in which they can be filled: read from an empty database of SQLite. Those of Postgres
//! have the same names and columns (a test compares them).

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{ConnectOptions, Connection as _, Row as _, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{StorageError, sqlite::migrations::migrator};

/// The list of texts to be indexed. The triggers of other tables write into it, so it is copied last.
pub(super) const PENDING: &str = "search_pending";

/// The table with the mark of a copy that is not complete.
pub(super) const OPTIONS: &str = "server_options";

/// A table without those of the search index of SQLite, which are made of `search_documents`.
const SELECT_TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search\\_index%' ESCAPE '\\' \
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_sqlx%' ESCAPE '\\' ORDER BY name";

/// A table with its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// The names of the primary key's columns, in its order.
    pub key: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Integer,
    Text,
    Bytes,
}

/// Returns all tables. Each comes after those that its rows refer to.
pub(super) async fn tables() -> Result<Vec<Table>, StorageError> {
    let mut connection = SqliteConnectOptions::new().in_memory(true).connect().await?;
    migrator().run(&mut connection).await?;
    let read = read_tables(&mut connection).await;
    connection.close().await?;
    Ok(read?)
}

async fn read_tables(connection: &mut SqliteConnection) -> Result<Vec<Table>, sqlx::Error> {
    let names: Vec<String> = sqlx::query_scalar(SELECT_TABLES)
        .fetch_all(&mut *connection)
        .await?;
    let mut tables = BTreeMap::new();
    for name in names {
        let rows = sqlx::query("SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid")
            .bind(&name)
            .fetch_all(&mut *connection)
            .await?;
        let (mut columns, mut key) = (Vec::new(), BTreeMap::new());
        for row in rows {
            let column: String = row.try_get(0)?;
            if let place @ 1.. = row.try_get::<i64, _>(2)? {
                key.insert(place, column.clone());
            }
            columns.push(Column {
                name: column,
                kind: match row.try_get(1)? {
                    "INTEGER" => ColumnKind::Integer,
                    "BLOB" => ColumnKind::Bytes,
                    _ => ColumnKind::Text,
                },
            });
        }
        let parents: Vec<String> = sqlx::query_scalar("SELECT \"table\" FROM pragma_foreign_key_list($1)")
            .bind(&name)
            .fetch_all(&mut *connection)
            .await?;
        let parents: BTreeSet<String> = parents.into_iter().filter(|parent| *parent != name).collect();
        let key = key.into_values().collect();
        tables.insert(name.clone(), (Table { name, columns, key }, parents));
    }
    Ok(in_order(tables))
}

/// Puts each table behind those that it refers to.
fn in_order(mut tables: BTreeMap<String, (Table, BTreeSet<String>)>) -> Vec<Table> {
    let mut ordered = Vec::with_capacity(tables.len());
    while !tables.is_empty() {
        let is_free = |(_, parents): &(Table, BTreeSet<String>)| {
            !parents.iter().any(|parent| tables.contains_key(parent))
        };
        let free: Vec<String> = tables
            .iter()
            .filter(|(_, table)| is_free(table))
            .map(|(name, _)| name.clone())
            .collect();
        // Tables in a circle, of which there are none, are left in the order of their names.
        let next = if free.is_empty() {
            tables.keys().cloned().collect()
        } else {
            free
        };
        ordered.extend(
            next.iter()
                .filter_map(|name| tables.remove(name))
                .map(|(table, _)| table),
        );
    }
    let (last, mut all): (Vec<_>, Vec<_>) = ordered.into_iter().partition(|table| table.name == PENDING);
    all.extend(last);
    all
}
