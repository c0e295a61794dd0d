//! The tables of the files that a person has attached, for the page. They are queried in their conversations.

use futures::{StreamExt, stream};

use super::Data;
use parlor_protocol::{
    UserId,
    data::{FileEntry, TableEntry},
    file_preview::{ColumnPreview, TablePreview},
};
use parlor_storage::{AttachedFile, StorageError};

/// The number of files that are listed.
const MAX_FILES: usize = 50;
/// The number of files whose previews are read at the same time.
const CONCURRENT_READS: usize = 8;

impl Data {
    /// Returns the newest attached files with tables, and true if there may be more.
    pub(super) async fn attached_tables(
        &self,
        user_id: UserId,
    ) -> Result<(Vec<FileEntry>, bool), StorageError> {
        let attached = self.0.files.attached_tables(user_id, MAX_FILES).await?;
        let has_more = attached.len() == MAX_FILES;
        let entries = stream::iter(attached).map(|attached| self.file_entry(attached));
        Ok((entries.buffered(CONCURRENT_READS).collect().await, has_more))
    }

    async fn file_entry(&self, attached: AttachedFile) -> FileEntry {
        let AttachedFile {
            file,
            conversation_id,
            title,
        } = attached;
        let preview = self.0.files.read_preview(&file).await.unwrap_or_else(|error| {
            // The file is listed without its columns.
            tracing::warn!(%error, id = %file.attachment.id, "the tables of a file can't be read");
            None
        });
        FileEntry {
            file: file.attachment,
            conversation_id,
            title,
            tables: preview
                .map(|preview| preview.tables.into_iter().map(table_entry).collect())
                .unwrap_or_default(),
        }
    }
}

fn table_entry(table: TablePreview) -> TableEntry {
    let columns = table.columns.iter().enumerate();
    // A column without a heading has the name that queries use.
    let name = |(index, column): (usize, &ColumnPreview)| match column.name.is_empty() {
        true => format!("column_{}", index + 1),
        false => column.name.clone(),
    };
    TableEntry {
        columns: columns.map(name).collect(),
        about: table.counted_rows(),
        name: table.name,
    }
}
