//! Running one statement as a cursor.

use std::mem;

use futures::TryStreamExt;
use sqlx::{
    AssertSqlSafe, Column as _, Either, Executor, PgConnection, Row, SqlSafeStr, Statement, TypeInfo,
    postgres::{PgColumn, PgRow, PgStatement},
};
use tokio::task::spawn_blocking;

use super::{
    super::{
        Cell, Column, QueryError, QueryErrorKind, QueryResult, ResultColumn, Table,
        backend::{quote_identifier, to_like_pattern},
        limits::QueryLimits,
        result::{RowCollector, RowFile},
    },
    error::query_error,
    session::own_error,
};

/// The rows that are asked for at a time.
const FETCH: &str = "FETCH FORWARD 500 FROM parlor_query";
/// The size of rows that are collected at a time.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// The shortest length to which a value is cut, in characters.
const MIN_VALUE_CHARS: usize = 1000;

/// Runs one query.
///
/// Postgres parses the statement by itself first, which tells its columns and the place of a mistake. Then it
/// becomes a part of a cursor's query, which converts every value to text, and in which nothing but a query
/// fits. Long values are cut by Postgres, so that no row needs more memory than the result may have.
pub async fn run(
    connection: &mut PgConnection,
    sql: &str,
    limits: &QueryLimits,
    file: Option<RowFile>,
) -> Result<QueryResult, QueryError> {
    let columns = describe(connection, sql).await?;
    if columns.len() > limits.columns {
        return Err(QueryError::new(
            QueryErrorKind::TooLarge,
            format!(
                "The result has {} columns; the limit is {} (setting data.result_columns).",
                columns.len(),
                limits.columns
            ),
        ));
    }
    let max_chars =
        (limits.row_bytes() / columns.len()).clamp(MIN_VALUE_CHARS, limits.value_bytes.max(MIN_VALUE_CHARS));
    let names: Vec<String> = (1..=columns.len()).map(|number| format!("c{number}")).collect();
    let texts: Vec<String> = names
        .iter()
        .map(|name| format!("left({name}::text, {})", max_chars + 1))
        .collect();
    let cursor = format!(
        "DECLARE parlor_query NO SCROLL CURSOR FOR SELECT {} FROM (\n{sql}\n) AS parlor_rows({})",
        texts.join(", "),
        names.join(", ")
    );
    sqlx::query(AssertSqlSafe(cursor))
        .persistent(false)
        .execute(&mut *connection)
        .await
        .map_err(|error| cursor_error(&error))?;
    let types: Vec<String> = columns.iter().map(|column| column.data_type.clone()).collect();
    let mut collector = RowCollector::new(columns, *limits, file);
    let mut batch = Vec::new();
    loop {
        let mut rows = sqlx::query(FETCH).fetch(&mut *connection);
        let (mut count, mut bytes) = (0, 0);
        while let Some(row) = rows.try_next().await.map_err(|error| query_error(&error, ""))? {
            count += 1;
            let row = read_row(&row, &types, max_chars)?;
            bytes += row.iter().map(Cell::byte_len).sum::<usize>();
            batch.push(row);
            if bytes < MAX_BATCH_BYTES {
                continue;
            }
            let is_full;
            (collector, is_full) = collect(collector, mem::take(&mut batch)).await?;
            if is_full {
                return finish(collector).await;
            }
            bytes = 0;
        }
        let is_full;
        (collector, is_full) = collect(collector, mem::take(&mut batch)).await?;
        if is_full || count == 0 {
            return finish(collector).await;
        }
    }
}

/// Adds rows on a thread for blocking work, as they may be written to a file. Returns true if the result is finished.
async fn collect(
    mut collector: RowCollector,
    rows: Vec<Vec<Cell>>,
) -> Result<(RowCollector, bool), QueryError> {
    in_background(move || {
        for row in rows {
            if !collector.push(row)? {
                return Ok((collector, true));
            }
        }
        Ok((collector, false))
    })
    .await
}

async fn finish(collector: RowCollector) -> Result<QueryResult, QueryError> {
    in_background(|| collector.finish()).await
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, QueryError> + Send + 'static,
) -> Result<T, QueryError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "the rows of a query can't be collected");
        Err(QueryError::unavailable())
    })
}

/// Lets Postgres parse a statement. Returns the columns of its result.
async fn describe(connection: &mut PgConnection, sql: &str) -> Result<Vec<ResultColumn>, QueryError> {
    let prepared = connection
        .prepare(AssertSqlSafe(sql.to_owned()).into_sql_str())
        .await;
    let statement: PgStatement = match prepared {
        Ok(statement) => statement,
        Err(sqlx::Error::Protocol(_) | sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. }) => {
            return describe_unknown_types(connection, sql).await;
        }
        Err(error) => return Err(query_error(&error, sql)),
    };
    if let Some(Either::Left([_, ..]) | Either::Right(1..)) = statement.parameters() {
        return Err(QueryError::new(
            QueryErrorKind::Invalid,
            "The query has a parameter ($1) without a value. Write the value into the query.",
        ));
    }
    if statement.columns().is_empty() {
        return Err(QueryError::refused("The statement does not read rows."));
    }
    let columns = statement.columns().iter().map(|column| ResultColumn {
        name: column.name().to_owned(),
        data_type: column.type_info().name().to_lowercase(),
    });
    Ok(columns.collect())
}

