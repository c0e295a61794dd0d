//! Rows that can't be read. One costs only itself: whoever reads it goes on without it, or shows that it is damaged.

use std::{
    collections::HashSet,
    fmt::Display,
    sync::{LazyLock, Mutex, PoisonError},
};

use super::StorageError;

/// Damaged rows that are named in the log. So many point at the disk, and naming more helps nobody.
const MAX_LOGGED: usize = 1000;

/// The rows that the log names already: their table and id.
static LOGGED: LazyLock<Mutex<HashSet<(&'static str, String)>>> = LazyLock::new(Mutex::default);

/// Gives what was read of a row, or nothing if the row is damaged, which is logged once.
///
/// # Errors
///
/// If storage does not work: that is no row's fault.
pub fn undamaged<T>(
    table: &'static str,
    id: impl Display,
    read: Result<T, StorageError>,
) -> Result<Option<T>, StorageError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_damage() => {
            report(table, id, &error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Logs a damaged row, if it was not logged before.
pub fn report(table: &'static str, id: impl Display, error: &dyn Display) {
    let id = id.to_string();
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    if logged.len() >= MAX_LOGGED || !logged.insert((table, id.clone())) {
        return;
    }
    tracing::error!(table, id, %error, "a stored row is damaged; everything else is read without it");
    if logged.len() == MAX_LOGGED {
        tracing::error!("{MAX_LOGGED} stored rows are damaged; further ones are not logged");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_log::Log;

    fn broken() -> StorageError {
        serde_json::from_str::<bool>("{").unwrap_err().into()
    }

    #[test]
    fn damaged_rows_are_logged_once() {
        let (log, _guard) = Log::listen();
        for _ in 0..3 {
            assert!(
                undamaged("tests", "first row", Err::<(), _>(broken()))
                    .unwrap()
                    .is_none()
            );
            assert_eq!(log.count("first row"), 1);
        }
        assert_eq!(undamaged("tests", "sound row", Ok(7)).unwrap(), Some(7));
        assert_eq!(log.count("sound row"), 0);
    }

    #[test]
    fn storage_trouble_is_no_damage() {
        let trouble = StorageError::Database(sqlx::Error::PoolClosed);
        assert!(undamaged("tests", "second row", Err::<(), _>(trouble)).is_err());
    }
}
