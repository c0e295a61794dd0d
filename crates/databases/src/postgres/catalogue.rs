//! Reading the tables that the role may read, with columns, comments and keys.

use sqlx::{PgConnection, Row, postgres::PgRow};

use super::{
    super::{Column, QueryError, Table},
    session::own_error,
};

/// The schema that a query need not name.
const DEFAULT_SCHEMA: &str = "public";

const COLUMNS: &str = "SELECT n.nspname::text, c.relname::text, c.relkind IN ('v', 'm') AS is_view,
       coalesce(obj_description(c.oid, 'pg_class'), '') AS about,
       a.attname::text, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS is_nullable,
       EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey)) AS is_key,
       coalesce(col_description(c.oid, a.attnum), '') AS column_about,
       (SELECT f.relname || '.' || b.attname FROM pg_constraint k
        JOIN pg_class f ON f.oid = k.confrelid
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[array_position(k.conkey, a.attnum)]
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey) LIMIT 1) AS refers_to
FROM (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
        AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
      ORDER BY n.nspname <> 'public', n.nspname, c.relname LIMIT $1) AS c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname <> 'public', n.nspname, c.relname, a.attnum";

pub async fn read(connection: &mut PgConnection, count: usize) -> Result<Vec<Table>, QueryError> {
    let rows = sqlx::query(COLUMNS)
        .bind(i64::try_from(count).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await
        .map_err(|error| own_error(&error))?;
    let mut tables: Vec<Table> = Vec::new();
    for row in rows {
        let (table, column) = read_column(&row).map_err(|error| own_error(&error))?;
        let is_same = |last: &&mut Table| last.schema == table.schema && last.name == table.name;
        match tables.last_mut().filter(is_same) {
            Some(last) => last.columns.push(column),
            None => tables.push(Table {
                columns: vec![column],
                ..table
            }),
        }
    }
    Ok(tables)
}

fn read_column(row: &PgRow) -> sqlx::Result<(Table, Column)> {
    let schema: String = row.try_get(0)?;
    let table = Table {
        schema: (schema != DEFAULT_SCHEMA).then_some(schema),
        name: row.try_get(1)?,
        is_view: row.try_get(2)?,
        about: row.try_get(3)?,
        columns: Vec::new(),
    };
    let column = Column {
        name: row.try_get(4)?,
        data_type: row.try_get(5)?,
        is_nullable: row.try_get(6)?,
        is_key: row.try_get(7)?,
        about: row.try_get(8)?,
        references: row.try_get(9)?,
    };
    Ok((table, column))
}
