//! Questions of operators about the database.

use async_trait::async_trait;

use super::StorageError;
use parlor_base::metrics::samples::{ConnectionCount, StoredWork};

/// The queries about the database as a whole.
#[async_trait]
pub trait OperationsStorage {
    /// Counts the answers, jobs and messages of all users that have not ended or wait.
    async fn stored_work(&self) -> Result<StoredWork, StorageError>;

    /// Returns the present connections for reading.
    fn connections(&self) -> ConnectionCount;
}
