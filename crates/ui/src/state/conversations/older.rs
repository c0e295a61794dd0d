//! The older messages of a conversation: loaded page by page before the first loaded message, and trimmed when the
//! conversation is left.

use leptos::{prelude::*, task::spawn_local};

use super::{OlderState, OpenConversations};
use crate::{
    api::rpc,
    browser,
    state::{connection::load_error_text, route::Route},
};
use parlor_protocol::ConversationId;

impl OpenConversations {
    /// Loads older messages when the user scrolls near the first loaded one. After a failure it does
    /// nothing: the user or a reconnect retries.
    pub fn load_older_near_start(self, id: ConversationId) {
        if self.lifecycle.is_hydrated()
            && self
                .view(id)
                .older
                .with_untracked(|older| *older == OlderState::Idle)
        {
            self.load_older(id);
        }
    }

    /// Loads the page of messages before the first loaded one.
    pub fn load_older(self, id: ConversationId) {
        let view = self.view(id);
        let before = self
            .with_transcript(id, |transcript| transcript.earliest)
            .flatten();
        let Some(before) = before else { return };
        if view.older.with_untracked(|older| *older == OlderState::Loading) {
            return;
        }
        view.older.set(OlderState::Loading);
        spawn_local(async move {
            let loaded = match self.connection.call(rpc::older_messages(id, before)).await {
                Ok(older) => {
                    self.state.with(|state| {
                        let outcome = state.cache.prepend(id, older);
                        state.note_outcome(id, outcome);
                    });
                    self.update_signals();
                    OlderState::Idle
                }
                Err(error) => OlderState::Failed(load_error_text(&error)),
            };
            view.older.set(loaded);
        });
    }

    /// Trims the conversation that was left to its newest page once the new route is on the screen, so that returning
    /// is as fast as opening it.
    pub fn trim_after_leaving(self, route: Route) {
        let Some(id) = route.conversation_id() else { return };
        browser::on_next_frame(move || {
            if self.navigation.chat_route().get_untracked() == route {
                return;
            }
            self.leave_place(id);
            self.state.with(|state| {
                if state.cache.trim(id) {
                    state.sync(self, id, true);
                }
            });
        });
    }
}
