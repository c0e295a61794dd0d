//! Handling of rows that can't be read. A damaged row affects only itself: readers skip it or show that it is
//! damaged.

use std::{collections::HashSet, fmt::Display, sync::LazyLock};

use parking_lot::Mutex;
use uuid::Uuid;

use super::StorageError;

/// The name of a row that can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{table}, id {id}")]
pub struct DamagedRow {
    pub table: &'static str,
    pub id: Uuid,
}

/// The limit of damaged rows named in the log. More of them mean a failing disk, and further names do not
/// help.
const MAX_LOGGED_ROWS: usize = 1000;

/// The rows named in the log already, by table and id.
static LOGGED_ROWS: LazyLock<Mutex<HashSet<(&'static str, String)>>> = LazyLock::new(Mutex::default);

/// Returns the value read from a row, or `None` if the row is damaged. Logs each damaged row once.
///
/// # Errors
///
/// If reading failed for another reason than damage of the row.
pub fn skip_damaged<T>(
    table: &'static str,
    id: impl Display,
    read: Result<T, StorageError>,
) -> Result<Option<T>, StorageError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_row_damage() => {
            log_damaged_row(table, id, &error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns the value read from a row that a request names. Damage of the row is logged once and becomes an error with its name.
///
/// # Errors
///
/// If the row is damaged, or reading failed for another reason.
pub fn name_damaged<T>(
    table: &'static str,
    id: Uuid,
    read: Result<T, StorageError>,
) -> Result<T, StorageError> {
    read.map_err(|error| match error.is_row_damage() {
        true => {
            log_damaged_row(table, id, &error);
            DamagedRow { table, id }.into()
        }
        false => error,
    })
}

/// Logs a damaged row, unless it was logged before.
pub fn log_damaged_row(table: &'static str, id: impl Display, error: &dyn Display) {
    let id = id.to_string();
    let mut logged = LOGGED_ROWS.lock();
    if logged.len() >= MAX_LOGGED_ROWS || !logged.insert((table, id.clone())) {
        return;
    }
    tracing::error!(table, id, %error, "a stored row is damaged and is skipped");
    if logged.len() == MAX_LOGGED_ROWS {
        tracing::error!("{MAX_LOGGED_ROWS} stored rows are damaged; further ones are not logged");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use captured_log::CapturedLog;

    fn row_error() -> StorageError {
        serde_json::from_str::<bool>("{").unwrap_err().into()
    }

    #[test]
    fn logs_a_damaged_row_once() {
        let (log, _guard) = CapturedLog::capture();
        for _ in 0..3 {
            assert!(
                skip_damaged("tests", "first row", Err::<(), _>(row_error()))
                    .unwrap()
                    .is_none()
            );
            assert_eq!(log.count("first row"), 1);
        }
        assert_eq!(skip_damaged("tests", "sound row", Ok(7)).unwrap(), Some(7));
        assert_eq!(log.count("sound row"), 0);
    }

    #[test]
    fn storage_failure_is_not_row_damage() {
        let failure = StorageError::Database(sqlx::Error::PoolClosed);
        assert!(skip_damaged("tests", "second row", Err::<(), _>(failure)).is_err());
    }
}
