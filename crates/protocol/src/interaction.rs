//! The way in which a user wrote a message: by typing it, or by choosing what an answer suggested.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dollars, Timestamp, flat_json::Fields, id::ScheduleId};

/// The action of a message with which a fresh Python session begins: earlier calls are not repeated for it.
pub const FRESH_SESSION: &str = "fresh_session";

/// The origin of the user's message. It is not part of the message's text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "interaction_type", rename_all = "snake_case", try_from = "Fields")]
#[schemars(!try_from)]
pub enum Interaction {
    /// The user typed it.
    #[default]
    TextInput,
    /// The user chose a value that the previous answer suggested.
    ValueSelected,
    /// The user pressed the button of an action that the previous answer suggested and the server performs.
    ActionExecuted {
        /// The action.
        action: String,
        /// The action's data, as JSON text exactly as in the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
    /// A schedule of the user sent it.
    Scheduled(Box<ScheduledMessage>),
}

/// The origin of a message that a schedule sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ScheduledMessage {
    pub schedule_id: ScheduleId,
    /// The title of the conversation: the name of the schedule and the day.
    pub title: String,
    /// The planned time; the time of the request if the user ran the schedule by hand.
    pub planned_at: Timestamp,
    /// The number of planned times for which it stands, since it could not be sent at any of them; 0 if it was sent in time.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(default)]
    pub missed: usize,
    /// True if the answer may say that there is nothing new.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub only_new: bool,
    /// The cost of the answer, in US dollars, at which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_limit: Option<Dollars>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
