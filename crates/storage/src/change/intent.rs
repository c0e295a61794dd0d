//! The changes that clients ask for under an id of their choice.

use super::{QueueLimits, RunStart};
use crate::schedules::ScheduledStart;
use parlor_protocol::{
    IntentId, Parameters,
    intent::{
        BranchConversation, ContinueRun, JudgePayload, Regenerate, SendMessage, SetParameters, TakeAction,
    },
};

/// A change that a client asks for under an id of its choice. The same request again has no further effect.
#[derive(Clone, Debug)]
pub enum IntentChange {
    /// Saves a user's message and starts a run that answers it.
    SendMessage { intent: SendMessage, start: RunStart },
    /// Saves a message as `SendMessage` does, but queues it while a run is active or earlier messages wait.
    QueueMessage {
        intent: SendMessage,
        start: RunStart,
        limits: QueueLimits,
    },
    /// Sends the message of a schedule, as `SendMessage` does.
    RunSchedule {
        intent: SendMessage,
        start: RunStart,
        scheduled: ScheduledStart,
    },
    /// Starts a run that answers the same message as `intent.message_id`.
    Regenerate { intent: Regenerate, start: RunStart },
    /// Continues a run that was stopped, failed, was interrupted or was cut short (length limit, paused turn).
    ContinueRun {
        intent: ContinueRun,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// Stores the user's verdict on a payload.
    JudgePayload {
        intent: JudgePayload,
        fingerprint: String,
    },
    /// Records that the user took a suggested action on the page.
    TakeAction { intent: TakeAction, fingerprint: String },
    /// Sets a conversation's model parameters.
    SetParameters {
        intent: SetParameters,
        /// The parsed parameters of the intent.
        parameters: Parameters,
        /// The request, to tell it from another one under the same intent id.
        fingerprint: String,
    },
    /// Copies a branch into a new conversation.
    BranchConversation {
        intent: BranchConversation,
        fingerprint: String,
    },
}

impl IntentChange {
    /// Returns the id that the client chose.
    pub fn id(&self) -> IntentId {
        match self {
            Self::SendMessage { intent, .. }
            | Self::QueueMessage { intent, .. }
            | Self::RunSchedule { intent, .. } => intent.intent_id,
            Self::Regenerate { intent, .. } => intent.intent_id,
            Self::ContinueRun { intent, .. } => intent.intent_id,
            Self::JudgePayload { intent, .. } => intent.intent_id,
            Self::TakeAction { intent, .. } => intent.intent_id,
            Self::SetParameters { intent, .. } => intent.intent_id,
            Self::BranchConversation { intent, .. } => intent.intent_id,
        }
    }

    /// Returns the request, to tell it from another one under the same id.
    pub fn fingerprint(&self) -> &str {
        match self {
            Self::SendMessage { start, .. }
            | Self::QueueMessage { start, .. }
            | Self::RunSchedule { start, .. }
            | Self::Regenerate { start, .. } => &start.fingerprint,
            Self::ContinueRun { fingerprint, .. }
            | Self::JudgePayload { fingerprint, .. }
            | Self::TakeAction { fingerprint, .. }
            | Self::SetParameters { fingerprint, .. }
            | Self::BranchConversation { fingerprint, .. } => fingerprint,
        }
    }
}
