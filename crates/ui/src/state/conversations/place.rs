//! A place in a conversation that was found by a search: the conversation is loaded back to its message, which is shown with the
//! found words marked.

use leptos::prelude::*;

use super::OpenConversations;
use crate::{api::rpc, state::route::Route};
use parlor_protocol::{ApiError, ConversationId, MessageId, search::SearchHits};

/// The number of requests after which a message that is still not shown is given up: its conversation, its branch, and the
/// conversation again.
const MAX_REQUESTS: u8 = 3;

/// A place that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlace {
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    /// The found words, as they are written there.
    pub words: Vec<String>,
    requests: u8,
}

impl FoundPlace {
    /// A place that is not looked for yet.
    pub fn new(conversation_id: ConversationId, message_id: MessageId, words: Vec<String>) -> Self {
        Self {
            conversation_id,
            message_id,
            words,
            requests: 0,
        }
    }
}

impl OpenConversations {
    /// Searches everything that the user has, or one conversation.
    pub fn search(
        self,
        query: String,
        conversation_id: Option<ConversationId>,
    ) -> impl Future<Output = Result<SearchHits, ApiError>> {
        self.connection.call(rpc::search(query, conversation_id))
    }

    /// Opens a conversation at a place.
    pub fn open_at(self, place: FoundPlace) {
        let id = place.conversation_id;
        self.place.set(Some(place));
        if self.navigation.shown_conversation() != Some(id) {
            self.navigation.set_url(Route::Conversation(id).path(), false);
        }
        self.reach_place(id);
    }

    /// The place in a conversation that is to be shown. Tracked.
    pub fn place(self, id: ConversationId) -> Option<FoundPlace> {
        self.place
            .with(|place| place.clone().filter(|place| place.conversation_id == id))
    }

    /// The message that the next snapshot of a conversation has to reach, if the place is not loaded.
    pub(super) fn place_to_reach(self, id: ConversationId) -> Option<MessageId> {
        let place = untrack(|| self.place(id))?;
        let is_loaded = self.with_transcript(id, |transcript| transcript.has_message(place.message_id));
        (!is_loaded.unwrap_or_default()).then_some(place.message_id)
    }

    /// Requests what is missing until the place is shown.
    pub(super) fn reach_place(self, id: ConversationId) {
        let Some(place) = untrack(|| self.place(id)) else {
            return;
        };
        let is_shown = self.with_transcript(id, |transcript| {
            let branch = transcript.shown_branch();
            branch.iter().any(|message| message.id == place.message_id)
        });
        // Without a transcript, it is being loaded.
        if is_shown != Some(false) || place.requests >= MAX_REQUESTS {
            return;
        }
        self.place.update_untracked(|place| {
            if let Some(place) = place {
                place.requests += 1;
            }
        });
        let is_loaded = self.place_to_reach(id).is_none();
        let cursor = self.connection.cursor();
        if is_loaded || place.requests > 0 {
            // It is on another branch.
            self.select_sibling(id, place.message_id);
        } else if self.state.with(|state| state.cache.begin_reload(id, cursor)) {
            self.load_conversation(id);
        }
    }
}
