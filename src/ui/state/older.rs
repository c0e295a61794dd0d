//! The older messages of a conversation: loaded page by page before the first loaded message, and trimmed when the
//! conversation is left.

use leptos::{prelude::*, task::spawn_local};

use super::{Live, loading::load_error_text};
use crate::{
    api::rpc,
    protocol::ConversationId,
    ui::{browser, state::route::Route},
};

/// The loading state of older messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OlderState {
    #[default]
    Idle,
    Loading,
    /// Loading failed: the text for the user. It is retried on request, or when the connection is back.
    Failed(String),
}

impl Live {
    /// Loads older messages when the user scrolls near the first loaded one. After a failure only a request of the
    /// person does.
    pub fn load_older_near_start(self, id: ConversationId) {
        if self.is_hydrated()
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
            let loaded = match self.call(rpc::older_messages(id, before)).await {
                Ok(older) => {
                    let change = self.with_state(|state| state.replica.prepend(id, older));
                    self.apply_changes(change);
                    self.flush();
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
            if self.chat_route.get_untracked() == route {
                return;
            }
            let settled = self.with_state(|state| {
                let trimmed = state.replica.transcripts.trim(id);
                trimmed.then(|| state.sync(id, Some(id))).flatten()
            });
            if let Some(settled) = settled {
                self.apply_outbox_update(settled);
            }
        });
    }
}
