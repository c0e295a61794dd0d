//! The changes to what is stored, what goes with them, and what becomes of them.

use bytes::Bytes;

use super::{HistorySummary, RunKey};
use crate::protocol::{
    ApiToken, AssistantMessage, Attachment, CallId, ConversationId, ConversationSummary, EventBody, Memory,
    MemoryId, MessageId, PageContext, Parameters, Payload, PlacedOpaque, RunStatus, StreamId, Timestamp,
    TokenId, UserId,
    intent::{
        ApprovalAnswer, ContinueRun, JudgePayload, Regenerate, SendMessage, SetParameters, StartedRun,
        TakeAction,
    },
    literature::{ResearchStream, SavedArticle},
};

/// One change to what is stored. A change is done whole or not at all.
#[derive(Clone, Debug)]
pub enum Change {
    /// Save a person's message and start a run that answers it.
    SendMessage {
        user_id: UserId,
        intent: SendMessage,
        start: RunStart,
    },
    /// Start a run that answers the same message as `intent.message_id` does.
    Regenerate {
        user_id: UserId,
        intent: Regenerate,
        start: RunStart,
    },
    /// Go on with a run that was stopped, failed or interrupted.
    ContinueRun {
        user_id: UserId,
        intent: ContinueRun,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// What a run has produced since its last change.
    AppendEvents {
        run: RunKey,
        events: Vec<EventBody>,
    },
    /// What a run has come to with all that it has appended, so that it need not be put together from the log.
    StoreMessage {
        run: RunKey,
        message: AssistantMessage,
    },
    /// Something that a run has made for the panel. An event or a message that names it comes after it.
    StorePayload {
        run: RunKey,
        payload: Payload,
    },
    /// Data that only the provider of a run's model understands. An event that makes the part beside which it belongs comes after it.
    StoreOpaque {
        run: RunKey,
        placed: PlacedOpaque,
    },
    /// How a run called its model. Kept for so many runs of a conversation, the newest.
    RecordCall {
        run: RunKey,
        call: RecordedCall,
        keep_runs: usize,
    },
    /// A file that a tool of a run has given. An event or a message that names it comes after it.
    StoreAttachment {
        run: RunKey,
        attachment: StoredAttachment,
    },
    /// A run waits for a person: its events so far, and what it has come to. Nothing works on it until the person answers.
    PauseRun {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    /// A person answers a run that waits, and it goes on.
    AnswerApproval {
        user_id: UserId,
        approval: ApprovalDecision,
    },
    /// A person accepts or rejects something that was made for the panel.
    JudgePayload {
        user_id: UserId,
        intent: JudgePayload,
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
    EndRun {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    /// The end of a run that can't be ended otherwise: its status, with its last events and its message if those can be stored.
    AbandonRun {
        run: RunKey,
        events: Vec<EventBody>,
        status: RunStatus,
        message: Option<Box<AssistantMessage>>,
    },
    RenameConversation {
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
    StoreSummary {
        run: RunKey,
        summary: HistorySummary,
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
    DeleteConversation {
        user_id: UserId,
        conversation_id: ConversationId,
    },
    /// Remember something of a person across conversations, if fewer than `limit` things are. What is remembered already is once.
    AddMemory {
        user_id: UserId,
        memory: Memory,
        limit: usize,
    },
    /// Forget one of these things.
    DeleteMemory {
        user_id: UserId,
        memory_id: MemoryId,
    },
    /// Keep an article, if fewer than `limit` are kept. One that is kept already gets the note only if it has none: what the
    /// person has written stays.
    SaveArticle {
        user_id: UserId,
        article: SavedArticle,
        /// Its abstract, by paragraphs; nothing if it is not known.
        summary: Option<Vec<String>>,
        limit: usize,
    },
    /// The abstract of an article that is kept, if it was not known.
    StoreAbstract {
        user_id: UserId,
        pmid: String,
        summary: Vec<String>,
    },
    /// The text that tells the model what was open when the question of a run was asked, unless that is known.
    StoreContextSnapshot {
        run: RunKey,
        text: String,
        instructions: String,
    },
    /// Write something about an article that is kept, if what is there is one of what it may replace.
    SetArticleNote {
        user_id: UserId,
        pmid: String,
        note: String,
        replaces: Vec<String>,
    },
    RemoveArticle {
        user_id: UserId,
        pmid: String,
    },
    /// Keep a stream of research, if there are fewer than `limit`; or make one that is kept another one.
    SaveStream {
        user_id: UserId,
        stream: ResearchStream,
        limit: usize,
    },
    DeleteStream {
        user_id: UserId,
        stream_id: StreamId,
    },
    /// Forget all of them.
    DeleteAllMemories {
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
    RecordTokenUse {
        user_id: UserId,
        token_id: TokenId,
    },
}

impl Change {
    /// Whether it ends a run.
    pub fn is_run_end(&self) -> bool {
        matches!(self, Self::EndRun { .. })
    }
}

/// A call of a model, as it is written down. Storage does not look into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    pub id: CallId,
    /// What was sent, as JSON; nothing if it is written down already as it is.
    pub request: Option<String>,
    /// What came of it so far, as JSON.
    pub response: String,
}

/// What became of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedIntent {
    /// The request, to tell it from another one under the same id.
    pub fingerprint: String,
    /// Nothing, if it starts nothing.
    pub started: Option<StartedRun>,
}

impl CompletedIntent {
    /// What was started when it came before.
    ///
    /// # Errors
    ///
    /// If that was another request.
    pub fn replay(self, fingerprint: &str) -> Result<Option<StartedRun>, ChangeRejection> {
        if self.fingerprint == fingerprint {
            Ok(self.started)
        } else {
            Err(ChangeRejection::IntentReused)
        }
    }
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
pub struct ApprovalDecision {
    pub run: MessageId,
    /// Which of the run's calls.
    pub index: usize,
    pub answer: ApprovalAnswer,
}

/// What a person was looking at when they asked, as the model is told of it. It is kept with their message: whenever that is
/// answered, the model is told the same. The message is stored with the context alone; the run that answers it adds the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageContextSnapshot {
    pub context: PageContext,
    /// The text of what was there; empty until it is known, or if the page has nothing to tell.
    pub text: String,
    /// What the person wants of the assistant there.
    pub instructions: String,
}

/// How a run starts, besides what its intent says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStart {
    /// What the person looks at, if the run begins with a message of theirs.
    pub context_snapshot: Option<Box<PageContextSnapshot>>,
    /// The run's id, and its message's.
    pub run: MessageId,
    /// The model, if neither the intent nor the conversation names one.
    pub default_model: String,
    /// How the model is asked from now on, if the intent says anything about it.
    pub parameters: Option<Parameters>,
    /// The request, to tell it from another one under the same intent id.
    pub fingerprint: String,
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
    DataDeleted,
    /// The article is kept already, with another note, which stays.
    NotedOtherwise,
    /// A run was started, now or (`again`) when the same intent came before.
    Started {
        started: StartedRun,
        again: bool,
    },
}

/// Why a change was not done. Nothing of it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRejection {
    #[error("there is no such thing, or it is not this user's")]
    NotFound,
    #[error("a fault of Parlor's; its log says more")]
    Internal,
    #[error("another note than was known stands there")]
    NoteChanged,
    #[error("a run is at work on this conversation")]
    RunActive,
    #[error(
        "only the last answer of a branch can be continued, and only if it did not come to its natural end"
    )]
    NotContinuable,
    #[error("the id was used for something else")]
    IntentReused,
    #[error("the action was taken already, or is offered no more")]
    ActionAlreadyTaken,
    #[error("as many things are remembered as may be")]
    MemoryFull,
    #[error("as many articles, or streams of research, are kept as may be")]
    LibraryFull,
    #[error("there are as many API tokens as may be")]
    TokensFull,
}
