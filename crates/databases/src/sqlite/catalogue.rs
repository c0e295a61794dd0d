//! Reading the tables, their columns and keys. SQLite keeps no comments.

use std::collections::HashMap;

use rusqlite::Connection;

use super::{
    super::{Column, QueryError, Table, limits::QueryLimits},
    unavailable,
};

/// Tables and views, without those of SQLite itself and of virtual tables. Tables of files are temporary views, and alone.
const TABLES: &str = "SELECT name, type = 'view' AND schema = 'main' FROM pragma_table_list \
     WHERE schema = iif(EXISTS (SELECT 1 FROM temp.sqlite_schema), 'temp', 'main') AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
     ORDER BY name COLLATE NOCASE LIMIT ?1";

const COLUMNS: &str = "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1) WHERE hidden <> 1";

const FOREIGN_KEYS: &str = "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?1)";

pub fn read(connection: &Connection, limits: &QueryLimits) -> Result<Vec<Table>, QueryError> {
    read_tables(connection, limits).map_err(|error| unavailable(&error))
}

fn read_tables(connection: &Connection, limits: &QueryLimits) -> rusqlite::Result<Vec<Table>> {
    let count = i64::try_from(limits.tables).unwrap_or(i64::MAX);
    let mut statement = connection.prepare(TABLES)?;
    let names = statement.query_map([count], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let names: Vec<(String, bool)> = names.collect::<rusqlite::Result<_>>()?;
    let mut tables = Vec::with_capacity(names.len());
    for (name, is_view) in names {
        // A view of a table that is gone has no columns that can be read.
        let columns = match read_columns(connection, &name) {
            Ok(columns) => columns,
            Err(error) => {
                tracing::debug!(table = name, %error, "the columns of a table can't be read");
                continue;
            }
        };
        tables.push(Table {
            schema: None,
            name,
            is_view,
            about: String::new(),
            columns,
        });
    }
    Ok(tables)
}

fn read_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement = connection.prepare(FOREIGN_KEYS)?;
    let references = statement.query_map([table], |row| {
        let (from, table): (String, String) = (row.get(0)?, row.get(1)?);
        let to: Option<String> = row.get(2)?;
        Ok((
            from,
            to.map_or_else(|| table.clone(), |to| format!("{table}.{to}")),
        ))
    })?;
    let references: HashMap<String, String> = references.collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare(COLUMNS)?;
    let columns = statement.query_map([table], |row| {
        let name: String = row.get(0)?;
        let (is_required, key): (bool, i64) = (row.get(2)?, row.get(3)?);
        Ok(Column {
            references: references.get(&name).cloned(),
            data_type: row.get(1)?,
            is_nullable: !is_required && key == 0,
            is_key: key > 0,
            about: String::new(),
            name,
        })
    })?;
    columns.collect()
}
