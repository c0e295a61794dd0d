//! The older messages of a conversation: put before what is here page by page, and let go of when nobody looks.

use leptos::{prelude::*, task::spawn_local};

use super::{Live, loading::why};
use crate::{
    api::rpc,
    protocol::ConversationId,
    ui::{browser, place::Place},
};

/// Where the loading of older messages stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Older {
    #[default]
    Idle,
    Loading,
    /// It failed: the words for the person. It is tried again when they ask for it, or when the connection is back.
    Failed(String),
}

impl Live {
    /// The person comes near to the first message that is here: what is before it is loaded. After a failure that is up
    /// to them.
    pub fn is_near_start(self, id: ConversationId) {
        if self.has_taken_over() && self.view(id).older.with_untracked(|older| *older == Older::Idle) {
            self.load_older(id);
        }
    }

    /// Loads the page of messages before the first that is here.
    pub fn load_older(self, id: ConversationId) {
        let view = self.view(id);
        let before = self
            .with_transcript(id, |transcript| transcript.earliest)
            .flatten();
        let Some(before) = before else { return };
        if view.older.with_untracked(|older| *older == Older::Loading) {
            return;
        }
        view.older.set(Older::Loading);
        spawn_local(async move {
            let loaded = match self.ask(rpc::older_messages(id, before)).await {
                Ok(older) => {
                    let change = self.with(|state| state.session.prepend(id, older));
                    self.changed(change);
                    self.flush();
                    Older::Idle
                }
                Err(error) => Older::Failed(why(&error)),
            };
            view.older.set(loaded);
        });
    }

    /// The person has gone elsewhere: once that is on the screen, a conversation is cut down to its newest page, so that
    /// coming back is as fast as opening it.
    pub fn leave(self, place: Place) {
        let Some(id) = place.conversation() else { return };
        browser::next_frame(move || {
            if self.place.get_untracked() == place {
                return;
            }
            let settled = self.with(|state| {
                let trimmed = state.session.shelf.trim(id);
                trimmed.then(|| state.sync(id, Some(id))).flatten()
            });
            if let Some(settled) = settled {
                self.settled(settled);
            }
        });
    }
}
