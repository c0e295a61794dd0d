//! Where everything is kept: the log of each user, and the conversations, messages and runs that its events
//! have made.
//!
//! The trait is what the rest of the server knows. Only the journal writes ([`Storage::commit`]); everybody
//! may read, each read in a transaction of its own. Nothing here publishes or decides; what an event means
//! is the reducer's to say.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::protocol::{
    ApiToken, AttachmentId, ConversationId, ConversationList, Event, IntentId, Memory, Message, MessageId,
    OlderMessages, Parameters, Payload, PayloadVerdict, Position, RunStatus, StreamId, Timestamp, Transcript,
    UserId,
    conversation_list::ListCursor,
    literature::{Library, ResearchStream, SavedArticle},
};

pub use self::{
    change::{
        ApprovalDecision, Change, ChangeRejection, CompletedIntent, Outcome, PageContextSnapshot,
        RecordedCall, RunStart, StoredAttachment, StoredConversation, TokenHash,
    },
    error::{StorageError, StorageErrorKind},
    run_context::{HistorySummary, RunContext, RunOptions},
};

mod change;
pub mod damage;
mod error;
mod run_context;
pub mod sqlite;

#[cfg(test)]
mod conformance;

/// A run, with all that is needed to say whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
}

/// An event that is in the log, with its JSON as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    pub user_id: UserId,
    pub event: Event,
    pub json: String,
}

/// What became of several changes that were committed together.
#[derive(Debug)]
pub struct CommitResult {
    /// One for each change, in their order.
    pub outcomes: Vec<Result<Outcome, ChangeRejection>>,
    /// All events that the changes added to the logs, in order.
    pub events: Vec<Arc<LoggedEvent>>,
}

/// A part of a user's log.
#[derive(Debug, PartialEq, Eq)]
pub enum LogPage {
    /// The next events after the position that was asked for; none at the log's end.
    Events {
        events: Vec<LoggedEvent>,
        /// Whether there are more after these.
        more: bool,
    },
    /// The log does not reach back (or forth) to the position: load snapshots again.
    Reset,
}

/// A run as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub key: RunKey,
    pub status: RunStatus,
    /// Its first event since it was started or last continued.
    pub first_position: Position,
    /// Its last event, once it has ended.
    pub last_position: Option<Position>,
}

/// How much of a log is read at a time: what a reader that is slow holds in memory.
pub const LOG_PAGE_BYTES: usize = 64 << 10;

/// How much of a conversation is read at a time: messages until there are so many, or until they are so long together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize {
    pub messages: usize,
    /// As they are stored.
    pub bytes: usize,
}

impl PageSize {
    /// A branch up to its beginning.
    pub const UNLIMITED: Self = Self {
        messages: usize::MAX,
        bytes: usize::MAX,
    };
}

