//! The rows that columns can have: what a model is asked about each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use parlor_protocol::{ApiError, UserId, columns::ColumnSource};
use parlor_storage::{Storage, StorageError};

/// A row, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRow {
    /// The key of the row, unique in its source and the same later.
    pub key: String,
    /// The text. Its first paragraph names the row.
    pub paragraphs: Vec<String>,
}

/// The rows of a source, up to a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRows {
    pub rows: Vec<SourceRow>,
    /// The number of rows beyond the limit.
    pub left_out: usize,
}

/// The rows of all sources of all users.
#[derive(Clone)]
pub struct RowSources {
    pub storage: Arc<dyn Storage>,
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
    pub async fn title(&self, _user_id: UserId, source: &ColumnSource) -> Result<String, ApiError> {
        match source {
            ColumnSource::Articles => Ok("Saved articles".into()),
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
        };
        for row in &mut rows.rows {
            shorten(&mut row.paragraphs, self.max_bytes);
        }
        Ok(rows)
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
            let mut paragraphs = vec![saved.article.title];
            paragraphs.extend(abstract_text.unwrap_or_default());
            rows.push(SourceRow {
                key: pmid,
                paragraphs,
            });
        }
        Ok(SourceRows { rows, left_out })
    }
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

    #[test]
    fn long_texts_lose_their_end() {
        let mut text = vec!["Salt".to_owned(), String::new(), "äö".into(), "night".into()];
        shorten(&mut text, 7);
        assert_eq!(text, ["Salt", "ä"]);
    }
}
