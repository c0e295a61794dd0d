//! Where everything is kept: the log of each user, and the conversations, messages and runs that its events
//! have made.
//!
//! The trait is what the rest of the server knows. Only the journal writes ([`Storage::commit`]); everybody
//! may read, each read in a transaction of its own. Nothing here publishes or decides; what an event means
//! is the reducer's to say.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::protocol::{
    ApiToken, AssistantMessage, Attachment, AttachmentId, CallId, ConversationId, ConversationList,
    ConversationSummary, Event, EventBody, Judged, Memory, MemoryId, Message, MessageId, OlderMessages,
    PageContext, Parameters, Payload, PayloadRef, Position, RunStatus, StreamId, Timestamp, TokenId,
    Transcript, UserId,
    conversation_list::ListCursor,
    intent::{ApprovalAnswer, Continue, Judge, Regenerate, SendMessage, SetParameters, Started, TakeAction},
    literature::{Library, ResearchStream, SavedArticle},
};

pub use self::error::{StorageError, Trouble};

mod error;
pub mod sqlite;

#[cfg(test)]
mod story;

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

/// One change to what is stored. A change is done whole or not at all.
#[derive(Clone, Debug)]
pub enum Change {
    /// Save a person's message and start a run that answers it.
    Send {
        user_id: UserId,
        intent: SendMessage,
        start: Start,
    },
    /// Start a run that answers the same message as `intent.message_id` does.
    Regenerate {
        user_id: UserId,
        intent: Regenerate,
        start: Start,
    },
    /// Go on with a run that was stopped, failed or interrupted.
    Continue {
        user_id: UserId,
        intent: Continue,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// What a run has produced since its last change.
    Append {
        run: RunKey,
        events: Vec<EventBody>,
    },
    /// What a run has come to with all that it has appended, so that it need not be put together from the log.
    Store {
        run: RunKey,
        message: AssistantMessage,
    },
    /// Something that a run has made for the panel. An event or a message that names it comes after it.
    Keep {
        run: RunKey,
        payload: Payload,
    },
    /// How a run called its model. Kept for so many runs of a conversation, the newest.
    Record {
        run: RunKey,
        call: RecordedCall,
        keep_runs: usize,
    },
    /// A file that a tool of a run has given. An event or a message that names it comes after it.
    Attach {
        run: RunKey,
        attachment: StoredAttachment,
    },
    /// A run waits for a person: its events so far, and what it has come to. Nothing works on it until the person answers.
    Pause {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    /// A person answers a run that waits, and it goes on.
    Answer {
        user_id: UserId,
        approval: Approval,
    },
    /// A person accepts or rejects something that was made for the panel.
    Judge {
        user_id: UserId,
        intent: Judge,
        fingerprint: String,
    },
    /// A person has taken a suggested action on the page.
    TakeAction {
        user_id: UserId,
        intent: TakeAction,
        fingerprint: String,
    },
    /// A person allows a tool once for all in a conversation.
    AllowTool {
        user_id: UserId,
        conversation_id: ConversationId,
        tool: String,
    },
    /// The end of a run: its last events, its final message and its status.
    End {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    Rename {
        user_id: UserId,
        conversation_id: ConversationId,
        title: String,
    },
    ChooseModel {
        user_id: UserId,
        conversation_id: ConversationId,
        model: String,
    },
    /// Have a conversation's model asked in another way.
    SetParameters {
        user_id: UserId,
        intent: SetParameters,
        /// What the intent asks for, read.
        parameters: Parameters,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// What a model is told in place of a conversation's oldest messages.
    Summarise {
        run: RunKey,
        summary: Summary,
    },
    /// Show the branch that was last grown through a message.
    SelectBranch {
        user_id: UserId,
        conversation_id: ConversationId,
        through: MessageId,
    },
    /// Somebody has looked at what had happened.
    MarkRead {
        user_id: UserId,
        conversation_id: ConversationId,
    },
    Delete {
        user_id: UserId,
        conversation_id: ConversationId,
    },
    /// Remember something of a person across conversations, if fewer than `limit` things are. What is remembered already is once.
    Remember {
        user_id: UserId,
        memory: Memory,
        limit: usize,
    },
    /// Forget one of these things.
    Forget {
        user_id: UserId,
        memory_id: MemoryId,
    },
    /// Keep an article, if fewer than `limit` are kept. One that is kept already gets the note, if there is one.
    SaveArticle {
        user_id: UserId,
        article: SavedArticle,
        /// Its abstract, by paragraphs.
        summary: Vec<String>,
        limit: usize,
    },
    /// Write something about an article that is kept.
    NoteArticle {
        user_id: UserId,
        pmid: String,
        note: String,
    },
    RemoveArticle {
        user_id: UserId,
        pmid: String,
    },
    /// Keep a stream of research, if there are fewer than `limit`; or make one that is kept another one.
    KeepStream {
        user_id: UserId,
        stream: ResearchStream,
        limit: usize,
    },
    DeleteStream {
        user_id: UserId,
        stream_id: StreamId,
    },
    /// Forget all of them.
    ForgetAll {
        user_id: UserId,
    },
    /// What a person wants the assistant to be told in every conversation.
    SetInstructions {
        user_id: UserId,
        text: String,
    },
    /// Another API token, if there are fewer than `limit`.
    AddToken {
        user_id: UserId,
        token: ApiToken,
        hash: TokenHash,
        limit: usize,
    },
    /// An API token is not taken any more.
    RevokeToken {
        user_id: UserId,
        token_id: TokenId,
    },
    /// An API token was used just now.
    UseToken {
        user_id: UserId,
        token_id: TokenId,
    },
}

impl Change {
    /// Whether it ends a run.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::End { .. })
    }
}

/// A call of a model, as it is written down. Storage does not look into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    pub id: CallId,
    /// What was sent, as JSON; nothing if it is written down already.
    pub request: Option<String>,
    /// What came of it so far, as JSON.
    pub response: String,
}

/// A conversation as one asks for it by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredConversation {
    pub summary: ConversationSummary,
    pub model: Option<String>,
    pub created_at: Timestamp,
}

/// A file that a tool has given, with what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAttachment {
    pub attachment: Attachment,
    pub data: Bytes,
}

