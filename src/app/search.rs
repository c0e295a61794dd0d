//! Full-text search for a user, and the indexing of what could not be indexed with its commit.

use std::time::Duration;

use super::{AppState, Caller};
use parlor_protocol::{
    ApiError, ConversationId,
    search::{SearchHits, SearchOrder},
};
use parlor_storage::{
    Change, FileChange, SearchRequest, StorageError, StoredFile,
    search::{MAX_QUERY_BYTES, SearchQuery, passages},
};

/// The number of hits unless a request names one, and the most.
const HITS: usize = 20;
const MAX_HITS: usize = 100;

/// The number of passages of a file that are indexed in one transaction.
const PASSAGES_AT_ONCE: usize = 8;

/// The delay after which new files are looked for once something was committed, and after which a failure is retried.
const GATHERING: Duration = Duration::from_secs(1);
const RETRY_DELAY: Duration = Duration::from_secs(60);

/// What a user searches, as the page and the public API name it.
#[derive(Debug, Default)]
pub struct Searched {
    pub query: String,
    pub conversation_id: Option<ConversationId>,
    pub order: SearchOrder,
    pub cursor: Option<String>,
    pub limit: Option<usize>,
    /// True while it is typed: each word may be the beginning of one.
    pub is_typed: bool,
}

/// Searches everything that the user has.
pub async fn search(caller: &Caller, searched: Searched) -> Result<SearchHits, ApiError> {
    let query = searched
        .query
        .get(..searched.query.floor_char_boundary(MAX_QUERY_BYTES));
    let request = SearchRequest {
        query: match searched.is_typed {
            true => SearchQuery::parse_beginnings(query.unwrap_or_default()),
            false => SearchQuery::parse(query.unwrap_or_default()),
        },
        order: searched.order,
        limit: searched.limit.unwrap_or(HITS).min(MAX_HITS),
        cursor: searched.cursor,
        conversation_id: searched.conversation_id,
        ..SearchRequest::default()
    };
    Ok(caller.app.storage.search(caller.user_id, &request).await?)
}

/// Runs until the server stops: indexes what an earlier version has left, and after each commit the texts of new files.
pub async fn index_in_background(app: AppState) {
    let mut commits = app.storage.watch_commits().await;
    loop {
        commits.mark_unchanged();
        match index_all(&app).await {
            Ok(()) => {
                if commits.changed().await.is_err() {
                    return;
                }
                tokio::time::sleep(GATHERING).await;
            }
            Err(error) => {
                tracing::error!(%error, "some data can't be found by the search yet; indexing it is retried");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

async fn index_all(app: &AppState) -> Result<(), StorageError> {
    let mut batches = 0_usize;
    while app.storage.index_old_data().await? {
        if batches == 0 {
            tracing::info!("making older data searchable");
        }
        batches += 1;
    }
    if batches > 0 {
        tracing::info!("all older data is searchable");
    }
    while let Some((_, file)) = app.storage.next_unindexed_file().await? {
        if !index_text(app, &file).await {
            return Ok(());
        }
    }
    Ok(())
}

/// Indexes the text of a file. Returns false if the server stops.
async fn index_text(app: &AppState, file: &StoredFile) -> bool {
    let id = file.attachment.id;
    let text = match app.files.read_text(file, passages::MAX_FILE_BYTES).await {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => {
            tracing::warn!(%error, %id, "the text of a file can't be read and is not found by the search");
            String::new()
        }
    };
    // The first line has the file's name, which is indexed already.
    let text = text.split_once('\n').map_or("", |(_, text)| text);
    let ranges = passages::ranges(text, passages::MAX_FILE_BYTES);
    let mut parts = ranges.chunks(PASSAGES_AT_ONCE).peekable();
    let mut first = 1;
    loop {
        let part = parts.next().unwrap_or_default();
        let is_last = parts.peek().is_none();
        let texts = part
            .iter()
            .map(|range| text.get(range.clone()).unwrap_or_default().to_owned());
        let change = FileChange::IndexText {
            id,
            first,
            texts: texts.collect(),
            is_last,
        };
        if app.journal.submit(Change::File(change)).await.is_err() {
            return false;
        }
        first += part.len();
        if is_last {
            return true;
        }
    }
}
