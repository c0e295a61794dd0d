//! The parts of the live state, and the update of a conversation's signals from them.

use super::{
    ConversationView, PendingSend,
    connection::EventConnection,
    outbox::{Outbox, OutboxUpdate},
    replica::ServerReplica,
    reruns::Reruns,
};
use crate::{
    protocol::{ConversationId, IntentId, Message, MessageBody, MessageId, transcript::TranscriptUpdate},
    ui::browser,
};

#[derive(Default)]
pub(super) struct LiveState {
    pub(super) replica: ServerReplica,
    pub(super) views: Vec<ConversationView>,
    pub(super) outbox: Outbox,
    pub(super) reruns: Reruns,
    pub(super) connection: EventConnection,
    pub(super) dirty: Dirty,
    /// Conversations that changed while they were not on the screen: their signals are stale.
    pub(super) stale: Vec<ConversationId>,
    /// True after hydration: messages added from now on were not in the server's page.
    pub(super) is_hydrated: bool,
}

/// The signals to update with the next frame.
#[derive(Default)]
pub(super) struct Dirty {
    pub(super) is_frame_requested: bool,
    pub(super) is_list_dirty: bool,
    pub(super) conversations: Vec<ConversationId>,
    pub(super) messages: Vec<(ConversationId, MessageId)>,
}

impl LiveState {
    pub(super) fn mark_stale(&mut self, id: ConversationId) {
        if !self.stale.contains(&id) {
            self.stale.push(id);
        }
    }

    /// Intents that the server has acknowledged. A snapshot that is requested from now on includes their results,
    /// unless these are outside its range.
    pub(super) fn known_intents(&self, id: ConversationId) -> Vec<IntentId> {
        self.outbox
            .known_intents(id)
            .chain(self.reruns.known_intents(id))
            .collect()
    }

    /// Forgets intents that were known when the received snapshot was requested.
    pub(super) fn forget_intents(&mut self, known: &[IntentId]) {
        self.outbox.forget_intents(known);
        self.reruns.forget_intents(known);
    }

    pub(super) fn find_view(&self, id: ConversationId) -> Option<&ConversationView> {
        self.views.iter().find(|view| view.id == id)
    }

    pub(super) fn view(&mut self, id: ConversationId) -> ConversationView {
        if let Some(view) = self.find_view(id) {
            return view.clone();
        }
        let view = ConversationView::new(id);
        self.views.push(view.clone());
        view
    }

    /// Updates a conversation's signals from its transcript and the outbox.
    pub(super) fn sync(&mut self, id: ConversationId, shown: Option<ConversationId>) -> Option<OutboxUpdate> {
        let view = self.view(id);
        if Some(id) != shown {
            self.mark_stale(id);
        }
        let transcript = self.replica.transcripts.get(id);
        let settled = transcript.map(|transcript| {
            self.reruns.reconcile(transcript);
            self.outbox.reconcile(transcript)
        });
        let pending = self.outbox.message_for(id).map(|sending| Message {
            id: sending.intent.user_message_id,
            parent_id: None,
            created_at: browser::now(),
            body: MessageBody::User {
                text: sending.intent.text.clone(),
                interaction: sending.intent.interaction.clone(),
            },
        });
        let pending_send = match self.outbox.pending_send(id) {
            PendingSend::Nothing if self.reruns.is_pending(id) => PendingSend::Requested,
            pending_send => pending_send,
        };
        view.sync_pending_send(pending_send);
        match transcript {
            Some(_) if Some(id) != shown => {}
            Some(transcript) => {
                if !self.replica.transcripts.is_behind(id) {
                    view.mark_up_to_date();
                }
                view.sync(transcript, pending.as_ref(), self.is_hydrated);
            }
            None => view.sync_unloaded(pending.as_ref()),
        }
        settled
    }
}

impl Dirty {
    pub(super) fn is_any_dirty(&self) -> bool {
        self.is_list_dirty || !self.conversations.is_empty() || !self.messages.is_empty()
    }

    pub(super) fn mark_conversation(&mut self, id: ConversationId) {
        if !self.conversations.contains(&id) {
            self.conversations.push(id);
        }
    }

    pub(super) fn mark_touched(&mut self, id: ConversationId, touched: TranscriptUpdate) {
        match touched {
            TranscriptUpdate::Nothing => {}
            TranscriptUpdate::Conversation | TranscriptUpdate::Messages => self.mark_conversation(id),
            TranscriptUpdate::Run(message)
            | TranscriptUpdate::Part {
                message_id: message, ..
            } => {
                if !self.messages.contains(&(id, message)) {
                    self.messages.push((id, message));
                }
            }
        }
    }
}
