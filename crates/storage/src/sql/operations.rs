//! Questions of operators about the database.

use async_trait::async_trait;

use super::{
    SqlStorage,
    database::{Connection, Row, query},
};
use crate::{StorageError, operations::OperationsStorage};
use parlor_base::metrics::samples::{ConnectionCount, StoredWork, WorkCount};

/// The numbers of what has not ended. The conditions are those of the partial indexes, so that no table is read whole.
const COUNT_WORK: &str = "SELECT \
     (SELECT count(*) FROM runs WHERE status IN ('running', 'waiting') AND status = 'running') AS running_answers, \
     (SELECT count(*) FROM runs WHERE status IN ('running', 'waiting') AND status = 'waiting') AS waiting_answers, \
     (SELECT count(*) FROM jobs WHERE status = 'running') AS running_jobs, \
     (SELECT count(*) FROM queued_messages) AS queued_messages";

#[async_trait]
impl OperationsStorage for SqlStorage {
    async fn stored_work(&self) -> Result<StoredWork, StorageError> {
        let mut connection = self.readers.acquire().await?;
        stored_work(&mut connection).await
    }

    fn connections(&self) -> ConnectionCount {
        self.readers.count()
    }
}

async fn stored_work(connection: &mut Connection) -> Result<StoredWork, StorageError> {
    let row = query(COUNT_WORK).fetch_one(connection).await?;
    Ok(StoredWork {
        running: WorkCount {
            answers: number(&row, "running_answers")?,
            jobs: number(&row, "running_jobs")?,
        },
        waiting_answers: number(&row, "waiting_answers")?,
        queued_messages: number(&row, "queued_messages")?,
    })
}

fn number(row: &Row, column: &str) -> Result<usize, StorageError> {
    let number: i64 = row.try_get(column)?;
    Ok(usize::try_from(number).unwrap_or_default())
}
