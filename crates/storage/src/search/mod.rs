//! Full-text search: what every database has in common.
//!
//! [`Words`] cuts texts into words, the same for the index and for what is searched; [`SearchQuery`] is a query; [`passages`]
//! says what of a message is indexed; [`snippet()`] shows what was found. The indexes are in `sql/search`.

pub mod fold;
pub mod passages;
mod query;
mod rank;
mod snippet;
mod words;

#[cfg(test)]
mod tests;

pub use self::{
    query::{Phrase, SearchQuery, Term},
    rank::{Candidate, rank},
    snippet::{SNIPPET_BYTES, markdown_snippet, snippet},
    words::{Word, Words},
};
use parlor_protocol::{ConversationId, search::SearchOrder};

/// What a user searches.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub query: SearchQuery,
    /// True if one of the terms is enough.
    pub any_term: bool,
    pub order: SearchOrder,
    /// The maximum number of hits.
    pub limit: usize,
    /// The cursor from the last hits.
    pub cursor: Option<String>,
    /// Only this conversation.
    pub conversation_id: Option<ConversationId>,
    /// Not this conversation.
    pub except: Option<ConversationId>,
    /// True for what is in conversations, and saved articles: no files of projects.
    pub in_conversations: bool,
    /// The length of the snippets.
    pub snippet_bytes: usize,
    /// True to leave the marks of Markdown in the snippets, as for a model.
    pub keeps_markup: bool,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            query: SearchQuery::default(),
            any_term: false,
            order: SearchOrder::default(),
            limit: 20,
            cursor: None,
            conversation_id: None,
            except: None,
            in_conversations: false,
            snippet_bytes: SNIPPET_BYTES,
            keeps_markup: false,
        }
    }
}

/// The longest query in bytes. The rest of a longer one is ignored.
pub const MAX_QUERY_BYTES: usize = 2000;

/// The most hits that are ranked: the newest.
pub const MAX_RANKED: usize = 1000;

/// The most passages of a project's files that are ranked: the best by the index alone. Each may have 8 KB of words.
pub const MAX_RANKED_PASSAGES: usize = 200;
