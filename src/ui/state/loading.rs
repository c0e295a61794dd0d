//! Loading of snapshots: conversations and pages of the list.

use leptos::{prelude::*, task::spawn_local};

use super::{ConversationPhase, ListError, Live, OlderState};
use crate::{
    api::rpc,
    protocol::ApiError,
    protocol::ConversationId,
    protocol::ErrorCode,
    protocol::Transcript,
    ui::{browser, runtime::backoff::backoff_ms, state::route::Route},
};

impl Live {
    /// Loads what the route shows, if it is not loaded yet.
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
        let load = self.with_state(|state| {
            if state.stale.contains(&id) {
                state.stale.retain(|stale| *stale != id);
                state.dirty.mark_conversation(id);
            }
            let load = state.replica.transcripts.open(id);
            let dropped = state.replica.transcripts.evict(Some(id));
            state.views.retain(|view| !dropped.contains(&view.id));
            load
        });
        self.flush();
        if load {
            self.load_conversation(id);
        }
        let older = self.view(id).older;
        if older.with_untracked(|older| matches!(older, OlderState::Failed(_))) {
            self.load_older(id);
        }
    }

    pub(super) fn load_conversation(self, id: ConversationId) {
        let view = self.view(id);
        if view
            .phase
            .with_untracked(|phase| *phase != ConversationPhase::Ready)
        {
            view.phase.set(ConversationPhase::Loading);
        }
        // Content on the screen stays.
        let (first_message, known) =
            self.with_state(|state| (state.replica.transcripts.first_shown(id), state.known_intents(id)));
        spawn_local(async move {
            match self.call(rpc::conversation(id, first_message)).await {
                Ok(snapshot) => {
                    let change = self.with_state(|state| {
                        let change = state.replica.apply_snapshot(snapshot);
                        if state.replica.transcripts.get(id).is_some() {
                            state.forget_intents(&known);
                        }
                        change
                    });
                    self.apply_changes(change);
                    // The user is waiting to see it: no wait for the next frame.
                    self.flush();
                }
                Err(error) => {
                    self.with_state(|state| state.replica.transcripts.fail_snapshot(id));
                    self.fail_load(id, &error);
                }
            }
        });
    }

    pub(super) fn fail_load(self, id: ConversationId, error: &ApiError) {
        let view = self.view(id);
        let ready = view
            .phase
            .with_untracked(|phase| *phase == ConversationPhase::Ready);
        if error.code == ErrorCode::NotFound {
            match self.with_state(|state| state.outbox.provisional_transcript(Route::Conversation(id))) {
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
        let behind = self.with_state(|state| {
            let view = state.find_view(id);
            view.is_some_and(|view| view.failed_syncs.get_untracked() > 0)
                && state.replica.transcripts.open(id)
        });
        if behind {
            self.load_conversation(id);
        }
    }

    /// Shows a conversation whose first message is being sent: the server does not know it yet.
    pub(super) fn show_provisional(self, begun: Transcript) {
        let id = begun.conversation_id;
        self.with_state(|state| {
            if state.replica.transcripts.get(id).is_none() {
                state.replica.transcripts.insert(begun);
            }
            state.dirty.mark_conversation(id);
        });
        self.flush();
    }

    /// Loads a page of the list: the newest again, or the next older one.
    pub(super) fn load_list(self, newest: bool) {
        let (asked, cursor) = self.with_state(|state| {
            let listing = &mut state.replica.list_cache;
            (listing.begin_page(), listing.cursor().filter(|_| !newest))
        });
        spawn_local(async move {
            let page = self.call(rpc::conversations(cursor)).await;
            let list_error = self.with_state(|state| {
                state.dirty.is_list_dirty = true;
                match page {
                    Ok(page) => {
                        state.replica.list_cache.apply_page(asked, page, newest);
                        None
                    }
                    Err(error) => {
                        state.replica.list_cache.fail_page(asked);
                        Some(ListError {
                            is_newest: newest,
                            message: load_error_text(&error),
                        })
                    }
                }
            });
            self.list_error.set(list_error);
            self.is_loading_more.set(false);
            self.flush();
        });
    }
}

/// The text for a failed load. Loading changes nothing, so the text need not say what was done.
pub(super) fn load_error_text(error: &ApiError) -> String {
    match error.code {
        ErrorCode::Unreachable => "The server can’t be reached.".into(),
        _ => error.message.clone(),
    }
}
