//! Opening the database that the settings name.

use super::SqlStorage;
use crate::{StorageError, postgres::PostgresDatabase};
use parlor_base::settings::{Secret, Settings};

impl SqlStorage {
    /// Opens the database of the settings: one of Postgres if they have a URL, else the file of SQLite in the data folder.
    ///
    /// # Errors
    ///
    /// If the data folder or the database can't be used.
    pub async fn open_configured(settings: &Settings) -> Result<Self, StorageError> {
        let folder = settings.server.data();
        let Some(Secret(url)) = &settings.database.url else {
            return Self::open(folder).await;
        };
        let database = PostgresDatabase {
            url: url.clone(),
            has_pooler: settings.database.pooler,
            readers: settings.database.connections,
        };
        Self::open_postgres(folder, &database).await
    }
}
