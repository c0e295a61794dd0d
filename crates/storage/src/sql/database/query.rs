//! Queries: a text with the values of its parameters, for either database.

use std::{marker::PhantomData, sync::Arc};

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use sqlx::{
    Arguments as _, AssertSqlSafe, Executor as _, PgConnection, Postgres, Sqlite, postgres::PgArguments,
    sqlite::SqliteArguments,
};

use super::{
    Connection, DriverConnection, FromColumn, Preparation, Row, escape,
    statements::{self, Statement},
};
use crate::column_value::ColumnValue;

/// The text of a query: one or several statements.
#[derive(Clone, Debug)]
pub(crate) enum Sql {
    /// A text that both databases take.
    Constant(&'static str),
    /// A text that was put together.
    Made(String),
    /// Two texts, where the databases have no words in common.
    Two {
        sqlite: &'static str,
        postgres: &'static str,
    },
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Self {
        Self::Constant(text)
    }
}

impl From<String> for Sql {
    fn from(text: String) -> Self {
        Self::Made(text)
    }
}

impl Sql {
    fn for_postgres(&self) -> Arc<[Statement]> {
        match self {
            Self::Constant(text) | Self::Two { postgres: text, .. } => statements::of_constant(text),
            Self::Made(text) => statements::split(text),
        }
    }
}

/// The value of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    /// Texts that the statement reads with `json_each($1)`.
    List(Vec<String>),
}

macro_rules! value_from {
    ($($from:ty => $variant:ident($name:ident: $value:expr)),* $(,)?) => {$(
        impl From<$from> for Value {
            fn from($name: $from) -> Self {
                Self::$variant(Some($value))
            }
        }

        impl From<Option<$from>> for Value {
            fn from(value: Option<$from>) -> Self {
                Self::$variant(value.map(|$name| $value))
            }
        }
    )*};
}

value_from! {
    i64 => Integer(value: value),
    bool => Integer(value: value.into()),
    String => Text(value: value),
    &String => Text(value: value.clone()),
    &str => Text(value: value.to_owned()),
    Vec<u8> => Bytes(value: value),
    &[u8] => Bytes(value: value.to_vec()),
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}

/// A query with the values of its parameters.
#[derive(Debug)]
#[must_use]
pub(crate) struct Query {
    sql: Sql,
    values: Vec<Value>,
    is_persistent: bool,
}

/// Begins a query.
pub(crate) fn query(sql: impl Into<Sql>) -> Query {
    Query {
        sql: sql.into(),
        values: Vec::new(),
        is_persistent: true,
    }
}

/// The number of rows that the statements of a query have changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed(u64);

impl Executed {
    pub(crate) fn rows_affected(self) -> u64 {
        self.0
    }
}

impl Query {
    /// Adds the value of the next parameter.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Adds a value in the form of its column.
    pub(crate) fn bind_value<V: ColumnValue>(self, value: V) -> Self
    where
        V::Column: Into<Value>,
    {
        self.bind(value.column())
    }

    /// Adds a list of texts, which the statement reads with `json_each($1)`.
    pub(crate) fn bind_list(self, list: impl IntoIterator<Item = impl ToString>) -> Self {
        self.bind(Value::List(
            list.into_iter().map(|item| item.to_string()).collect(),
        ))
    }

    /// Sets whether the statement is kept prepared.
    pub(crate) fn persistent(mut self, is_persistent: bool) -> Self {
        self.is_persistent = is_persistent;
        self
    }

    fn for_sqlite<'q>(self) -> Result<sqlx::query::Query<'q, Sqlite, SqliteArguments>, sqlx::Error> {
        let mut arguments = SqliteArguments::default();
        for value in self.values {
            match value {
                Value::Integer(value) => arguments.add(value),
                Value::Text(value) => arguments.add(value),
                Value::Bytes(value) => arguments.add(value),
                Value::List(list) => arguments.add(serde_json::to_string(&list).unwrap_or_default()),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        let query = match self.sql {
            Sql::Constant(text) | Sql::Two { sqlite: text, .. } => sqlx::query_with(text, arguments),
            Sql::Made(text) => sqlx::query_with(AssertSqlSafe(text), arguments),
        };
        Ok(query.persistent(self.is_persistent))
    }

    /// Returns the statements for Postgres.
    fn for_postgres<'q>(
        self,
        preparation: Preparation,
    ) -> Result<Vec<sqlx::query::Query<'q, Postgres, PgArguments>>, sqlx::Error> {
        let statements = self.sql.for_postgres();
        let mut queries = Vec::with_capacity(statements.len());
        for statement in statements.iter() {
            let mut arguments = PgArguments::default();
            for value in &statement.values {
                let value = self.values.get(*value).cloned();
                let value = value.ok_or_else(|| sqlx::Error::Encode("a parameter without a value".into()))?;
                match value {
                    Value::Integer(value) => arguments.add(value),
                    Value::Text(value) => arguments.add(value.map(escape::escape)),
                    Value::Bytes(value) => arguments.add(value),
                    Value::List(list) => {
                        arguments.add(list.into_iter().map(escape::escape).collect::<Vec<_>>())
                    }
                }
                .map_err(sqlx::Error::Encode)?;
            }
            let query = sqlx::query_with(AssertSqlSafe(statement.sql.clone()), arguments);
            queries.push(query.persistent(self.is_persistent && preparation == Preparation::Kept));
        }
        Ok(queries)
    }

