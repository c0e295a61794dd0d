//! The tables of the files that a person attached, as one database.

use super::{Data, DataError, quote};
use parlor_databases::{Database, TableFile, TableFiles, list_names};
use parlor_files::TableFileError;
use parlor_tools::ToolContext;

impl Data {
    /// Returns `true` if there are tables in the files on a call's branch.
    pub(super) async fn has_file_tables(&self, call: &ToolContext) -> bool {
        !self
            .0
            .files
            .with_tables(call.user_id, &call.files)
            .await
            .is_empty()
    }

    /// Returns the database with the tables of the files on a call's branch: the newest ones.
    pub(super) async fn file_database(&self, call: &ToolContext) -> Result<Database, DataError> {
        let attached = self.0.files.with_tables(call.user_id, &call.files).await;
        let (older, newest) = attached.split_at(attached.len().saturating_sub(TableFile::MAX_COUNT));
        let mut tables = TableFiles::default();
        if !older.is_empty() {
            tables.missing.push(format!(
                "Only the {} newest files can be queried here, without {}. Read the others with Python.",
                TableFile::MAX_COUNT,
                list_names(older.iter().map(|file| quote(&file.name)))
            ));
        }
        let mut unreadable = None;
        for file in newest {
            let stored = self.0.files.find(call.user_id, file.id).await;
            let stored = stored.map_err(|error| {
                tracing::error!(%error, "a file with tables can't be read");
                DataError::UnreadableFile {
                    name: quote(&file.name),
                    cause: "storage does not work just now".into(),
                }
            })?;
            // It was deleted meanwhile.
            let Some(stored) = stored else { continue };
            match self.0.files.table_database(&stored).await {
                Ok(path) => tables.files.push(TableFile {
                    name: file.name.clone(),
                    path,
                }),
                Err(TableFileError::NoTables) => {}
                // The other files can be queried all the same.
                Err(error) => {
                    let error = DataError::UnreadableFile {
                        name: quote(&file.name),
                        cause: error.to_string(),
                    };
                    tables.missing.push(error.to_string());
                    unreadable = Some(error);
                }
            }
        }
        match (tables.files.is_empty(), unreadable) {
            (true, Some(error)) => Err(error),
            (true, None) => Err(DataError::NoFile),
            (false, _) => Ok(self.0.file_databases.open(tables)),
        }
    }
}
