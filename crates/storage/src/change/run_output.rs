//! The output of runs.

use crate::{HistorySummary, StoredFile};
use parlor_protocol::{
    AssistantMessage, ModelCallId, Payload, PlacedProviderData, RunEvent, RunStatus, TokenTotals,
};

/// The output of a run. It is kept and tried again while storage fails. Of a run whose conversation was deleted it is dropped.
#[derive(Clone, Debug)]
pub enum RunOutput {
    /// Appends the output of a run since its last change.
    AppendEvents { events: Vec<RunEvent> },
    /// Stores a run's message with all appended output, so that it need not be folded from the log again.
    StoreMessage { message: AssistantMessage },
    /// Stores a payload for the panel. Must come before the event or message that names it.
    StorePayload { payload: Payload },
    /// Stores data that only the provider of the run's model understands. Must come before the event that
    /// creates the part it belongs to.
    StoreProviderData { placed: PlacedProviderData },
    /// Records a model call. Calls are kept for the newest `keep_runs` runs of a conversation.
    RecordCall {
        call: RecordedModelCall,
        keep_runs: usize,
    },
    /// Stores a file that a tool produced. Must come before the event or message that names it.
    StoreAttachment { attachment: StoredFile },
    /// Pauses a run until the user answers: stores its events and message so far. No task works on a paused
    /// run.
    PauseRun {
        events: Vec<RunEvent>,
        message: AssistantMessage,
    },
    /// Ends a run: stores its last events, its final message and its status.
    EndRun {
        events: Vec<RunEvent>,
        message: AssistantMessage,
    },
    /// Ends a run like [`EndRun`](Self::EndRun), if a message waits in the queue of its conversation. Rejected with
    /// [`NotFound`](crate::ChangeRejection::NotFound) if none waits, or if the queue is held.
    HandOverRun {
        events: Vec<RunEvent>,
        message: AssistantMessage,
    },
    /// Ends a run that can't be ended otherwise: stores its status, and its last events and message if they
    /// can be stored.
    AbandonRun {
        events: Vec<RunEvent>,
        status: RunStatus,
        message: Option<Box<AssistantMessage>>,
    },
    /// Sets a conversation's title, which a run's model has made, if it is still `replaces`, and counts the tokens of
    /// that call.
    TitleConversation {
        replaces: String,
        /// `None` leaves the title: the call has made none.
        title: Option<String>,
        /// The tokens of that call, which are added to those of the run's answer.
        totals: TokenTotals,
    },
    /// Counts a call of a model that was cut off before its server reported its tokens. No event does.
    CountCutCall {
        /// The estimated tokens of this call alone.
        totals: TokenTotals,
    },
    /// Stores a summary that the model gets in place of a conversation's oldest messages.
    StoreSummary { summary: HistorySummary },
}

impl RunOutput {
    /// Returns true if the change ends a run, whose slot is free afterwards.
    pub fn is_run_end(&self) -> bool {
        matches!(self, Self::EndRun { .. } | Self::HandOverRun { .. })
    }

    /// Returns true if the output has deltas of text or thinking.
    pub fn is_delta(&self) -> bool {
        let is_delta =
            |event: &RunEvent| matches!(event, RunEvent::TextDelta { .. } | RunEvent::Thinking { .. });
        matches!(self, Self::AppendEvents { events } if events.iter().any(is_delta))
    }

    /// Returns true if the output is a part of the answer, or what the answer is built on, so that later output is wrong
    /// without it.
    pub fn is_part_of_answer(&self) -> bool {
        match self {
            Self::AppendEvents { .. }
            | Self::StoreMessage { .. }
            | Self::StorePayload { .. }
            | Self::StoreProviderData { .. }
            | Self::StoreSummary { .. }
            | Self::StoreAttachment { .. }
            | Self::PauseRun { .. } => true,
            // The run's end is tried in any case. Nothing builds on recorded calls, titles and counts.
            Self::EndRun { .. }
            | Self::HandOverRun { .. }
            | Self::AbandonRun { .. }
            | Self::RecordCall { .. }
            | Self::TitleConversation { .. }
            | Self::CountCutCall { .. } => false,
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
