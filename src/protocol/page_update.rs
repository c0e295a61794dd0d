//! The events that concern the page besides the list of conversations and the transcripts.

use super::{Event, EventBody, PayloadRef, RawJson};

/// The effect of an event on the page, besides the list and the transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageUpdate<'a> {
    Unchanged,
    /// A conversation was created. A page that was opened before it existed can show it now.
    ConversationCreated,
    /// There is a new payload for the panel.
    Payload(&'a PayloadRef),
    /// The user's literature changed. The change is parsed only by the code that shows it.
    LiteratureChanged(&'a RawJson),
    SettingsChanged,
    /// The event can't be read and its effect is unknown: load snapshots, which include it.
    Damaged,
}

impl Event {
    /// Returns the effect on the page besides the list and the transcripts.
    pub fn page_update(&self) -> PageUpdate<'_> {
        match &self.body {
            EventBody::ConversationCreated { .. } => PageUpdate::ConversationCreated,
            EventBody::ToolComplete {
                payload: Some(payload),
                ..
            }
            | EventBody::PayloadMade { payload, .. } => PageUpdate::Payload(payload),
            EventBody::LiteratureChanged { change } => PageUpdate::LiteratureChanged(change),
            EventBody::SettingsChanged => PageUpdate::SettingsChanged,
            EventBody::Damaged => PageUpdate::Damaged,
            _ => PageUpdate::Unchanged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ConversationId, Position, examples};

    #[test]
    fn every_payload_and_user_event_is_reported() {
        let mut reported: Vec<_> = examples::of_every_kind()
            .into_iter()
            .map(|body| Event {
                position: Position(1),
                conversation_id: ConversationId::NONE,
                message_id: None,
                body,
            })
            .filter(|event| event.page_update() != PageUpdate::Unchanged)
            .map(|event| serde_json::to_value(&event).unwrap()["type"].to_string())
            .collect();
        reported.dedup();
        let expected = [
            "conversation_created",
            "tool_complete",
            "payload_made",
            "literature_changed",
            "settings_changed",
            "damaged",
        ];
        reported.sort();
        let mut expected = expected.map(|kind| format!("{kind:?}"));
        expected.sort();
        assert_eq!(reported, expected);
    }
}
