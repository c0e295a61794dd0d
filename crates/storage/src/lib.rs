//! The storage of all user data: each user's event log, and the conversations, messages and runs that its
//! events produce.
//!
//! The rest of the server sees only the trait. The journal writes all changes ([`Storage::commit`]); besides, trimming
//! deletes old log entries. Any part may read; each read has its own transaction. This module publishes nothing and
//! decides nothing: the reducer defines the meaning of an event.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use parlor_protocol::{
    ApiToken, AttachmentId, ConversationId, Event, IntentId, Memory, Message, MessageId, OlderMessages,
    Parameters, Payload, PayloadVerdict, Position, ResearchStreamId, RunStatus, Timestamp, TokenTotals,
    Transcript, UserId,
    literature::{Library, ResearchStream, SavedArticle},
    search::SearchHits,
};

pub use self::{
    api_error::not_found,
    change::{
        ApprovalDecision, Change, ConversationChange, FileChange, IntentChange, LibraryUpdate,
        PageContextSnapshot, PersonalChange, QueueLimits, RecordedModelCall, RunChange, RunOutput, RunStart,
    },
    conversation_lists::{
        ConversationListStorage, ExpiredConversation, Expiry, ExpiryReason, TrashedConversation,
    },
    error::{StorageError, StorageErrorKind},
    outcome::{ChangeRejection, Outcome},
    record::{
        AttachedFile, AttachmentRow, CompletedIntent, FileKinds, FileLocation, StoredConversation,
        StoredFile, TokenHash,
    },
    run_context::{HistorySummary, RunContext, RunOptions},
    search::SearchRequest,
    sql::SqlStorage,
};

pub mod accounts;
mod api_error;
pub mod audit;
mod change;
mod column_value;
pub mod columns;
pub mod contents;
mod conversation_lists;
pub mod damage;
mod data_folder;
pub mod endpoints;
mod error;
pub mod file_list;
pub mod jobs;
pub mod limits;
pub mod nodes;
pub mod operations;
mod outcome;
pub mod postgres;
pub mod projects;
mod record;
mod run_context;
pub mod schedules;
pub mod search;
pub mod shares;
mod sql;
pub mod sqlite;
pub mod transfer;
pub mod usage;

#[cfg(test)]
mod conformance;

/// The key of a run with its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
}

/// A logged event with its JSON as sent over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    pub user_id: UserId,
    pub event: Event,
    pub json: String,
}

/// The result of changes that were committed together.
#[derive(Debug)]
pub struct CommitResult {
    /// One outcome per change, in their order.
    pub outcomes: Vec<Result<Outcome, ChangeRejection>>,
    /// All events that the changes added to the logs, in order.
    pub events: Vec<Arc<LoggedEvent>>,
}

/// A part of a user's log.
#[derive(Debug, PartialEq, Eq)]
pub enum LogPage {
    /// The next events after the requested position; empty at the log's end.
    Events {
        events: Vec<LoggedEvent>,
        /// True if the log has more events after these.
        more: bool,
    },
    /// The position lies before or after the log's range: load snapshots again.
    Reset,
}

/// A stored run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub key: RunKey,
    pub status: RunStatus,
    /// The first event since the run was started or last continued.
    pub first_position: Position,
    /// The last event, once the run has ended.
    pub last_position: Option<Position>,
}

/// The key of a message with its owner.
pub type MessageKey = (UserId, ConversationId, MessageId);

/// Some of the queues of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    All,
    OfUser(UserId),
    OfConversation(UserId, ConversationId),
}

/// A message in a queue, with the run that will answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyMessage {
    pub run: RunKey,
    pub user_message_id: MessageId,
}

/// The size of a page of the log. It bounds what a slow reader holds in memory.
pub const LOG_PAGE_BYTES: usize = 64 << 10;

/// The size of a page of messages: a page ends when either limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize {
    pub messages: usize,
    /// The stored size in bytes.
    pub bytes: usize,
}

impl PageSize {
    /// No limit: the branch back to its first message.
    pub const UNLIMITED: Self = Self {
        messages: usize::MAX,
        bytes: usize::MAX,
    };
}