    /// Runs all statements.
    pub(crate) async fn execute(self, connection: &mut Connection) -> Result<Executed, sqlx::Error> {
        match connection.driver() {
            DriverConnection::Sqlite(connection) => Ok(Executed(
                self.for_sqlite()?.execute(connection).await?.rows_affected(),
            )),
            DriverConnection::Postgres(connection, preparation) => {
                if self.values.is_empty() {
                    return self.execute_plainly(connection).await;
                }
                let mut rows = 0;
                for query in self.for_postgres(preparation)? {
                    rows += query.execute(&mut *connection).await?.rows_affected();
                }
                Ok(Executed(rows))
            }
        }
    }

    /// Runs statements without values on Postgres, in one round trip. Those that begin or end a transaction must not be prepared
    /// behind a pooler.
    async fn execute_plainly(self, connection: &mut PgConnection) -> Result<Executed, sqlx::Error> {
        let statements = self.sql.for_postgres();
        let text: Vec<&str> = statements.iter().map(|statement| &*statement.sql).collect();
        let text = sqlx::raw_sql(AssertSqlSafe(text.join("; ")));
        Ok(Executed(connection.execute(text).await?.rows_affected()))
    }

    /// Returns the rows of all statements.
    pub(crate) async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<Row>, sqlx::Error> {
        match connection.driver() {
            DriverConnection::Sqlite(connection) => {
                let rows = self.for_sqlite()?.fetch_all(connection).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            DriverConnection::Postgres(connection, preparation) => {
                let mut rows = Vec::new();
                for query in self.for_postgres(preparation)? {
                    let found = query.fetch_all(&mut *connection).await?;
                    rows.extend(found.into_iter().map(Row::Postgres));
                }
                Ok(rows)
            }
        }
    }

    /// Returns the first row, if there is one.
    pub(crate) async fn fetch_optional(
        self,
        connection: &mut Connection,
    ) -> Result<Option<Row>, sqlx::Error> {
        match connection.driver() {
            DriverConnection::Sqlite(connection) => {
                let row = self.for_sqlite()?.fetch_optional(connection).await?;
                Ok(row.map(Row::Sqlite))
            }
            DriverConnection::Postgres(connection, preparation) => {
                let mut row = None;
                for query in self.for_postgres(preparation)? {
                    let found = query.fetch_optional(&mut *connection).await?;
                    row = row.or(found.map(Row::Postgres));
                }
                Ok(row)
            }
        }
    }

    /// Returns the first row.
    pub(crate) async fn fetch_one(self, connection: &mut Connection) -> Result<Row, sqlx::Error> {
        self.fetch_optional(connection)
            .await?
            .ok_or(sqlx::Error::RowNotFound)
    }

    /// Returns the rows one by one.
    pub(crate) fn fetch(self, connection: &mut Connection) -> BoxStream<'_, Result<Row, sqlx::Error>> {
        match connection.driver() {
            DriverConnection::Sqlite(connection) => match self.for_sqlite() {
                Ok(query) => query.fetch(connection).map_ok(Row::Sqlite).boxed(),
                Err(error) => futures::stream::once(async { Err(error) }).boxed(),
            },
            DriverConnection::Postgres(connection, preparation) => match self.for_postgres(preparation) {
                Ok(mut queries) if queries.len() == 1 => {
                    let query = queries.remove(0);
                    query.fetch(connection).map_ok(Row::Postgres).boxed()
                }
                Ok(_) => {
                    let error = sqlx::Error::Encode("rows of several statements are read at once".into());
                    futures::stream::once(async { Err(error) }).boxed()
                }
                Err(error) => futures::stream::once(async { Err(error) }).boxed(),
            },
        }
    }
}

/// A query for the first column of its first row.
#[derive(Debug)]
#[must_use]
pub(crate) struct ScalarQuery<T>(Query, PhantomData<T>);

/// Begins a query for one value.
pub(crate) fn query_scalar<T: FromColumn>(sql: impl Into<Sql>) -> ScalarQuery<T> {
    ScalarQuery(query(sql), PhantomData)
}

impl<T: FromColumn> ScalarQuery<T> {
    pub(crate) fn bind(self, value: impl Into<Value>) -> Self {
        Self(self.0.bind(value), PhantomData)
    }

    pub(crate) fn bind_value<V: ColumnValue>(self, value: V) -> Self
    where
        V::Column: Into<Value>,
    {
        Self(self.0.bind_value(value), PhantomData)
    }

    pub(crate) async fn fetch_one(self, connection: &mut Connection) -> Result<T, sqlx::Error> {
        self.0.fetch_one(connection).await?.try_get_first()
    }

    pub(crate) async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<T>, sqlx::Error> {
        let row = self.0.fetch_optional(connection).await?;
        row.map(|row| row.try_get_first()).transpose()
    }
}
