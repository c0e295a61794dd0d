//! Effects of events on a client outside the list of conversations and the transcripts.

use super::{
    ConversationEvent, Event, EventBody, PayloadRef, Placeholder, RawJson, RunEvent, UserEvent, literature,
    report::REPORTS_PAGE,
};

/// The effect of an event on a client, besides the list and the transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientUpdate<'a> {
    Unchanged,
    /// A conversation was created. A client that opened it before it existed can show it now.
    ConversationCreated,
    /// The panel has a new payload.
    Payload(&'a PayloadRef),
    /// The data of a page changed. Only the page's own code parses the change.
    PageChanged {
        page: &'static str,
        change: &'a RawJson,
    },
    /// A message with files that are no images was saved: their tables are listed on the page *Data*.
    DocumentsAttached,
    /// A project was created, changed or deleted.
    ProjectChanged,
    SettingsChanged,
    /// The models to choose from may have changed.
    ModelsChanged,
    /// The event can't be read and its effect is unknown: load snapshots, which include it.
    Damaged,
}

impl Event {
    /// Returns the effect on a client besides the list and the transcripts.
    pub fn client_update(&self) -> ClientUpdate<'_> {
        match &self.body {
            EventBody::Conversation(event) => conversation_update(event),
            EventBody::Run(event) => run_update(event),
            EventBody::User(UserEvent::LiteratureChanged { change }) => ClientUpdate::PageChanged {
                page: literature::PAGE.name,
                change,
            },
            EventBody::User(UserEvent::ProjectChanged { .. }) => ClientUpdate::ProjectChanged,
            EventBody::User(UserEvent::SettingsChanged) => ClientUpdate::SettingsChanged,
            EventBody::User(UserEvent::ModelsChanged) => ClientUpdate::ModelsChanged,
            EventBody::Placeholder(Placeholder::Damaged) => ClientUpdate::Damaged,
            // Reports are the jobs that a page shows.
            EventBody::User(UserEvent::JobChanged { change }) => ClientUpdate::PageChanged {
                page: REPORTS_PAGE.name,
                change,
            },
            EventBody::Placeholder(Placeholder::Empty) => ClientUpdate::Unchanged,
        }
    }
}

fn conversation_update(event: &ConversationEvent) -> ClientUpdate<'_> {
    match event {
        ConversationEvent::ConversationCreated { .. } => ClientUpdate::ConversationCreated,
        ConversationEvent::UserMessageSaved { files, .. }
            if files.iter().any(|file| !file.media_type.starts_with("image/")) =>
        {
            ClientUpdate::DocumentsAttached
        }
        ConversationEvent::ConversationRenamed { .. }
        | ConversationEvent::ModelChosen { .. }
        | ConversationEvent::ParametersChosen { .. }
        | ConversationEvent::ConversationRead
        | ConversationEvent::ConversationDeleted
        | ConversationEvent::ConversationPlaced { .. }
        | ConversationEvent::LeafSelected { .. }
        | ConversationEvent::MessageQueued { .. }
        | ConversationEvent::QueueChanged { .. }
        | ConversationEvent::MessageHidden { .. }
        | ConversationEvent::MessageRestored { .. }
        | ConversationEvent::UserMessageSaved { .. }
        | ConversationEvent::FilesDeleted { .. }
        | ConversationEvent::PayloadJudged { .. } => ClientUpdate::Unchanged,
    }
}

fn run_update(event: &RunEvent) -> ClientUpdate<'_> {
    match event {
        RunEvent::ToolComplete {
            payload: Some(payload),
            ..
        }
        | RunEvent::PayloadMade { payload, .. } => ClientUpdate::Payload(payload),
        RunEvent::RunStarted { .. }
        | RunEvent::RunContinued { .. }
        | RunEvent::RunResumed { .. }
        | RunEvent::Status { .. }
        | RunEvent::Thinking { .. }
        | RunEvent::TextDelta { .. }
        | RunEvent::TextWasThinking { .. }
        | RunEvent::ApprovalRequested(_)
        | RunEvent::ApprovalAnswered { .. }
        | RunEvent::ToolStart { .. }
        | RunEvent::ToolProgress { .. }
        | RunEvent::ToolComplete { payload: None, .. }
        | RunEvent::Waiting { .. }
        | RunEvent::FileMade { .. }
        | RunEvent::SuggestedValues { .. }
        | RunEvent::SuggestedActions { .. }
        | RunEvent::ActionTaken { .. }
        | RunEvent::Sources { .. }
        | RunEvent::Usage(_)
        | RunEvent::Complete { .. }
        | RunEvent::Cancelled { .. }
        | RunEvent::Error { .. } => ClientUpdate::Unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationId, Interaction, MessageId, Position, examples};

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
            .filter(|event| event.client_update() != ClientUpdate::Unchanged)
            .map(|event| serde_json::to_value(&event).unwrap()["type"].to_string())
            .collect();
        reported.dedup();
        let expected = [
            "conversation_created",
            "tool_complete",
            "payload_made",
            "literature_changed",
            "job_changed",
            "project_changed",
            "settings_changed",
            "models_changed",
            "damaged",
        ];
        reported.sort();
        let mut expected = expected.map(|kind| format!("{kind:?}"));
        expected.sort();
        assert_eq!(reported, expected);
    }

    #[test]
    fn documents_are_reported_and_images_not() {
        for (media_type, expected) in [
            ("text/csv", ClientUpdate::DocumentsAttached),
            ("image/png", ClientUpdate::Unchanged),
        ] {
            let mut saved = examples::user_message_saved(Some(MessageId::new()), Interaction::TextInput);
            if let ConversationEvent::UserMessageSaved { files, .. } = &mut saved {
                files[0].media_type = media_type.into();
            }
            assert_eq!(conversation_update(&saved), expected, "{media_type}");
        }
    }
}
