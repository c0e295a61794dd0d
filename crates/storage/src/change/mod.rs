//! The changes to stored data, and their inputs. Each family has what all its changes share: its owner, and how it is treated
//! when storage fails.

use super::{
    ExpiryReason, FileLocation, RunKey, StoredFile, accounts::AccountChange, columns::ColumnChange,
    endpoints::EndpointChange, jobs::JobChange, projects::ProjectChange, schedules::ScheduleChange,
    shares::ShareChange,
};
use parlor_protocol::{
    AttachmentId, ConversationId, MessageId, PageContext, Parameters, ProjectId, Timestamp, UserId,
    intent::{ApprovalAnswer, QueueChange},
};

pub use self::{
    intent::IntentChange,
    run_output::{RecordedModelCall, RunOutput},
    user::{LibraryUpdate, PersonalChange},
};

mod intent;
mod run_output;
mod user;

/// One change to stored data. A change is applied completely or not at all.
#[derive(Clone, Debug)]
pub enum Change {
    /// The output of a run.
    Output { run: RunKey, output: RunOutput },
    /// A request of a client under an id of its choice.
    Intent { user_id: UserId, change: IntentChange },
    /// Changes of runs that are neither output nor intents.
    Run(RunChange),
    /// Changes a conversation.
    Conversation {
        user_id: UserId,
        conversation_id: ConversationId,
        change: ConversationChange,
    },
    /// Changes the files that no run has made, or all files.
    File(FileChange),
    /// Changes a user's library.
    Library { user_id: UserId, update: LibraryUpdate },
    /// Changes a user's memories, instructions or API tokens.
    Personal { user_id: UserId, change: PersonalChange },
    /// Changes a user's projects.
    Project { user_id: UserId, change: ProjectChange },
    /// Changes a user's schedules.
    Schedule { user_id: UserId, change: ScheduleChange },
    /// Changes a user's columns.
    Column { user_id: UserId, change: ColumnChange },
    /// Changes a job of a user.
    Job { user_id: UserId, change: JobChange },
    /// Adds or ends a share of a conversation.
    Share(ShareChange),
    /// Changes accounts, sessions or one-time links.
    Account(AccountChange),
    /// Changes model servers.
    Endpoint {
        /// The administrator.
        by: UserId,
        change: EndpointChange,
    },
}

impl Change {
    /// Returns true if the change ends a run, whose slot is free afterwards.
    pub fn is_run_end(&self) -> bool {
        matches!(self, Self::Output { output, .. } if output.is_run_end())
    }

    /// Returns the user whose log the change writes to, where the change itself tells it.
    pub fn log_owner(&self) -> Option<UserId> {
        match self {
            Self::Output { run, .. }
            | Self::Run(
                RunChange::SendQueued { run, .. }
                | RunChange::Resume { run }
                | RunChange::TakeOver { run }
                | RunChange::Recover { run }
                | RunChange::ForgetAnswers { run, .. }
                | RunChange::StoreContextSnapshot { run, .. },
            ) => Some(run.user_id),
            Self::Run(RunChange::AnswerApproval { user_id, .. } | RunChange::LeaveAnswer { user_id, .. })
            | Self::Intent { user_id, .. }
            | Self::Conversation { user_id, .. }
            | Self::Library { user_id, .. }
            | Self::Column { user_id, .. }
            | Self::Job { user_id, .. }
            | Self::Personal { user_id, .. }
            | Self::Project { user_id, .. }
            | Self::Schedule { user_id, .. }
            | Self::File(FileChange::DeleteContent { user_id, .. }) => Some(*user_id),
            Self::File(_) | Self::Share(_) | Self::Account(_) | Self::Endpoint { .. } => None,
        }
    }

    /// Returns true if the change is output, of a run or a job, or takes over what an earlier process left, without which its
    /// output is refused. Output is kept and tried again while storage fails; other changes are rejected at once.
    pub fn is_output(&self) -> bool {
        match self {
            Self::Output { .. } | Self::Run(RunChange::TakeOver { .. } | RunChange::Recover { .. }) => true,
            Self::Job { change, .. } => {
                matches!(change, JobChange::Output { .. } | JobChange::Recover { .. })
            }
            Self::Run(_)
            | Self::Intent { .. }
            | Self::Conversation { .. }
            | Self::File(_)
            | Self::Library { .. }
            | Self::Personal { .. }
            | Self::Project { .. }
            | Self::Schedule { .. }
            | Self::Column { .. }
            | Self::Share(_)
            | Self::Account(_)
            | Self::Endpoint { .. } => false,
        }
    }

    /// Returns the run whose output the change is.
    pub fn output_of(&self) -> Option<RunKey> {
        match self {
            Self::Output { run, .. } => Some(*run),
            Self::Intent { .. }
            | Self::Run(_)
            | Self::Conversation { .. }
            | Self::File(_)
            | Self::Library { .. }
            | Self::Personal { .. }
            | Self::Project { .. }
            | Self::Schedule { .. }
            | Self::Column { .. }
            | Self::Job { .. }
            | Self::Share(_)
            | Self::Account(_)
            | Self::Endpoint { .. } => None,
        }
    }
}

