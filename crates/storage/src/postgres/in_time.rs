//! Work on a connection of a pool, with a time limit: behind a broken cable, a statement would end after minutes.

use std::time::Duration;

use sqlx::{PgConnection, PgPool, Postgres, pool::PoolConnection};

use crate::{StorageError, sql::writer::within};

/// A connection that is closed, and not given back, unless its work has ended well. The pool would try one whose work was given up, without
/// a time limit, and have one less meanwhile.
struct Borrowed {
    connection: PoolConnection<Postgres>,
    has_ended_well: bool,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if !self.has_ended_well {
            self.connection.close_on_drop();
        }
    }
}

/// Does something on a connection of a pool, within a time limit.
///
/// # Errors
///
/// Its own, or one of a lost connection when the time is over.
pub(super) async fn in_time<T>(
    pool: &PgPool,
    limit: Duration,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    let mut borrowed = Borrowed {
        connection: pool.acquire().await?,
        has_ended_well: false,
    };
    let done = within(Some(limit), work(&mut borrowed.connection)).await?;
    borrowed.has_ended_well = true;
    Ok(done)
}
