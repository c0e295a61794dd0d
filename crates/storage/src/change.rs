//! The changes to stored data, and their inputs.

use super::{
    FileLocation, HistorySummary, RunKey, StoredFile, TokenHash, accounts::AccountChange, shares::ShareChange,
};
use parlor_protocol::{
    ApiToken, AssistantMessage, AttachmentId, ConversationId, EventBody, Memory, MemoryId, MessageId,
    ModelCallId, PageContext, Parameters, Payload, PlacedProviderData, ResearchStreamId, RunStatus,
    Timestamp, TokenId, TokenTotals, UserId,
    intent::{
        ApprovalAnswer, BranchConversation, ContinueRun, JudgePayload, QueueChange, Regenerate, SendMessage,
        SetParameters, TakeAction,
    },
    literature::{ResearchStream, SavedArticle},
};

/// One change to stored data. A change is applied completely or not at all.
#[derive(Clone, Debug)]
pub enum Change {
    /// Saves a user's message and starts a run that answers it.
    SendMessage {
        user_id: UserId,
        intent: SendMessage,
        start: RunStart,
    },
    /// Saves a message as `SendMessage` does, but queues it while a run is active or earlier messages wait.
    QueueMessage {
        user_id: UserId,
        intent: SendMessage,
        start: RunStart,
        limits: QueueLimits,
    },
    /// Sends a message of a queue that is not held.
    SendQueued {
        run: RunKey,
        user_message_id: MessageId,
    },
    /// Changes a queue.
    ChangeQueue {
        user_id: UserId,
        conversation_id: ConversationId,
        change: QueueChange,
        limits: QueueLimits,
    },
    /// Starts a run that answers the same message as `intent.message_id`.
    Regenerate {
        user_id: UserId,
        intent: Regenerate,
        start: RunStart,
    },
    /// Continues a run that was stopped, failed, was interrupted or was cut short (length limit, paused turn).
    ContinueRun {
        user_id: UserId,
        intent: ContinueRun,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// Appends the output of a run since its last change.
    AppendEvents {
        run: RunKey,
        events: Vec<EventBody>,
    },
    /// Stores a run's message with all appended output, so that it need not be folded from the log again.
    StoreMessage {
        run: RunKey,
        message: AssistantMessage,
    },
    /// Stores a payload for the panel. Must come before the event or message that names it.
    StorePayload {
        run: RunKey,
        payload: Payload,
    },
    /// Stores data that only the provider of the run's model understands. Must come before the event that
    /// creates the part it belongs to.
    StoreProviderData {
        run: RunKey,
        placed: PlacedProviderData,
    },
    /// Records a model call. Calls are kept for the newest `keep_runs` runs of a conversation.
    RecordCall {
        run: RunKey,
        call: RecordedModelCall,
        keep_runs: usize,
    },
    /// Stores a file that a tool produced. Must come before the event or message that names it.
    StoreAttachment {
        run: RunKey,
        attachment: StoredFile,
    },
    /// Stores an uploaded file, which no message has yet. Its content is in the data folder.
    StoreUpload {
        file: StoredFile,
    },
    /// Makes a file of a message an upload too, under the id `copy`, for another message of its conversation. Both share the
    /// content.
    CopyFile {
        user_id: UserId,
        id: AttachmentId,
        copy: AttachmentId,
    },
    /// Deletes an uploaded file that no message has.
    DeleteUpload {
        user_id: UserId,
        id: AttachmentId,
    },
    /// Deletes all users' uploaded files that are older and that no message has.
    ExpireUploads {
        before: Timestamp,
    },
    /// Forgets deleted files whose contents have left the data folder.
    ForgetDeletedFiles {
        locations: Vec<FileLocation>,
    },
    /// Stores a file of a tool whose content was in the database, and deletes the former row.
    ReplaceAttachmentRow {
        file: StoredFile,
        message_id: MessageId,
    },
    /// Pauses a run until the user answers: stores its events and message so far. No task works on a paused
    /// run.
    PauseRun {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    /// Stores a user's answer to a paused run and resumes the run.
    AnswerApproval {
        user_id: UserId,
        approval: ApprovalDecision,
    },
    /// Stores the user's verdict on a payload.
    JudgePayload {
        user_id: UserId,
        intent: JudgePayload,
        fingerprint: String,
    },
    /// Records that the user took a suggested action on the page.
    TakeAction {
        user_id: UserId,
        intent: TakeAction,
        fingerprint: String,
    },
    /// Allows a tool for the rest of a conversation.
    AllowTool {
        user_id: UserId,
        conversation_id: ConversationId,
        tool: String,
    },
    /// Ends a run: stores its last events, its final message and its status.
    EndRun {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    /// Ends a run like [`EndRun`](Self::EndRun), if a message waits in the queue of its conversation. Rejected with
    /// [`NotFound`](super::ChangeRejection::NotFound) if none waits, or if the queue is held.
    HandOverRun {
        run: RunKey,
        events: Vec<EventBody>,
        message: AssistantMessage,
    },
    /// Ends a run that can't be ended otherwise: stores its status, and its last events and message if they
    /// can be stored.
    AbandonRun {
        run: RunKey,
        events: Vec<EventBody>,
        status: RunStatus,
        message: Option<Box<AssistantMessage>>,
    },
    /// Sets a conversation's title, which a run's model has made, if it is still `replaces`, and counts the tokens of
    /// that call.
    TitleConversation {
        run: RunKey,
        replaces: String,
        /// `None` leaves the title: the call has made none.
        title: Option<String>,
        /// The tokens of that call, which are added to those of the run's answer.
        totals: TokenTotals,
    },
    /// Counts a call of a model that was cut off before its server reported its tokens. No event does.
    CountCutCall {
        run: RunKey,
        /// The estimated tokens of this call alone.
        totals: TokenTotals,
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
    /// Sets a conversation's model parameters.
    SetParameters {
        user_id: UserId,
        intent: SetParameters,
        /// The parsed parameters of the intent.
        parameters: Parameters,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// Stores a summary that the model gets in place of a conversation's oldest messages.
    StoreSummary {
        run: RunKey,
        summary: HistorySummary,
    },
    /// Shows the newest branch through a message.
    SelectBranch {
        user_id: UserId,
        conversation_id: ConversationId,
        through: MessageId,
    },
    /// Copies a branch into a new conversation.
    BranchConversation {
        user_id: UserId,
        intent: BranchConversation,
        fingerprint: String,
    },
    /// Hides a message with all that follow it. The question of a hidden answer stays.
    DeleteMessage {
        user_id: UserId,
        conversation_id: ConversationId,
        message_id: MessageId,
        hidden_at: Timestamp,
    },
    /// Shows a hidden message again.
    RestoreMessage {
        user_id: UserId,
        conversation_id: ConversationId,
        message_id: MessageId,
    },
    /// Erases a message with all that follow it, unless it was shown again since this time.
    EraseMessage {
        user_id: UserId,
        conversation_id: ConversationId,
        message_id: MessageId,
        hidden_at: Timestamp,
    },
    /// Marks the conversation's result as seen.
    MarkRead {
        user_id: UserId,
        conversation_id: ConversationId,
    },
    DeleteConversation {
        user_id: UserId,
        conversation_id: ConversationId,
    },
    /// Adds a memory of a user, if there are fewer than `limit`. A duplicate is stored once.
    AddMemory {
        user_id: UserId,
        memory: Memory,
        limit: usize,
    },
    /// Deletes one memory.
    DeleteMemory {
        user_id: UserId,
        memory_id: MemoryId,
    },
    /// Saves an article, if fewer than `limit` are saved. A saved article gets the note only if it has none:
    /// the user's own note is never overwritten.
    SaveArticle {
        user_id: UserId,
        article: SavedArticle,
        /// The abstract by paragraphs; `None` if it is not known.
        abstract_text: Option<Vec<String>>,
        limit: usize,
    },
    /// Stores the abstract of a saved article, if it was not known.
    StoreAbstract {
        user_id: UserId,
        pmid: String,
        /// The abstract by paragraphs.
        abstract_text: Vec<String>,
    },
    /// Stores the text that describes the open page to the model, as of a run's question. A stored text is
    /// kept.
    StoreContextSnapshot {
        run: RunKey,
        text: String,
        instructions: String,
    },
    /// Sets the note of a saved article, if its current note is one of `replaces`.
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
    /// Saves a research stream, if there are fewer than `limit`, or replaces a saved one.
    SaveResearchStream {
        user_id: UserId,
        stream: ResearchStream,
        limit: usize,
    },
    DeleteResearchStream {
        user_id: UserId,
        stream_id: ResearchStreamId,
    },
    /// Deletes all memories of a user.
    DeleteAllMemories {
        user_id: UserId,
    },
    /// Sets a user's instructions for the assistant in every conversation.
    SetInstructions {
        user_id: UserId,
        text: String,
    },
    /// Adds an API token, if there are fewer than `limit`.
    AddToken {
        user_id: UserId,
        token: ApiToken,
        hash: TokenHash,
        limit: usize,
    },
    /// Revokes an API token.
    RevokeToken {
        user_id: UserId,
        token_id: TokenId,
    },
    /// Records the time at which an API token was used.
    RecordTokenUse {
        user_id: UserId,
        token_id: TokenId,
    },
    /// Adds or ends a share of a conversation.
    Share(ShareChange),
    /// Changes accounts, sessions or one-time links.
    Account(AccountChange),
}

impl Change {
    /// Returns true if the change ends a run, whose slot is free afterwards.
    pub fn is_run_end(&self) -> bool {
        matches!(self, Self::EndRun { .. } | Self::HandOverRun { .. })
    }

    /// Returns the run whose output the change is. Output is kept and tried again while storage fails; other changes are
    /// intents, which are rejected at once.
    pub fn output_of(&self) -> Option<RunKey> {
        match self {
            Self::AppendEvents { run, .. }
            | Self::StoreMessage { run, .. }
            | Self::StorePayload { run, .. }
            | Self::StoreProviderData { run, .. }
            | Self::StoreSummary { run, .. }
            | Self::RecordCall { run, .. }
            | Self::StoreAttachment { run, .. }
            | Self::PauseRun { run, .. }
            | Self::EndRun { run, .. }
            | Self::HandOverRun { run, .. }
            | Self::AbandonRun { run, .. }
            | Self::TitleConversation { run, .. }
            | Self::CountCutCall { run, .. } => Some(*run),
            // No `_`: output that is taken for an intent would be lost while storage fails.
            Self::SendMessage { .. }
            | Self::QueueMessage { .. }
            | Self::SendQueued { .. }
            | Self::ChangeQueue { .. }
            | Self::Regenerate { .. }
            | Self::ContinueRun { .. }
            | Self::StoreUpload { .. }
            | Self::CopyFile { .. }
            | Self::DeleteUpload { .. }
            | Self::ExpireUploads { .. }
            | Self::ForgetDeletedFiles { .. }
            | Self::ReplaceAttachmentRow { .. }
            | Self::AnswerApproval { .. }
            | Self::JudgePayload { .. }
            | Self::TakeAction { .. }
            | Self::AllowTool { .. }
            | Self::RenameConversation { .. }
            | Self::ChooseModel { .. }
            | Self::SetParameters { .. }
            | Self::SelectBranch { .. }
            | Self::BranchConversation { .. }
            | Self::DeleteMessage { .. }
            | Self::RestoreMessage { .. }
            | Self::EraseMessage { .. }
            | Self::MarkRead { .. }
            | Self::DeleteConversation { .. }
            | Self::AddMemory { .. }
            | Self::DeleteMemory { .. }
            | Self::SaveArticle { .. }
            | Self::StoreAbstract { .. }
            | Self::StoreContextSnapshot { .. }
            | Self::SetArticleNote { .. }
            | Self::RemoveArticle { .. }
            | Self::SaveResearchStream { .. }
            | Self::DeleteResearchStream { .. }
            | Self::DeleteAllMemories { .. }
            | Self::SetInstructions { .. }
            | Self::AddToken { .. }
            | Self::RevokeToken { .. }
            | Self::RecordTokenUse { .. }
            | Self::Share(_)
            | Self::Account(_) => None,
        }
    }
}

/// A recorded model call. Storage does not parse its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedModelCall {
    pub id: ModelCallId,
    /// The request as JSON; `None` if the same request is stored already.
    pub request: Option<String>,
    /// The response so far, as JSON.
    pub response: String,
}

/// A user's answer to an approval request for a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalDecision {
    pub run: MessageId,
    /// The index of the call in the run.
    pub index: usize,
    pub answer: ApprovalAnswer,
}

/// A snapshot of the page that the user had open when they asked, as it is described to the model. It is
/// stored with their message, so that every answer to that message gets the same description. The message is
/// stored with `context` only; the run that answers it adds the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageContextSnapshot {
    pub context: PageContext,
    /// The description of the page; empty until it is known, or if the page has none.
    pub text: String,
    /// The user's instructions for the assistant on this page.
    pub instructions: String,
}

/// The inputs of a new run besides its intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStart {
    /// The page that the user has open, if the run begins with a message of theirs.
    pub context_snapshot: Option<Box<PageContextSnapshot>>,
    /// The id of the run and of its message.
    pub run: MessageId,
    /// The model, if neither the intent nor the conversation names one.
    pub default_model: String,
    /// The model parameters from now on, if the intent sets any.
    pub parameters: Option<Parameters>,
    /// The request, to tell it from another one under the same intent id.
    pub fingerprint: String,
}

/// The maximum size of a conversation's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    pub messages: usize,
    /// The text of all messages.
    pub bytes: usize,
}
