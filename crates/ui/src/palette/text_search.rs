//! What the server finds in texts while one types.

use leptos::{prelude::*, task::spawn_local};

use crate::state::use_conversations;
use parlor_protocol::{ConversationId, search::SearchHit};

/// The state of the search in texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchState {
    /// Nothing is searched, or all that was found is shown.
    Idle,
    Loading,
    Failed,
}

/// The hits of the newest query that was answered. One request is under way at a time; what was typed meanwhile is searched
/// after it, and its answer is dropped.
#[derive(Clone, Copy)]
pub struct TextSearch {
    hits: RwSignal<Vec<SearchHit>>,
    state: RwSignal<SearchState>,
    /// The percentage of older data that is searched, if not all is.
    indexed_percent: RwSignal<Option<u8>>,
    wanted: StoredValue<String>,
    is_running: StoredValue<bool>,
    /// The only conversation that is searched.
    conversation_id: Option<ConversationId>,
}

impl TextSearch {
    /// Searches nothing yet.
    pub fn new(conversation_id: Option<ConversationId>) -> Self {
        Self {
            hits: RwSignal::default(),
            state: RwSignal::new(SearchState::Idle),
            indexed_percent: RwSignal::new(None),
            wanted: StoredValue::default(),
            is_running: StoredValue::new(false),
            conversation_id,
        }
    }

    /// Reads the hits. Tracked.
    pub fn with<T>(self, read: impl FnOnce(&[SearchHit]) -> T) -> T {
        self.hits.with(|hits| read(hits))
    }

    /// Returns true if only one conversation is searched.
    pub fn is_in_one_chat(self) -> bool {
        self.conversation_id.is_some()
    }

    /// The state of the search. Tracked.
    pub fn state(self) -> SearchState {
        self.state.get()
    }

    /// The percentage of older data that is searched, if not all is. Tracked.
    pub fn indexed_percent(self) -> Option<u8> {
        self.indexed_percent.get()
    }

    /// Searches the last query again.
    pub fn retry(self) {
        self.search(self.wanted.get_value());
    }

    /// Searches what was typed.
    pub fn search(self, query: String) {
        let is_empty = query.trim().is_empty();
        self.wanted.set_value(query);
        if is_empty {
            self.hits.set(Vec::new());
            self.state.set(SearchState::Idle);
            return;
        }
        self.state.set(SearchState::Loading);
        if self.is_running.get_value() {
            return;
        }
        self.is_running.set_value(true);
        let conversations = use_conversations();
        spawn_local(async move {
            // The palette may be closed by now.
            while let Some(query) = self
                .wanted
                .try_get_value()
                .filter(|query| !query.trim().is_empty())
            {
                let found = conversations.search(query.clone(), self.conversation_id).await;
                if self.wanted.try_get_value().as_ref() != Some(&query) {
                    continue;
                }
                let state = match found {
                    Ok(found) => {
                        self.hits.try_set(found.hits);
                        self.indexed_percent.try_set(found.indexed_percent);
                        SearchState::Idle
                    }
                    Err(_) => {
                        self.hits.try_set(Vec::new());
                        SearchState::Failed
                    }
                };
                self.state.try_set(state);
                break;
            }
            self.is_running.try_set_value(false);
        });
    }
}
