//! The rows that columns can have: what a model is asked about each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    data::{Data, StoredTable},
    payloads::PayloadViews,
};
use parlor_base::text::single_line;
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, Payload, UserId,
    columns::{ColumnSource, SourceTable},
    panel::{NULL_TEXT, PanelBody},
};
use parlor_storage::{Storage, StorageError, not_found};

/// The maximum length of a cell of a table that the grid shows, in characters.
const MAX_SHOWN_CHARS: usize = 300;

/// The maximum size of all texts of such a table, in bytes.
const MAX_SHOWN_BYTES: usize = 8 << 20;

/// A row, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRow {
    /// The key of the row, unique in its source and the same later.
    pub key: String,
    /// The text. Its first paragraph names the row.
    pub paragraphs: Vec<String>,
    /// True if there is nothing to read but the name, so that no model is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_text: bool,
}

/// The rows of a source, up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRows {
    pub rows: Vec<SourceRow>,
    /// The number of rows beyond the limit.
    pub left_out: usize,
}

/// The rows of all sources of all users.
#[derive(Clone)]
pub struct RowSources {
    pub storage: Arc<dyn Storage>,
    pub views: PayloadViews,
    pub data: Data,
    /// The maximum number of rows.
    pub max_rows: usize,
    /// The maximum length of the text of a row, in bytes.
    pub max_bytes: usize,
}

impl RowSources {
    /// Returns the name of a source for its user.
    ///
    /// # Errors
    ///
    /// If the user does not have it.
    pub async fn title(&self, user_id: UserId, source: &ColumnSource) -> Result<String, ApiError> {
        match source {
            ColumnSource::Articles => Ok("Saved articles".into()),
            ColumnSource::Payload {
                conversation_id,
                payload_id,
            } => {
                let payload = self.payload(user_id, *conversation_id, payload_id).await?;
                Ok(title_of(&payload))
            }
            ColumnSource::File(id) => self.data.single_table_name(user_id, *id).await,
        }
    }

    /// Checks that a user has the rows of a source.
    ///
    /// # Errors
    ///
    /// If they were deleted, or storage fails.
    pub async fn require(&self, user_id: UserId, source: &ColumnSource) -> Result<(), ApiError> {
        match source {
            ColumnSource::Articles => Ok(()),
            ColumnSource::Payload {
                conversation_id,
                payload_id,
            } => self
                .payload(user_id, *conversation_id, payload_id)
                .await
                .map(drop),
            ColumnSource::File(id) => match self.storage.file(user_id, *id).await? {
                Some(_) => Ok(()),
                None => Err(not_found()),
            },
        }
    }

    /// Returns the rows of a source of a user.
    ///
    /// # Errors
    ///
    /// If storage fails, or the user does not have the source any more.
    pub async fn rows(&self, user_id: UserId, source: &ColumnSource) -> Result<SourceRows, ApiError> {
        let mut rows = match source {
            ColumnSource::Articles => self.articles(user_id).await?,
            // A single text may be as long as all of a row.
            table => to_source_rows(self.read_table(user_id, table, self.max_bytes).await?),
        };
        for row in &mut rows.rows {
            shorten(&mut row.paragraphs, self.max_bytes);
        }
        Ok(rows)
    }

    /// Returns the rows of a table as the grid shows them.
    ///
    /// # Errors
    ///
    /// If storage fails, or the user does not have the table.
    pub async fn table(&self, user_id: UserId, source: &ColumnSource) -> Result<SourceTable, ApiError> {
        let mut table = self.read_table(user_id, source, MAX_SHOWN_CHARS * 4).await?;
        let (mut bytes, mut kept) = (0, 0);
        for row in &mut table.rows {
            for cell in row.iter_mut() {
                *cell = single_line(cell, MAX_SHOWN_CHARS);
            }
            bytes += row.iter().map(String::len).sum::<usize>();
            if bytes > MAX_SHOWN_BYTES {
                break;
            }
            kept += 1;
        }
        table.left_out += table.rows.len() - kept;
        table.rows.truncate(kept);
        Ok(table)
    }

    async fn read_table(
        &self,
        user_id: UserId,
        source: &ColumnSource,
        max_cell_bytes: usize,
    ) -> Result<SourceTable, ApiError> {
        match source {
            ColumnSource::Articles => Err(ApiError::new(
                ErrorCode::BadRequest,
                "Saved articles are no table. The page Literature has them.",
            )),
            ColumnSource::Payload {
                conversation_id,
                payload_id,
            } => {
                let payload = self.payload(user_id, *conversation_id, payload_id).await?;
                self.payload_table(user_id, payload, max_cell_bytes).await
            }
            ColumnSource::File(id) => {
                let limits = (self.max_rows, max_cell_bytes);
                self.data.single_table(user_id, *id, limits).await
            }
        }
    }

    /// A payload that is a table.
    async fn payload(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        payload_id: &str,
    ) -> Result<Payload, ApiError> {
        if self.storage.is_trashed(user_id, conversation_id).await? {
            return Err(not_found());
        }
        let found = self.storage.payload(user_id, conversation_id, payload_id).await?;
        found
            .filter(|payload| payload.kind == "table")
            .ok_or_else(not_found)
    }

