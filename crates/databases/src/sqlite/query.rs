//! Running one statement.

use rusqlite::{
    Batch, Connection, Error, ErrorCode, Statement, fallible_iterator::FallibleIterator, types::ValueRef,
};

use super::{
    super::{
        Cell, CellKind, QueryError, QueryErrorKind, QueryResult, ResultColumn,
        limits::QueryLimits,
        result::{RowCollector, RowFile},
    },
    unavailable,
};

/// Runs one statement. `parameters` are texts or NULL, for `?1` and so on.
pub fn run(
    connection: &Connection,
    sql: &str,
    parameters: &[Option<String>],
    limits: &QueryLimits,
    file: Option<RowFile>,
) -> Result<QueryResult, QueryError> {
    let mut statement = prepare(connection, sql)?;
    if statement.parameter_count() > parameters.len() {
        return Err(QueryError::new(
            QueryErrorKind::Invalid,
            "The query has a parameter (?, :name, @name or $name) without a value. Write the value into the query.",
        ));
    }
    for (index, parameter) in parameters.iter().enumerate() {
        statement
            .raw_bind_parameter(index + 1, parameter)
            .map_err(|error| query_error(&error, sql))?;
    }
    let columns: Vec<ResultColumn> = statement
        .columns()
        .iter()
        .map(|column| ResultColumn {
            name: column.name().to_owned(),
            data_type: column.decl_type().unwrap_or_default().to_owned(),
        })
        .collect();
    let width = columns.len();
    let mut collector = RowCollector::new(columns, *limits, file);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(|error| query_error(&error, sql))? {
        let cells = (0..width).map(|index| row.get_ref(index).map(read_value));
        let cells = cells.collect::<Result<Vec<Cell>, Error>>();
        if !collector.push(cells.map_err(|error| query_error(&error, sql))?)? {
            break;
        }
    }
    let mut result = collector.finish()?;
    name_types(&mut result);
    Ok(result)
}

/// Prepares the only statement of a text.
fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>, QueryError> {
    if sql.contains('\0') {
        return Err(QueryError::refused("A query has no NUL characters."));
    }
    let mut batch = Batch::new(connection, sql);
    let first = batch.next().map_err(|error| query_error(&error, sql))?;
    let Some(statement) = first else {
        return Err(QueryError::refused("There is no statement in the query."));
    };
    // What follows may be comments, but nothing that SQLite would run or fail to read.
    match batch.next() {
        Ok(None) => {}
        _ => return Err(QueryError::refused("The query has more than one statement.")),
    }
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(QueryError::refused("The statement does not read rows."));
    }
    Ok(statement)
}

fn read_value(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Integer(value),
        ValueRef::Real(value) => Cell::Real(value),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Binary(bytes.to_owned()),
    }
}

/// Names the types of columns that have no declared one, by their first value.
fn name_types(result: &mut QueryResult) {
    for (index, column) in result.columns.iter_mut().enumerate() {
        if !column.data_type.is_empty() {
            continue;
        }
        let kinds = result.kinds.get(index).copied().unwrap_or_default();
        column.data_type = match kinds.first() {
            Some(CellKind::Integer) => "INTEGER",
            Some(CellKind::Real | CellKind::Infinite) => "REAL",
            Some(CellKind::Binary) => "BLOB",
            Some(_) => "TEXT",
            None => "",
        }
        .into();
    }
}

/// Converts an error of SQLite. The offset in the query is in bytes.
pub(super) fn query_error(error: &Error, sql: &str) -> QueryError {
    let (code, message) = match error {
        Error::SqlInputError {
            error, msg, offset, ..
        } => {
            if error.code == ErrorCode::AuthorizationForStatementDenied {
                return refused(msg);
            }
            let invalid = QueryError::new(QueryErrorKind::Invalid, msg.clone());
            return match usize::try_from(*offset) {
                Ok(offset) => invalid.with_position(sql, offset),
                Err(_) => invalid,
            };
        }
        Error::SqliteFailure(error, message) => (error.code, message.clone()),
        other => return QueryError::new(QueryErrorKind::Invalid, other.to_string()),
    };
    let message = message.unwrap_or_else(|| error.to_string());
    match code {
        ErrorCode::AuthorizationForStatementDenied => refused(&message),
        ErrorCode::ReadOnly => QueryError::refused(format!("The database can only be read: {message}.")),
        ErrorCode::TooBig => QueryError::new(
            QueryErrorKind::TooLarge,
            "A value in the query is too long (setting data.value_bytes).",
        ),
        ErrorCode::OutOfMemory => {
            QueryError::new(QueryErrorKind::TooLarge, "The query needs too much memory.")
        }
        ErrorCode::CannotOpen
        | ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::SystemIoFailure => unavailable(error),
        _ => QueryError::new(QueryErrorKind::Invalid, message),
    }
}

fn refused(message: &str) -> QueryError {
    QueryError::refused(format!("This is not allowed here: {message}."))
}
