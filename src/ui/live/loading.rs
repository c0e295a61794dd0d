//! Loading snapshots: conversations and pages of the list.

use leptos::{prelude::*, task::spawn_local};

use super::{ListTrouble, Live, Older, Phase};
use crate::{
    api::rpc,
    protocol::{ApiError, ConversationId, ErrorCode, Transcript},
    ui::{backoff::backoff, browser, place::Place},
};

impl Live {
    /// The person is at a place: what it shows is loaded if it is not here.
    pub fn visit(self, place: Place) {
        let Some(id) = place.conversation() else { return };
        // What is deleted does not come back.
        if self
            .view(id)
            .phase
            .with_untracked(|phase| *phase == Phase::Missing)
        {
            return;
        }
        let load = self.with(|state| {
            if state.stale.contains(&id) {
                state.stale.retain(|stale| *stale != id);
                state.dirty.conversation(id);
            }
            let load = state.session.shelf.open(id);
            let dropped = state.session.shelf.evict(Some(id));
            state.views.retain(|view| !dropped.contains(&view.id));
            load
        });
        self.flush();
        if load {
            self.load(id);
        }
        let older = self.view(id).older;
        if older.with_untracked(|older| matches!(older, Older::Failed(_))) {
            self.load_older(id);
        }
    }

    pub(super) fn load(self, id: ConversationId) {
        let view = self.view(id);
        if view.phase.with_untracked(|phase| *phase != Phase::Ready) {
            view.phase.set(Phase::Loading);
        }
        // What is on the screen stays there.
        let (reach, known) = self.with(|state| (state.session.shelf.reach(id), state.known(id)));
        spawn_local(async move {
            match self.ask(rpc::conversation(id, reach)).await {
                Ok(snapshot) => {
                    let change = self.with(|state| {
                        let change = state.session.loaded(snapshot);
                        if state.session.shelf.get(id).is_some() {
                            state.forget(&known);
                        }
                        change
                    });
                    self.changed(change);
                    // Someone is waiting to see it.
                    self.flush();
                }
                Err(error) => {
                    self.with(|state| state.session.shelf.failed(id));
                    self.could_not_load(id, &error);
                }
            }
        });
    }

    pub(super) fn could_not_load(self, id: ConversationId, error: &ApiError) {
        let view = self.view(id);
        let ready = view.phase.with_untracked(|phase| *phase == Phase::Ready);
        if error.code == ErrorCode::NotFound {
            match self.with(|state| state.outbox.begun(Place::Conversation(id))) {
                Some(begun) => self.show_begun(begun),
                None => view.phase.set(Phase::Missing),
            }
        } else if ready {
            // What is on the screen stays there, and says that there may be more.
            let failures = view.behind.get_untracked() + 1;
            view.behind.set(failures);
            browser::after(backoff(failures), move || self.load_again(id)).forget();
        } else {
            view.phase.set(Phase::Failed(why(error)));
        }
    }

    /// Tries once more to bring what is on the screen up to date.
    fn load_again(self, id: ConversationId) {
        let behind = self.with(|state| {
            let view = state.known_view(id);
            view.is_some_and(|view| view.behind.get_untracked() > 0) && state.session.shelf.open(id)
        });
        if behind {
            self.load(id);
        }
    }

    /// Shows a conversation that begins with a message on its way: the server does not know it yet.
    pub(super) fn show_begun(self, begun: Transcript) {
        let id = begun.conversation_id;
        self.with(|state| {
            if state.session.shelf.get(id).is_none() {
                state.session.shelf.put(begun);
            }
            state.dirty.conversation(id);
        });
        self.flush();
    }

    /// Loads a page of the list: the newest once more, or the next older one.
    pub(super) fn load_list(self, newest: bool) {
        let (asked, cursor) = self.with(|state| {
            let listing = &mut state.session.listing;
            (listing.ask(), listing.cursor().filter(|_| !newest))
        });
        spawn_local(async move {
            let page = self.ask(rpc::conversations(cursor)).await;
            let trouble = self.with(|state| {
                state.dirty.list = true;
                match page {
                    Ok(page) => {
                        state.session.listing.page(asked, page, newest);
                        None
                    }
                    Err(error) => {
                        state.session.listing.no_page(asked);
                        Some(ListTrouble {
                            newest,
                            message: why(&error),
                        })
                    }
                }
            });
            self.list_trouble.set(trouble);
            self.loading_more.set(false);
            self.flush();
        });
    }
}

/// Why something could not be loaded. Nothing was to be done, so nothing need be said of what was.
pub(super) fn why(error: &ApiError) -> String {
    match error.code {
        ErrorCode::Unreachable => "The server can’t be reached.".into(),
        _ => error.message.clone(),
    }
}