/// A change of a run that is neither output nor an intent.
#[derive(Clone, Debug)]
pub enum RunChange {
    /// Sends a message of a queue that is not held.
    SendQueued { run: RunKey, user_message_id: MessageId },
    /// Stores a user's answer to a paused run and resumes the run.
    AnswerApproval {
        user_id: UserId,
        approval: ApprovalDecision,
    },
    /// Lets a run go on that is stored as running and that nothing drives. A run that has ended is not found.
    Resume { run: RunKey },
    /// Makes this process the owner of a run, whoever drives it, so that it can end the run.
    TakeOver { run: RunKey },
    /// Makes this process the owner of a run that nothing drives. Rejected if another node works on it.
    Recover { run: RunKey },
    /// Stores a user's answer for the node that drives the run. Rejected with `RunActive` if the call
    /// does not wait in a run that another node drives.
    LeaveAnswer {
        user_id: UserId,
        approval: ApprovalDecision,
    },
    /// Deletes answers that were applied, unless others came since.
    ForgetAnswers { run: RunKey, stored: String },
    /// Stores the text that describes the open page to the model, as of a run's question. A stored text is
    /// kept.
    StoreContextSnapshot {
        run: RunKey,
        text: String,
        instructions: String,
    },
}

/// A change of a conversation.
#[derive(Clone, Debug)]
pub enum ConversationChange {
    /// Changes a queue.
    Queue {
        change: QueueChange,
        limits: QueueLimits,
    },
    /// Allows a tool for the rest of a conversation.
    AllowTool {
        tool: String,
    },
    Rename {
        title: String,
    },
    ChooseModel {
        model: String,
    },
    /// Shows the newest branch through a message.
    SelectBranch {
        through: MessageId,
    },
    /// Hides a message with all that follow it. The question of a hidden answer stays.
    DeleteMessage {
        message_id: MessageId,
        hidden_at: Timestamp,
    },
    /// Shows a hidden message again.
    RestoreMessage {
        message_id: MessageId,
    },
    /// Erases a message with all that follow it, unless it was shown again since this time.
    EraseMessage {
        message_id: MessageId,
        hidden_at: Timestamp,
    },
    /// Marks the conversation's result as seen.
    MarkRead,
    /// Puts a conversation at the top of the list, if the user has fewer than `limit` there, or not any more.
    Pin {
        is_pinned: bool,
        limit: usize,
    },
    /// Takes a conversation out of the list, or back into it.
    Archive {
        is_archived: bool,
    },
    /// Moves a conversation into a project, or out of its project.
    Move {
        project_id: Option<ProjectId>,
    },
    /// Makes a temporary conversation one that stays.
    Keep,
    /// Deletes a conversation so that it can be restored. Its run goes on to be stored.
    Trash {
        trashed_at: Timestamp,
    },
    /// Undoes `Trash`.
    Restore,
    /// Erases a conversation, unless it was restored since this time.
    Erase {
        trashed_at: Timestamp,
    },
    /// Erases a conversation without activity since this time, if the reason still holds, unless an answer is running, it is
    /// deleted, or it is pinned and not temporary.
    Expire {
        before: Timestamp,
        reason: ExpiryReason,
    },
    /// Erases a conversation.
    Delete,
}

/// A change of files.
#[derive(Clone, Debug)]
pub enum FileChange {
    /// Stores an uploaded file, which no message has yet. Its content is in the data folder.
    StoreUpload { file: StoredFile },
    /// Makes a file of a message an upload too, under the id `copy`, for another message of its conversation. Both share the
    /// content.
    CopyFile {
        user_id: UserId,
        id: AttachmentId,
        copy: AttachmentId,
    },
    /// Deletes an uploaded file that no message has.
    DeleteUpload { user_id: UserId, id: AttachmentId },
    /// Deletes a content of a user, with all files that share it, wherever they are used. Messages keep their names. Rejected while
    /// an answer that has one is being written, or a message that has one waits.
    DeleteContent { user_id: UserId, id: AttachmentId },
    /// Deletes all users' uploaded files that are older and that no message has.
    ExpireUploads { before: Timestamp },
    /// Forgets deleted files whose contents have left the data folder.
    ForgetDeletedFiles { locations: Vec<FileLocation> },
    /// Makes passages of a file's text searchable, from the passage `first` on; the name is passage 0.
    IndexText {
        id: AttachmentId,
        first: usize,
        texts: Vec<String>,
        is_last: bool,
    },
    /// Stores a file of a tool whose content was in the database, and deletes the former row.
    ReplaceAttachmentRow { file: StoredFile, message_id: MessageId },
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
