//! Loading of the conversations' snapshots.

use leptos::{prelude::*, task::spawn_local};

use super::{ConversationPhase, OlderState, OpenConversations};
use crate::{
    api::rpc,
    browser,
    runtime::backoff::backoff_ms,
    state::{connection::load_error_text, outbox::OutgoingMessage, route::Route},
};
use parlor_protocol::{ApiError, ConversationId, ErrorCode, MessageId, Transcript};

impl OpenConversations {
    /// Loads the route's conversation, if it is not loaded yet.
    pub fn load_route(self, route: Route) {
        let Some(id) = route.conversation_id() else { return };
        // A deleted conversation does not come back.
        if self
            .view(id)
            .phase
            .with_untracked(|phase| *phase == ConversationPhase::Missing)
        {
            return;
        }
        let cursor = self.connection.cursor();
        let load = self.state.with(|state| {
            if state.stale.contains(&id) {
                state.stale.retain(|stale| *stale != id);
                state.changes.add_conversation(id);
            }
            let load = state.cache.open(id, cursor);
            let dropped = state.cache.evict(Some(id));
            state.views.retain(|view| !dropped.contains(&view.id));
            load
        });
        self.update_signals();
        if load {
            self.load_conversation(id);
        }
        let older = self.view(id).older;
        if older.with_untracked(|older| matches!(older, OlderState::Failed(_))) {
            self.load_older(id);
        }
    }

    /// Loads a conversation that was missing and exists now. Its page may have been opened before, for example while its
    /// first message was being sent.
    pub(in crate::state) fn retry_missing(self, id: ConversationId) {
        let missing = self.state.with(|state| {
            let view = state.find_view(id).cloned();
            view.filter(|view| {
                view.phase
                    .with_untracked(|phase| *phase == ConversationPhase::Missing)
            })
        });
        if let Some(view) = missing {
            view.phase.set(ConversationPhase::Loading);
            self.load_route(Route::Conversation(id));
        }
    }

    /// Reloads the conversation if a message that the server acknowledged is missing. The server may have received it
    /// long ago; the stream, which starts later, does not report it then.
    pub(in crate::state) fn reload_if_missing(self, id: ConversationId, message: MessageId) {
        let cursor = self.connection.cursor();
        let missed = self.state.with(|state| {
            let known = state
                .cache
                .get(id)
                .is_none_or(|transcript| transcript.has_message(message));
            !known && state.cache.begin_reload(id, cursor)
        });
        if missed {
            self.load_conversation(id);
        }
    }

    /// Requests a conversation, back to the first message on the screen.
    pub(in crate::state) fn request_conversation(
        self,
        id: ConversationId,
    ) -> impl Future<Output = Result<Transcript, ApiError>> {
        let place = self.place_to_reach(id);
        let first_message = place.or_else(|| self.state.with(|state| state.cache.first_shown(id)));
        self.connection.call(rpc::conversation(id, first_message))
    }

    pub(super) fn load_conversation(self, id: ConversationId) {
        let view = self.view(id);
        // Content on the screen stays.
        if view
            .phase
            .with_untracked(|phase| *phase != ConversationPhase::Ready)
        {
            view.phase.set(ConversationPhase::Loading);
        }
        let known = self.outbox.known_intents(id);
        let request = self.request_conversation(id);
        spawn_local(async move {
            match request.await {
                Ok(snapshot) => {
                    let (outcome, is_loaded) = self.state.with(|state| {
                        let outcome = state.cache.apply_snapshot(snapshot);
                        state.note_outcome(id, outcome);
                        (outcome, state.cache.get(id).is_some())
                    });
                    if is_loaded {
                        self.outbox.forget_intents(&known);
                    }
                    self.follow_up(id, outcome);
                    // The user is waiting to see it: no wait for the next frame.
                    self.update_signals();
                    self.reach_place(id);
                }
                Err(error) => {
                    self.state.with(|state| state.cache.fail_snapshot(id));
                    self.handle_load_error(id, &error);
                }
            }
        });
    }

    /// Handles a failed load: keeps shown content and retries after a backoff. Without shown content, shows the error. A
    /// conversation that the server does not know is shown from the unsent messages, or as missing.
    pub(in crate::state) fn handle_load_error(self, id: ConversationId, error: &ApiError) {
        let view = self.view(id);
        let ready = view
            .phase
            .with_untracked(|phase| *phase == ConversationPhase::Ready);
        if error.code == ErrorCode::NotFound {
            match self.outbox.provisional_transcript(id) {
                Some(begun) => self.show_provisional(begun),
                None => view.phase.set(ConversationPhase::Missing),
            }
        } else if ready {
            // Content on the screen stays, marked as possibly incomplete.
            let failures = view.failed_syncs.get_untracked() + 1;
            view.failed_syncs.set(failures);
            browser::set_timeout(backoff_ms(failures), move || self.retry_load(id)).detach();
        } else {
            view.phase.set(ConversationPhase::Failed(load_error_text(error)));
        }
    }

    /// Retries to update the conversation on the screen.
    fn retry_load(self, id: ConversationId) {
        let cursor = self.connection.cursor();
        let behind = self.state.with(|state| {
            let view = state.find_view(id);
            view.is_some_and(|view| view.failed_syncs.get_untracked() > 0) && state.cache.open(id, cursor)
        });
        if behind {
            self.load_conversation(id);
        }
    }

    /// Shows a message that is being sent. The server may not know its conversation yet.
    pub(in crate::state) fn show_outgoing(self, sending: &OutgoingMessage) {
        match sending.provisional_transcript() {
            Some(begun) => self.show_provisional(begun),
            None => self.refresh(sending.intent.conversation_id),
        }
    }

    /// Shows a conversation whose first message is being sent: the server does not know it yet.
    pub(in crate::state) fn show_provisional(self, begun: Transcript) {
        let id = begun.conversation_id;
        self.state.with(|state| {
            if state.cache.get(id).is_none() {
                state.cache.insert(begun);
            }
        });
        self.refresh(id);
    }
}
