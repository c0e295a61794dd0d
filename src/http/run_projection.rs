//! The events of one run, as its streams send them: with markers, and with the whole answer at the end.

use serde::Serialize;

use super::{
    event_stream::Projection,
    run_result::{FinalEvent, RunResult},
    tool_markers::{InsertedEvent, MarkedFrame, ToolMarkers},
};
use crate::app::Caller;
use parlor_protocol::{Event, EventBody, Placeholder, Position, RunEvent};
use parlor_storage::{LoggedEvent, RunKey};

/// Projects the log to the events of one run. The last one includes the whole answer.
pub struct RunProjection {
    pub caller: Caller,
    pub run: RunKey,
    /// The position of the last event that the reader has seen.
    pub after: Position,
    pub markers: ToolMarkers,
    /// True if the last event includes the diagnostics.
    pub diagnostics: bool,
    /// True if the run has ended: at the beginning of the stream, and not continued since.
    pub has_ended: bool,
    /// True if the run had ended at the last heartbeat.
    pub was_ended: bool,
}

impl RunProjection {
    /// Returns true if this is the run's last event. A final event is not the last one if the run was
    /// continued after it. An unreadable event may be the last one.
    async fn is_last(&self, logged: &LoggedEvent) -> bool {
        let is_damaged = logged.event.body == EventBody::Placeholder(Placeholder::Damaged);
        if !is_damaged && logged.event.body.terminal_status().is_none() {
            return false;
        }
        let storage = &self.caller.app.storage;
        match storage.run(self.run.user_id, self.run.message_id).await {
            Ok(Some(run)) => run.last_position == Some(logged.event.position),
            _ => !is_damaged,
        }
    }
}

impl Projection for RunProjection {
    async fn frames(&mut self, logged: &LoggedEvent) -> (Vec<String>, bool) {
        let frames = self.frames_with_markers(logged).await;
        if logged.event.position <= self.after {
            return (Vec::new(), false);
        }
        let mut is_last = false;
        let mut data = Vec::with_capacity(frames.len());
        for frame in frames {
            data.push(match frame {
                MarkedFrame::Logged => {
                    let (json, last) = self.logged(logged).await;
                    is_last = last;
                    json
                }
                MarkedFrame::Delta { offset, text } => text_delta_json(&logged.event, offset, text),
                MarkedFrame::Inserted(addition) => to_json(&InsertedEvent::new(&logged.event, &addition)),
            });
        }
        (data, is_last)
    }

    async fn is_over(&mut self) -> bool {
        let storage = &self.caller.app.storage;
        match storage.run(self.run.user_id, self.run.message_id).await {
            // The deletion of a conversation also deletes its runs: no more events will come.
            Ok(None) => true,
            // The last event is published just after its commit. Without one until the next heartbeat, none comes.
            Ok(Some(run)) => {
                let has_ended = run.status.is_terminal();
                std::mem::replace(&mut self.was_ended, has_ended) && has_ended
            }
            Err(_) => false,
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    async fn confirm_end(&mut self) -> bool {
        let storage = &self.caller.app.storage;
        let run = storage.run(self.run.user_id, self.run.message_id).await;
        self.has_ended = !matches!(run, Ok(Some(run)) if !run.status.is_terminal());
        self.has_ended
    }
}

impl RunProjection {
    /// Returns the frames of an event and the markers inserted with it.
    async fn frames_with_markers(&mut self, logged: &LoggedEvent) -> Vec<MarkedFrame> {
        let EventBody::Run(event) = &logged.event.body else {
            return vec![MarkedFrame::Logged];
        };
        if self.markers.is_behind(event) {
            let storage = &self.caller.app.storage;
            let found = storage.message(self.run.user_id, self.run.message_id).await;
            if let Ok(Some((_, message))) = found
                && let Some(answer) = message.assistant()
            {
                self.markers.catch_up(answer, event);
            }
        }
        self.markers.frames(event)
    }

    /// Returns an event as it was logged, with the answer if it is the last one.
    async fn logged(&self, logged: &LoggedEvent) -> (String, bool) {
        if !self.is_last(logged).await {
            return (logged.json.clone(), false);
        }
        let with_payload = async {
            let RunKey {
                user_id,
                conversation_id,
                message_id,
            } = self.run;
            let storage = &self.caller.app.storage;
            let (_, message) = storage.message(user_id, message_id).await.ok()??;
            let answer = RunResult::load(&self.caller, conversation_id, &message, self.diagnostics).await;
            let last = FinalEvent {
                event: &logged.event,
                payload: answer.ok()??,
            };
            serde_json::to_string(&last).ok()
        };
        (with_payload.await.unwrap_or_else(|| logged.json.clone()), true)
    }
}

/// Returns the JSON of a text event with only a part of its text.
fn text_delta_json(event: &Event, offset: usize, text: String) -> String {
    let mut event = event.clone();
    if let EventBody::Run(RunEvent::TextDelta {
        offset: old_offset,
        text: old_text,
        ..
    }) = &mut event.body
    {
        (*old_offset, *old_text) = (offset, text);
    }
    to_json(&event)
}

/// Serializes an event. The types that are written here always serialize.
fn to_json(event: &impl Serialize) -> String {
    serde_json::to_string(event).unwrap_or_default()
}