    async fn payload_table(
        &self,
        user_id: UserId,
        payload: Payload,
        max_cell_bytes: usize,
    ) -> Result<SourceTable, ApiError> {
        let (stored, title) = (StoredTable::from_payload(&payload), title_of(&payload));
        let views = self.views.clone();
        // A large payload takes a while.
        let view = tokio::task::spawn_blocking(move || views.view(&payload).body).await;
        let Ok(PanelBody::Table(view)) = view else {
            return Err(not_found());
        };
        let mut table = SourceTable {
            title,
            columns: view.columns,
            rows: view.rows,
            left_out: 0,
        };
        let Some(stored) = stored else {
            table.left_out = table.rows.len().saturating_sub(self.max_rows);
            table.rows.truncate(self.max_rows);
            return Ok(table);
        };
        let count = usize::try_from(view.stored_rows.unwrap_or_default()).unwrap_or(usize::MAX);
        // Without their file, the first rows are in the payload.
        if let Some(rows) = self.data.load_rows(user_id, &stored).await? {
            table.rows.clear();
            while table.rows.len() < self.max_rows {
                let chunk = rows.chunk(table.rows.len() as u64).await.map_err(|error| {
                    tracing::warn!(%error, "the rows of a result can't be read");
                    ApiError::new(
                        ErrorCode::Unavailable,
                        "The rows of this table can’t be read just now. Try again later.",
                    )
                })?;
                if chunk.is_empty() {
                    break;
                }
                let room = self.max_rows - table.rows.len();
                for row in chunk.iter().take(room) {
                    let cells = row.iter().map(|cell| {
                        let mut text = cell.to_text().unwrap_or_else(|| NULL_TEXT.into());
                        cut(&mut text, max_cell_bytes);
                        text
                    });
                    table.rows.push(cells.collect());
                }
            }
        }
        table.left_out = count.saturating_sub(table.rows.len());
        Ok(table)
    }

    /// The title and the stored abstract of each saved article.
    async fn articles(&self, user_id: UserId) -> Result<SourceRows, StorageError> {
        let saved = self.storage.library(user_id).await?.articles;
        let left_out = saved.len().saturating_sub(self.max_rows);
        let mut rows = Vec::new();
        for saved in saved.into_iter().take(self.max_rows) {
            let pmid = saved.article.pmid;
            // One that was removed meanwhile is no row.
            let Some((saved, abstract_text)) = self.storage.saved_article(user_id, &pmid).await? else {
                continue;
            };
            let abstract_text = abstract_text.unwrap_or_default();
            let has_no_text = abstract_text.iter().all(|paragraph| paragraph.trim().is_empty());
            let mut paragraphs = vec![saved.article.title];
            paragraphs.extend(abstract_text);
            rows.push(SourceRow {
                key: pmid,
                paragraphs,
                has_no_text,
            });
        }
        Ok(SourceRows { rows, left_out })
    }
}

/// The name of a table for people.
fn title_of(payload: &Payload) -> String {
    const MAX_CHARS: usize = 100;
    let data: Value = serde_json::from_str(payload.data.as_str()).unwrap_or_default();
    let title = data["title"].as_str().unwrap_or_default().trim();
    match (title, payload.summary.trim()) {
        ("", "") => "Table".into(),
        ("", summary) => single_line(summary, MAX_CHARS),
        (title, _) => single_line(title, MAX_CHARS),
    }
}

/// Returns the text of each row: a line for each of its cells that is not empty. A CSV file's empty cells are null.
fn to_source_rows(table: SourceTable) -> SourceRows {
    let columns = &table.columns;
    let rows = table.rows.into_iter().enumerate().map(|(index, cells)| {
        let cells = cells.into_iter().zip(columns).enumerate();
        let cells = cells.filter(|(_, (cell, _))| !cell.trim().is_empty() && cell != NULL_TEXT);
        let paragraphs: Vec<String> = cells
            .map(|(place, (cell, column))| match column.name.trim() {
                "" => format!("Column {}: {cell}", place + 1),
                name => format!("{name}: {cell}"),
            })
            .collect();
        SourceRow {
            key: (index + 1).to_string(),
            has_no_text: paragraphs.is_empty(),
            paragraphs,
        }
    });
    SourceRows {
        rows: rows.collect(),
        left_out: table.left_out,
    }
}

/// Cuts a text to a number of bytes.
pub(crate) fn cut(text: &mut String, max_bytes: usize) {
    text.truncate(text.floor_char_boundary(max_bytes.min(text.len())));
}

/// Shortens a text to a number of bytes, from its end.
fn shorten(paragraphs: &mut Vec<String>, max_bytes: usize) {
    let mut left = max_bytes;
    for paragraph in paragraphs.iter_mut() {
        let end = paragraph.floor_char_boundary(left.min(paragraph.len()));
        // Nothing follows what is cut.
        left = if end < paragraph.len() { 0 } else { left - end };
        paragraph.truncate(end);
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::panel::TableColumn;

    #[test]
    fn long_texts_lose_their_end() {
        let mut text = vec!["Salt".to_owned(), String::new(), "äö".into(), "night".into()];
        shorten(&mut text, 7);
        assert_eq!(text, ["Salt", "ä"]);
    }

    #[test]
    fn rows_are_lines_with_their_headings() {
        let column = |name: &str| TableColumn {
            name: name.into(),
            numeric: false,
        };
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = SourceTable {
            title: "Ships".into(),
            columns: vec![column("Name"), column(""), column("Note")],
            rows: vec![row(["Vasa", "1628", ""]), row(["", " ", ""])],
            left_out: 3,
        };
        let expected = |key: &str, lines: &[&str]| SourceRow {
            key: key.into(),
            paragraphs: lines.iter().copied().map(str::to_owned).collect(),
            has_no_text: lines.is_empty(),
        };
        let rows = vec![
            expected("1", &["Name: Vasa", "Column 2: 1628"]),
            expected("2", &[]),
        ];
        assert_eq!(to_source_rows(table), SourceRows { rows, left_out: 3 });
    }
}
