//! The changes of what belongs to a user and to no conversation.

use crate::TokenHash;
use parlor_protocol::{
    ApiToken, Memory, MemoryId, ProjectId, ResearchStreamId, TokenId,
    literature::{ResearchStream, SavedArticle},
};

/// A change of a user's library.
#[derive(Clone, Debug)]
pub enum LibraryUpdate {
    /// Saves an article, if fewer than `limit` are saved. A saved article gets the note only if it has none:
    /// the user's own note is never overwritten.
    SaveArticle {
        article: SavedArticle,
        /// The abstract by paragraphs; `None` if it is not known.
        abstract_text: Option<Vec<String>>,
        limit: usize,
    },
    /// Stores the abstract of a saved article, if it was not known.
    StoreAbstract {
        pmid: String,
        /// The abstract by paragraphs.
        abstract_text: Vec<String>,
    },
    /// Sets the note of a saved article, if its current note is one of `replaces`.
    SetArticleNote {
        pmid: String,
        note: String,
        replaces: Vec<String>,
    },
    RemoveArticle {
        pmid: String,
    },
    /// Saves a research stream, if there are fewer than `limit`, or replaces a saved one.
    SaveResearchStream {
        stream: ResearchStream,
        limit: usize,
    },
    DeleteResearchStream {
        stream_id: ResearchStreamId,
    },
}

/// A change of what a user has set for all conversations: memories, instructions and API tokens.
#[derive(Clone, Debug)]
pub enum PersonalChange {
    /// Adds a memory of a user, or of one of the user's projects, if there are fewer than `limit` there. A duplicate is stored once.
    AddMemory {
        memory: Memory,
        project_id: Option<ProjectId>,
        limit: usize,
    },
    /// Replaces the text of a memory.
    EditMemory { memory_id: MemoryId, text: String },
    /// Deletes one memory.
    DeleteMemory { memory_id: MemoryId },
    /// Deletes all memories of a user that are in no project, or all of a project.
    DeleteAllMemories { project_id: Option<ProjectId> },
    /// Sets a user's instructions for the assistant in every conversation.
    SetInstructions { text: String },
    /// Sets the days after which a user's conversations are erased; 0 for the setting of the server.
    SetRetention { days: u32 },
    /// Lets the assistant search a user's earlier conversations, or not any more.
    SetChatSearch { is_on: bool },
    /// Records that a user has closed the news of a version of Parlor, and of all before it.
    SetSeenVersion { version: String },
    /// Adds an API token, if there are fewer than `limit`.
    AddToken {
        token: ApiToken,
        hash: TokenHash,
        limit: usize,
    },
    /// Revokes an API token.
    RevokeToken { token_id: TokenId },
    /// Records the time at which an API token was used.
    RecordTokenUse { token_id: TokenId },
}
