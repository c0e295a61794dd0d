//! The end of a commit whose connection was lost: the process looks whether its number of the transaction was stored.

use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row, postgres::PgConnectOptions};
use tokio::time::{sleep, timeout};

use crate::{StorageError, jobs::Owner, sql::writer::within};

/// The time between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// The longest wait for an answer, after which the only process asks again.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns true if a process's transaction of this number was committed. Waits while the server still works on it: the transaction has
/// locked the row of the number.
///
/// # Errors
///
/// If the server can't be asked within the length of a lease, or the lease has ended.
pub(crate) async fn was_committed(
    options: &PgConnectOptions,
    owner: Owner,
    number: i64,
    lease: Option<Duration>,
) -> Result<bool, StorageError> {
    let table = match lease {
        Some(_) => "node_commits WHERE node",
        None => "process_commits WHERE process",
    };
    let select = format!("SELECT number FROM {table} = '{owner}' FOR UPDATE");
    let asking = async {
        loop {
            let asked = within(Some(lease.map_or(ANSWER_TIMEOUT, |lease| lease / 4)), async {
                let mut connection = options.connect().await?;
                let select = sqlx::raw_sql(AssertSqlSafe(select.clone()));
                let row = connection.fetch_optional(select).await?;
                Ok(row.map(|row| row.try_get::<i64, _>(0)).transpose()?)
            });
            match asked.await {
                Ok(Some(last)) => return Ok(last >= number),
                Ok(None) => return Err(StorageError::LeaseLost),
                Err(error) => {
                    tracing::warn!(%error, "whether a commit was stored can't be asked yet");
                    sleep(ASK_AGAIN).await;
                }
            }
        }
    };
    match lease {
        Some(lease) => timeout(lease, asking)
            .await
            .unwrap_or(Err(StorageError::LeaseLost)),
        None => asking.await,
    }
}