/// The database operations of the server.
#[async_trait]
pub trait Storage:
    accounts::AccountStorage
    + columns::ColumnStorage
    + ConversationListStorage
    + contents::ContentStorage
    + endpoints::EndpointStorage
    + file_list::FileListStorage
    + projects::ProjectStorage
    + schedules::ScheduleStorage
    + jobs::JobStorage
    + limits::LimitStorage
    + nodes::NodeStorage
    + nodes::SetupStorage
    + operations::OperationsStorage
    + shares::ShareStorage
    + Send
    + Sync
    + 'static
{
    /// Applies all changes in one transaction, each in its own savepoint: a rejected change does not affect
    /// the others. Events get the next positions of their users' logs.
    ///
    /// # Errors
    ///
    /// If the transaction could not be committed; then nothing of it is stored.
    async fn commit(&self, at: Timestamp, changes: &[Change]) -> Result<CommitResult, StorageError>;

    /// Returns the position of the last event in a user's log.
    async fn last_position(&self, user_id: UserId) -> Result<Position, StorageError>;

    /// Returns the events after a position, at most `limit` and about [`LOG_PAGE_BYTES`]; only those of
    /// `run`, if given.
    async fn events_after(
        &self,
        user_id: UserId,
        after: Position,
        run: Option<MessageId>,
        limit: usize,
    ) -> Result<LogPage, StorageError>;

    /// Returns one of a user's conversations, without its messages.
    async fn conversation(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<StoredConversation>, StorageError>;

    /// Returns a conversation with the newest messages of the shown branch, including the output of its
    /// active run so far. The messages go back at least to `reach`, if given.
    async fn transcript(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        page: PageSize,
        reach: Option<MessageId>,
    ) -> Result<Option<Transcript>, StorageError>;

    /// Returns the messages before `before` on its branch.
    async fn older_messages(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        before: MessageId,
        page: PageSize,
    ) -> Result<Option<OlderMessages>, StorageError>;

    /// Returns the tokens and the cost of all answers of a conversation, also of those on branches that are not
    /// shown. A running answer counts as far as it is stored.
    async fn token_totals(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<TokenTotals, StorageError>;

    /// Returns a payload with its content.
    async fn payload(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        payload_id: &str,
    ) -> Result<Option<Payload>, StorageError>;

    /// Returns the requested payloads in their order, as many as fit into `bytes` together. The first
    /// existing one is always returned.
    async fn payloads(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        ids: &[&str],
        bytes: usize,
    ) -> Result<Vec<Payload>, StorageError>;

    /// Returns the user's verdicts on payloads, in the order in which they were given.
    async fn payload_verdicts(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<PayloadVerdict>, StorageError>;

    /// Returns a file of a user.
    async fn file(&self, user_id: UserId, id: AttachmentId) -> Result<Option<StoredFile>, StorageError>;

    /// Returns the newest files of some kinds in messages of a user, at most `limit`, newest first. Those of deleted messages,
    /// and of deleted or temporary conversations, are left out. Of several with the same content, the newest is returned.
    async fn attached_files(
        &self,
        user_id: UserId,
        kinds: FileKinds<'_>,
        limit: usize,
    ) -> Result<Vec<AttachedFile>, StorageError>;

    /// Returns the size of the contents of all files of a user, sent or not. Files that share one count once.
    async fn stored_bytes(&self, user_id: UserId) -> Result<u64, StorageError>;

    /// Returns the locations of the contents of all files.
    ///
    /// # Errors
    ///
    /// If reading fails or one of the rows is damaged, so that no content is taken for one without a file.
    async fn file_locations(&self) -> Result<Vec<FileLocation>, StorageError>;

    /// Returns some locations of contents whose files were deleted; all of them in the end, if the returned ones are
    /// forgotten ([`FileChange::ForgetDeletedFiles`]).
    async fn deleted_files(&self) -> Result<Vec<FileLocation>, StorageError>;

    /// Returns a counter that changes after each commit that deletes data.
    async fn watch_deletions(&self) -> watch::Receiver<u64>;

    /// Returns a file of a tool whose content is still in the database.
    async fn next_attachment_row(&self) -> Result<Option<AttachmentRow>, StorageError>;

    /// Returns all data that a run starts with, or `None` if the run no longer exists.
    async fn run_context(&self, run: RunKey) -> Result<Option<RunContext>, StorageError>;

    /// Returns the model parameters of a conversation, or `None` if there is no such conversation.
    async fn parameters(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<Parameters>, StorageError>;

    /// Returns the result of a user's intent, if it was completed before.
    async fn completed_intent(
        &self,
        user_id: UserId,
        intent_id: IntentId,
    ) -> Result<Option<CompletedIntent>, StorageError>;

    /// Returns a message and the conversation that it belongs to.
    async fn message(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Option<(ConversationId, Message)>, StorageError>;

    /// Returns the recorded model calls of a user's run, oldest first. Empty if none are stored (any more).
    async fn model_calls(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Vec<RecordedModelCall>, StorageError>;

    /// Returns the model of a user's conversation: the last one that was chosen or that answered.
    async fn conversation_model(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<String>, StorageError>;

    /// Returns the memories of a user that are in no project, newest first.
    async fn memories(&self, user_id: UserId) -> Result<Vec<Memory>, StorageError>;

    /// Returns the snapshot of the page that the user had open when they wrote a message.
    async fn context_snapshot(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Option<PageContextSnapshot>, StorageError>;

    /// Returns a user's saved articles and research streams.
    async fn library(&self, user_id: UserId) -> Result<Library, StorageError>;

    /// Returns a saved article of a user, with its abstract if known.
    async fn saved_article(
        &self,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Option<(SavedArticle, Option<Vec<String>>)>, StorageError>;

    /// Returns those of the given articles that the user has saved, in any order.
    async fn saved_articles(
        &self,
        user_id: UserId,
        pmids: &[String],
    ) -> Result<Vec<SavedArticle>, StorageError>;

    /// Returns a research stream of a user.
    async fn research_stream(
        &self,
        user_id: UserId,
        stream_id: ResearchStreamId,
    ) -> Result<Option<ResearchStream>, StorageError>;

    /// Returns a user's instructions for the assistant in every conversation. Empty if there are none.
    async fn instructions(&self, user_id: UserId) -> Result<String, StorageError>;

    /// Returns true if the assistant may search a user's earlier conversations.
    async fn may_search_chats(&self, user_id: UserId) -> Result<bool, StorageError>;

    /// Returns the newest version of Parlor whose news the user has closed, or with which their first data were stored. `None` if
    /// nothing is stored of the user.
    async fn seen_version(&self, user_id: UserId) -> Result<Option<String>, StorageError>;

    /// Returns the API tokens of a user, newest first.
    async fn api_tokens(&self, user_id: UserId) -> Result<Vec<ApiToken>, StorageError>;

    /// Returns the API token with this hash and its user. The token may have expired.
    async fn api_token(&self, hash: &TokenHash) -> Result<Option<(UserId, ApiToken)>, StorageError>;

    /// Returns a run of a user.
    async fn run(&self, user_id: UserId, message_id: MessageId) -> Result<Option<StoredRun>, StorageError>;

    /// Returns the first message of each of these queues that is not held and waits for no run. Those of disabled accounts
    /// wait.
    async fn ready_messages(&self, queues: Queues) -> Result<Vec<ReadyMessage>, StorageError>;

    /// Returns the hidden messages of all users, with the times at which they were hidden.
    async fn hidden_messages(&self) -> Result<Vec<(MessageKey, Timestamp)>, StorageError>;

    /// Returns all runs with the status `running`.
    async fn running_runs(&self) -> Result<Vec<StoredRun>, StorageError>;

    /// Searches everything that a user has.
    async fn search(&self, user_id: UserId, request: &SearchRequest) -> Result<SearchHits, StorageError>;

    /// Makes some of the data searchable that is not yet, as after an update. Returns false if there was none. The texts of
    /// files are not among it.
    async fn index_old_data(&self) -> Result<bool, StorageError>;

    /// Returns a file in a message whose text is not searchable yet, with its user.
    async fn next_unindexed_file(&self) -> Result<Option<(UserId, StoredFile)>, StorageError>;

    /// Returns a receiver that is notified of every commit.
    async fn watch_commits(&self) -> watch::Receiver<()>;

    /// Deletes log entries and intents made before `before`, and all but the newest `keep` log entries. Keeps
    /// everything from the first event of the oldest run that has not ended. Returns the number of removed
    /// entries.
    async fn trim_log(&self, before: Timestamp, keep: u64) -> Result<u64, StorageError>;

    /// Checks the whole database in the background and returns a description of each damage found. Empty if
    /// it is stopped before it ends, and for a database that this process has made.
    async fn find_damage(&self, stop: CancellationToken) -> Result<Vec<String>, StorageError>;

    /// Brings the files into a form that is easy to copy, and releases them. Later reads and changes fail.
    async fn close(&self) -> Result<(), StorageError>;
}