/// Returns the columns of a statement that Postgres has parsed, but of whose types sqlx does not know the kind (such as multiranges).
///
/// sqlx looks up no types of a simple query. That gets one row in which all columns of the statement are missing, for which nothing
/// of it runs.
async fn describe_unknown_types(
    connection: &mut PgConnection,
    sql: &str,
) -> Result<Vec<ResultColumn>, QueryError> {
    let empty_row = format!(
        "SELECT parlor_rows.* FROM (VALUES (1)) AS parlor_one LEFT JOIN (\n{sql}\n) AS parlor_rows ON false"
    );
    let row = connection
        .fetch_one(sqlx::raw_sql(AssertSqlSafe(empty_row)))
        .await;
    let row = row.map_err(|error| cursor_error(&error))?;
    let oid = |column: &PgColumn| column.type_info().oid().map_or(0, |oid| i64::from(oid.0));
    let oids: Vec<i64> = row.columns().iter().map(oid).collect();
    let types: Vec<String> = sqlx::query_scalar(
        "SELECT coalesce(e.typname || '[]', t.typname, 'text')::text
         FROM unnest($1::bigint[]) WITH ORDINALITY AS o(id, place)
         LEFT JOIN pg_catalog.pg_type t ON t.oid = o.id::oid
         LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
         ORDER BY o.place",
    )
    .bind(oids)
    .fetch_all(&mut *connection)
    .await
    .map_err(|error| own_error(&error))?;
    let columns = row.columns().iter().zip(types);
    let columns = columns.map(|(column, data_type)| ResultColumn {
        name: column.name().to_owned(),
        data_type,
    });
    Ok(columns.collect())
}

/// Converts an error of the cursor. A syntax error shows that the statement, which was parsed before, is not a
/// query.
fn cursor_error(error: &sqlx::Error) -> QueryError {
    let code = error.as_database_error().and_then(|error| error.code());
    match code.as_deref() {
        Some("42601") => QueryError::refused("The statement is not a query."),
        _ => query_error(error, ""),
    }
}

fn read_row(row: &PgRow, types: &[String], max_chars: usize) -> Result<Vec<Cell>, QueryError> {
    let cells = types.iter().enumerate().map(|(index, data_type)| {
        let text: Option<String> = row.try_get(index).map_err(|error| own_error(&error))?;
        Ok(text.map_or(Cell::Null, |text| read_cell(text, data_type, max_chars)))
    });
    cells.collect()
}

/// Reads a value from Postgres' text form.
fn read_cell(mut text: String, data_type: &str, max_chars: usize) -> Cell {
    if let Some((end, _)) = text.char_indices().nth(max_chars) {
        text.truncate(end);
        text.push('…');
        return Cell::Text(text);
    }
    match data_type {
        "int2" | "int4" | "int8" => text.parse().map_or(Cell::Text(text), Cell::Integer),
        "float4" | "float8" => text.parse().map_or(Cell::Text(text), Cell::Real),
        "numeric" => Cell::Decimal(text),
        "bool" => match text.as_str() {
            "true" | "t" => Cell::Bool(true),
            "false" | "f" => Cell::Bool(false),
            _ => Cell::Text(text),
        },
        _ => Cell::Text(text),
    }
}

/// Returns the values of a column with their counts.
pub async fn values(
    connection: &mut PgConnection,
    table: &Table,
    column: &Column,
    search: Option<&str>,
    count: usize,
    limits: &QueryLimits,
) -> Result<QueryResult, QueryError> {
    let (table, name) = (table.quoted_name(), quote_identifier(&column.name));
    let sql = format!(
        "SELECT left({name}::text, {MIN_VALUE_CHARS}), count(*) FROM {table} \
         WHERE $1::text IS NULL OR {name}::text ILIKE $1 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {count}"
    );
    let columns = [("value", &*column.data_type), ("count", "int8")];
    let columns = columns.map(|(name, data_type)| ResultColumn {
        name: name.into(),
        data_type: data_type.into(),
    });
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(search.map(to_like_pattern));
    let rows = rows
        .fetch_all(&mut *connection)
        .await
        .map_err(|error| query_error(&error, ""))?;
    let mut collector = RowCollector::new(columns.into(), *limits, None);
    for row in rows {
        let read = (|| Ok((row.try_get::<Option<String>, _>(0)?, row.try_get(1)?)))();
        let (value, count) = read.map_err(|error: sqlx::Error| own_error(&error))?;
        let value = value.map_or(Cell::Null, Cell::Text);
        if !collector.push(vec![value, Cell::Integer(count)])? {
            break;
        }
    }
    collector.finish()
}