/// What is stored of an API token: its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

/// A person's answer to whether a tool call may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approval {
    pub run: MessageId,
    /// Which of the run's calls.
    pub index: usize,
    pub answer: ApprovalAnswer,
}

/// What a person was looking at when they asked, as the model is told of it. It is kept with their message: whenever that is
/// answered, the model is told the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looking {
    pub context: PageContext,
    /// What was there.
    pub text: String,
    /// What the person wants of the assistant there.
    pub instructions: String,
}

/// How a run starts, besides what its intent says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// What the person looks at, if the run begins with a message of theirs.
    pub looking: Option<Box<Looking>>,
    /// The run's id, and its message's.
    pub run: MessageId,
    /// The model, if neither the intent nor the conversation names one.
    pub default_model: String,
    /// How the model is asked from now on, if the intent says anything about it.
    pub parameters: Option<Parameters>,
    /// The request, to tell it from another one under the same intent id.
    pub fingerprint: String,
}

/// How a run's model is called, besides what it is shown of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub parameters: Parameters,
    /// Tools that its first call has to use.
    pub force_tools: Vec<String>,
    /// What was made to stand for the beginning of the conversation, on whichever branch.
    pub summaries: Vec<Summary>,
}

/// What stands for the beginning of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The last message that is in it.
    pub reaches: MessageId,
    pub text: String,
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// A conversation is gone, with the run that worked on it.
    Deleted {
        active_run: Option<MessageId>,
    },
    /// Something of a person's is gone.
    Forgotten,
    /// A run was started, now or (`again`) when the same intent came before.
    Started {
        started: Started,
        again: bool,
    },
}

/// Why a change was not done. Nothing of it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no such thing, or it is not this user's")]
    NotFound,
    #[error("a fault of Parlor's; its log says more")]
    Fault,
    #[error("a run is at work on this conversation")]
    RunActive,
    #[error("only the last answer of a branch can be continued, and only if it did not come to its end")]
    NotContinuable,
    #[error("the id was used for something else")]
    IntentReused,
    #[error("the action was taken already, or is offered no more")]
    ActionSpent,
    #[error("as many things are remembered as may be")]
    MemoryFull,
    #[error("as many articles, or streams of research, are kept as may be")]
    LibraryFull,
    #[error("there are as many API tokens as may be")]
    TokensFull,
}

/// What became of several changes that were committed together.
#[derive(Debug)]
pub struct Committed {
    /// One for each change, in their order.
    pub outcomes: Vec<Result<Outcome, Refusal>>,
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
pub const PAGE_BYTES: usize = 64 << 10;

/// How much of a conversation is read at a time: messages until there are so many, or until they are so long together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize {
    pub messages: usize,
    /// As they are stored.
    pub bytes: usize,
}

impl PageSize {
    /// A branch up to its beginning.
    pub const WHOLE: Self = Self {
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
    async fn commit(&self, at: Timestamp, changes: &[Change]) -> Result<Committed, StorageError>;

    /// The position of the last event in a user's log.
    async fn head(&self, user_id: UserId) -> Result<Position, StorageError>;

    /// The events after a position, at most `limit` and about [`PAGE_BYTES`]; those of one run only, if there is one given.
    async fn log_after(
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

    /// All that was made for the panel in a conversation, oldest first.
    async fn payloads(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<PayloadRef>, StorageError>;

    /// What the person has accepted and rejected of it, in their order.
    async fn verdicts(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<Judged>, StorageError>;
    /// A file that a tool has given, with what is in it.
    async fn attachment(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Option<StoredAttachment>, StorageError>;

    /// The tools that a person has allowed once for all in a conversation.
    async fn allowed_tools(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<String>, StorageError>;

    /// How a run's model is called.
    async fn terms(&self, run: RunKey) -> Result<Terms, StorageError>;

    /// How a conversation's model is asked; `None` if there is no such conversation.
    async fn parameters(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<Parameters>, StorageError>;

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
    async fn model(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<String>, StorageError>;

    /// All that is remembered of a user, newest first.
    async fn memories(&self, user_id: UserId) -> Result<Vec<Memory>, StorageError>;

    /// What a person was looking at when they wrote a message.
    async fn looking(&self, user_id: UserId, message_id: MessageId) -> Result<Option<Looking>, StorageError>;

    /// The articles and streams of research that a user keeps.
    async fn library(&self, user_id: UserId) -> Result<Library, StorageError>;

    /// An article that a user keeps, with its abstract.
    async fn saved_article(
        &self,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Option<(SavedArticle, Vec<String>)>, StorageError>;

    /// A user's stream of research.
    async fn stream(
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
    async fn runs_at_work(&self) -> Result<Vec<StoredRun>, StorageError>;

    /// Forgets log entries and intents made before `before`, and all but the newest `keep` log entries, but
    /// nothing from the first event of a run that has not ended on. Gives how many entries it removed.
    async fn trim(&self, before: Timestamp, keep: u64) -> Result<u64, StorageError>;

    /// Brings the files into the form in which they are best copied. Only after the last change.
    async fn close(&self) -> Result<(), StorageError>;
}
