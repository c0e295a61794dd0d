//! The duration of the model's thinking, which is logged when it ends.

use super::{Agent, Effect, Input};
use parlor_model::{ModelEvent, UnreadableContent};
use parlor_protocol::{Part, RunEvent, Timestamp};

/// The minimum duration that is logged: the page shows no shorter one.
const MIN_MS: u64 = 100;

/// Returns true if this input ends the model's thinking.
pub(super) fn ends_thinking(input: &Input) -> bool {
    match input {
        Input::Model(event) => match event {
            ModelEvent::Text(text) => !text.is_empty(),
            ModelEvent::ToolCall { .. }
            | ModelEvent::Finished(_)
            | ModelEvent::Refusal(_)
            | ModelEvent::Note(_) => true,
            // They get a note.
            ModelEvent::Unreadable { what, .. } => {
                matches!(what, UnreadableContent::Image | UnreadableContent::Audio)
            }
            _ => false,
        },
        Input::ImageStored(_) => true,
        Input::CallFailed(_)
        | Input::StreamEnded
        | Input::TimedOut(_)
        | Input::TooLong(_)
        | Input::RestoreFailed(_)
        | Input::Stop
        | Input::Shutdown => true,
        _ => false,
    }
}

impl Agent {
    /// Notes the time of the first output and of the first thinking.
    pub(super) fn note_output(&mut self, event: &ModelEvent, at: Timestamp) {
        match event {
            ModelEvent::Thinking(text) if !text.is_empty() => {
                self.thinking_since.get_or_insert(at);
                self.output_since.get_or_insert(at);
            }
            ModelEvent::Text(text) if !text.is_empty() => {
                self.output_since.get_or_insert(at);
            }
            _ => {}
        }
    }

    /// Logs the duration of the thinking that has ended, with an empty delta of its part.
    pub(super) fn end_thinking(&mut self, at: Timestamp) -> Option<Effect> {
        let since = self.thinking_since.take()?;
        let took_ms = u64::try_from(at.0.saturating_sub(since.0)).unwrap_or_default();
        let parts = &self.message.nodes.get(self.node)?.parts;
        let part = parts.len().checked_sub(1)?;
        let Part::Thinking { text } = &parts[part] else {
            return None;
        };
        let offset = text.len();
        (took_ms >= MIN_MS).then(|| {
            self.log(RunEvent::Thinking {
                node: self.node,
                part,
                offset,
                text: String::new(),
                took_ms,
            })
        })
    }
}
