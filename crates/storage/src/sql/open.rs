//! Opening the database that the settings name.

use super::SqlStorage;
use crate::{StorageError, postgres::PostgresDatabase, transfer::refuse_incomplete};
use parlor_base::{
    metrics::Metrics,
    settings::{NodeSettings, Settings},
};

impl SqlStorage {
    /// Opens the database of the settings: one of Postgres if they have a URL, else the file of SQLite in the data folder.
    ///
    /// # Errors
    ///
    /// If the data folder or the database can't be used.
    pub async fn open_configured(settings: &Settings) -> Result<Self, StorageError> {
        let storage = Self::open_with(settings, &settings.nodes).await?;
        refuse_incomplete(&mut *storage.readers.acquire().await?).await?;
        Ok(storage)
    }

    /// As [`Self::open_configured`], also if a copy into it was not completed. No node may be at work.
    ///
    /// # Errors
    ///
    /// If the data folder or the database can't be used.
    pub async fn open_for_copy(settings: &Settings) -> Result<Self, StorageError> {
        Self::open_with(settings, &NodeSettings::default()).await
    }

    async fn open_with(settings: &Settings, nodes: &NodeSettings) -> Result<Self, StorageError> {
        let folder = settings.server.data();
        let database = PostgresDatabase::of_settings(settings).map(|database| PostgresDatabase {
            nodes: nodes.clone(),
            ..database
        });
        match database {
            Some(database) => Self::open_postgres(folder, &database).await,
            None => Self::open(folder).await,
        }
    }

    /// Records the waits for connections in these figures.
    #[must_use]
    pub fn with_metrics(mut self, metrics: &Metrics) -> Self {
        self.readers.set_wait(metrics.database.wait.clone());
        self
    }
}