/// What the server needs of a database.
#[async_trait]
pub trait Storage: Send + Sync + 'static {
    /// Does all changes in one transaction, each in a savepoint of its own: one that is refused leaves the
    /// others alone. Events get the next positions of their users' logs.
    ///
    /// # Errors
    ///
    /// If the transaction could not be committed; then nothing of it is stored.
    async fn commit(&self, at: Timestamp, changes: &[Change]) -> Result<CommitResult, StorageError>;

    /// The position of the last event in a user's log.
    async fn last_position(&self, user_id: UserId) -> Result<Position, StorageError>;

    /// The events after a position, at most `limit` and about [`PAGE_BYTES`]; those of one run only, if there is one given.
    async fn events_after(
        &self,
        user_id: UserId,
        after: Position,
        run: Option<MessageId>,
        limit: usize,
    ) -> Result<LogPage, StorageError>;

    /// A page of a user's conversations, newest activity first.
    async fn conversations(
        &self,
        user_id: UserId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError>;

    /// One of a user's conversations, without its messages.
    async fn conversation(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<StoredConversation>, StorageError>;

    /// A conversation with the newest messages of the branch that is shown, whatever its run has produced so far included.
    /// They go back at least to `reach`, if that is given.
    async fn transcript(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        page: PageSize,
        reach: Option<MessageId>,
    ) -> Result<Option<Transcript>, StorageError>;

    /// The messages that lead up to `before`.
    async fn older_messages(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        before: MessageId,
        page: PageSize,
    ) -> Result<Option<OlderMessages>, StorageError>;

    /// Something that was made for the panel, with what is in it.
    async fn payload(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        payload_id: &str,
    ) -> Result<Option<Payload>, StorageError>;

    /// Of these, in their order, as many as have no more than so many bytes together; the first that is there always.
    async fn payloads(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        ids: &[&str],
        bytes: usize,
    ) -> Result<Vec<Payload>, StorageError>;

    /// What the person has accepted and rejected of what was made for the panel, in their order.
    async fn payload_verdicts(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<PayloadVerdict>, StorageError>;

    /// A file that a tool has given, with what is in it.
    async fn attachment(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Option<StoredAttachment>, StorageError>;

    /// All that a run begins with; nothing if there is no such run any more.
    async fn run_context(&self, run: RunKey) -> Result<Option<RunContext>, StorageError>;

    /// How a conversation's model is asked; `None` if there is no such conversation.
    async fn parameters(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<Parameters>, StorageError>;

    /// What became of an intent of a user's, if it was done before.
    async fn completed_intent(
        &self,
        user_id: UserId,
        intent_id: IntentId,
    ) -> Result<Option<CompletedIntent>, StorageError>;

    /// One message and the conversation that it is in.
    async fn message(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Option<(ConversationId, Message)>, StorageError>;

    /// How a user's run has called its model, oldest call first; none if that is not known (any more).
    async fn model_calls(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Vec<RecordedCall>, StorageError>;

    /// The model that a conversation of a user was last answered by.
    async fn conversation_model(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<String>, StorageError>;

    /// All that is remembered of a user, newest first.
    async fn memories(&self, user_id: UserId) -> Result<Vec<Memory>, StorageError>;

    /// What a person was looking at when they wrote a message.
    async fn context_snapshot(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Option<PageContextSnapshot>, StorageError>;

    /// The articles and streams of research that a user keeps.
    async fn library(&self, user_id: UserId) -> Result<Library, StorageError>;

    /// An article that a user keeps, with its abstract if that is known.
    async fn saved_article(
        &self,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Option<(SavedArticle, Option<Vec<String>>)>, StorageError>;

    /// Those of these articles that a user keeps, in any order.
    async fn saved_articles(
        &self,
        user_id: UserId,
        pmids: &[String],
    ) -> Result<Vec<SavedArticle>, StorageError>;

    /// A user's stream of research.
    async fn research_stream(
        &self,
        user_id: UserId,
        stream_id: StreamId,
    ) -> Result<Option<ResearchStream>, StorageError>;

    /// What a user wants the assistant to be told in every conversation. Empty if that is nothing.
    async fn instructions(&self, user_id: UserId) -> Result<String, StorageError>;

    /// The API tokens of a user, newest first.
    async fn api_tokens(&self, user_id: UserId) -> Result<Vec<ApiToken>, StorageError>;

    /// The API token with this hash, and whose it is. It may have expired.
    async fn api_token(&self, hash: &TokenHash) -> Result<Option<(UserId, ApiToken)>, StorageError>;

    /// A run of a user.
    async fn run(&self, user_id: UserId, message_id: MessageId) -> Result<Option<StoredRun>, StorageError>;

    /// All runs with the status `running`.
    async fn running_runs(&self) -> Result<Vec<StoredRun>, StorageError>;

    /// Forgets log entries and intents made before `before`, and all but the newest `keep` log entries, but
    /// nothing from the first event of a run that has not ended on. Gives how many entries it removed.
    async fn trim_log(&self, before: Timestamp, keep: u64) -> Result<u64, StorageError>;

    /// Looks through everything that is stored, beside all else, and returns what is damaged. Nothing if it is stopped before.
    async fn find_damage(&self, stop: CancellationToken) -> Result<Vec<String>, StorageError>;

    /// Brings the files into the form in which they are best copied. Only after the last change.
    async fn close(&self) -> Result<(), StorageError>;
}
