//! A row of a result, and the types of its columns.

use sqlx::{Row as _, ValueRef as _, postgres::PgRow, sqlite::SqliteRow};

use super::escape;

/// A row of a result.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A type that columns are read as.
pub(crate) trait FromColumn: Sized {
    fn from_sqlite(row: &SqliteRow, column: impl sqlx::ColumnIndex<SqliteRow>) -> Result<Self, sqlx::Error>;
    fn from_postgres(row: &PgRow, column: impl sqlx::ColumnIndex<PgRow>) -> Result<Self, sqlx::Error>;
}

impl Row {
    /// Reads a column.
    ///
    /// # Errors
    ///
    /// If it has a value of another type, or null for a type that is no option.
    pub(crate) fn try_get<T: FromColumn>(&self, column: &str) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => T::from_sqlite(row, column),
            Self::Postgres(row) => T::from_postgres(row, column),
        }
    }

    /// Reads the first column.
    pub(super) fn try_get_first<T: FromColumn>(&self) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => T::from_sqlite(row, 0),
            Self::Postgres(row) => T::from_postgres(row, 0),
        }
    }

    /// Returns true if a column is null.
    pub(crate) fn is_null(&self, column: &str) -> Result<bool, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get_raw(column)?.is_null(),
            Self::Postgres(row) => row.try_get_raw(column)?.is_null(),
        })
    }

    /// Reads a text for display. A value of any type of SQLite is read as bytes, and bytes that are not UTF-8 are replaced.
    pub(crate) fn try_get_lossy(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
        match self {
            Self::Sqlite(row) => {
                let bytes = row.try_get_unchecked::<Option<&[u8]>, _>(column)?;
                Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
            }
            Self::Postgres(_) => self.try_get(column),
        }
    }

    /// Reads a JSON text that the database made of stored texts.
    pub(crate) fn try_get_made_json(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
        match self {
            Self::Sqlite(_) => self.try_get_lossy(column),
            Self::Postgres(row) => {
                let json = row.try_get_unchecked::<Option<&str>, _>(column)?;
                Ok(json.map(|json| escape::unescape_json(json).into_owned()))
            }
        }
    }
}

/// Types that both drivers read in the same way.
macro_rules! from_columns {
    ($($type:ty),*) => {$(
        impl FromColumn for $type {
            fn from_sqlite(row: &SqliteRow, column: impl sqlx::ColumnIndex<SqliteRow>) -> Result<Self, sqlx::Error> {
                row.try_get(column)
            }

            fn from_postgres(row: &PgRow, column: impl sqlx::ColumnIndex<PgRow>) -> Result<Self, sqlx::Error> {
                row.try_get(column)
            }
        }
    )*};
}

from_columns!(i64, Option<i64>, Vec<u8>, Option<Vec<u8>>);

impl FromColumn for bool {
    fn from_sqlite(row: &SqliteRow, column: impl sqlx::ColumnIndex<SqliteRow>) -> Result<Self, sqlx::Error> {
        row.try_get(column)
    }

    /// A condition is a boolean, a column an integer.
    fn from_postgres(row: &PgRow, column: impl sqlx::ColumnIndex<PgRow>) -> Result<Self, sqlx::Error> {
        let column = column.index(row)?;
        row.try_get(column)
            .or_else(|_| Ok(row.try_get::<i64, _>(column)? != 0))
    }
}

impl FromColumn for String {
    fn from_sqlite(row: &SqliteRow, column: impl sqlx::ColumnIndex<SqliteRow>) -> Result<Self, sqlx::Error> {
        row.try_get(column)
    }

    fn from_postgres(row: &PgRow, column: impl sqlx::ColumnIndex<PgRow>) -> Result<Self, sqlx::Error> {
        Ok(escape::unescape(row.try_get(column)?).into_owned())
    }
}

impl FromColumn for Option<String> {
    fn from_sqlite(row: &SqliteRow, column: impl sqlx::ColumnIndex<SqliteRow>) -> Result<Self, sqlx::Error> {
        row.try_get(column)
    }

    fn from_postgres(row: &PgRow, column: impl sqlx::ColumnIndex<PgRow>) -> Result<Self, sqlx::Error> {
        let text: Option<&str> = row.try_get(column)?;
        Ok(text.map(|text| escape::unescape(text).into_owned()))
    }
}
