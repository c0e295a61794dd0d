//! What the server finds in texts while one types.

use leptos::{prelude::*, task::spawn_local};

use crate::state::{FoundPlace, FoundPlaces, OpenConversations, use_conversations};
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
    /// Their query.
    answered: StoredValue<String>,
    state: RwSignal<SearchState>,
    /// The cursor of further hits.
    next: RwSignal<Option<String>>,
    /// The percentage of older data that is searched, if not all is.
    indexed_percent: RwSignal<Option<u8>>,
    wanted: StoredValue<Wanted>,
    is_running: StoredValue<bool>,
    conversations: OpenConversations,
    /// The only conversation that is searched.
    conversation_id: Option<ConversationId>,
}

/// The hits that are wanted: the first of a query, or those after a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted {
    query: String,
    cursor: Option<String>,
}

impl TextSearch {
    /// Searches nothing yet.
    pub fn new(conversation_id: Option<ConversationId>) -> Self {
        Self {
            hits: RwSignal::default(),
            answered: StoredValue::default(),
            state: RwSignal::new(SearchState::Idle),
            next: RwSignal::new(None),
            indexed_percent: RwSignal::new(None),
            wanted: StoredValue::default(),
            is_running: StoredValue::new(false),
            conversations: use_conversations(),
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

    /// Returns true if there are further hits. Tracked.
    pub fn has_more(self) -> bool {
        self.next.with(Option::is_some)
    }

    /// The percentage of older data that is searched, if not all is. Tracked.
    pub fn indexed_percent(self) -> Option<u8> {
        self.indexed_percent.get()
    }

    /// Searches what was typed.
    pub fn search(self, query: String) {
        let is_empty = query.trim().is_empty();
        self.wanted.set_value(Wanted { query, cursor: None });
        if is_empty {
            self.hits.set(Vec::new());
            self.next.set(None);
            self.state.set(SearchState::Idle);
            return;
        }
        self.load();
    }

    /// Hands the places of all hits to the conversation that is searched, of which one was opened.
    pub fn keep_places(self, opened: &FoundPlace) {
        let (query, next) = (self.answered.get_value(), self.next.get_untracked());
        let found = self
            .hits
            .with_untracked(|hits| FoundPlaces::of_hits(query, hits, opened, next.is_some()));
        self.conversations.keep_found(opened.conversation_id, found, next);
    }

    /// Adds the next hits.
    pub fn more(self) {
        // A hit of another query has no next one.
        if self.is_running.get_value() {
            return;
        }
        if let Some(cursor) = self.next.get_untracked() {
            self.wanted.update_value(|wanted| wanted.cursor = Some(cursor));
            self.load();
        }
    }

    /// Loads what is wanted, after a failure or for the first time.
    pub fn load(self) {
        self.state.set(SearchState::Loading);
        if self.is_running.get_value() {
            return;
        }
        self.is_running.set_value(true);
        spawn_local(async move {
            // The palette may be closed by now.
            while let Some(wanted) = self
                .wanted
                .try_get_value()
                .filter(|wanted| !wanted.query.trim().is_empty())
            {
                let Wanted { query, cursor } = wanted.clone();
                let is_first = cursor.is_none();
                let found = self
                    .conversations
                    .search(query, self.conversation_id, cursor, None)
                    .await;
                if self.wanted.try_get_value().as_ref() != Some(&wanted) {
                    continue;
                }
                let state = match found {
                    Ok(found) => {
                        self.answered.try_set_value(wanted.query);
                        self.hits.try_update(|hits| match is_first {
                            true => *hits = found.hits,
                            false => hits.extend(found.hits),
                        });
                        self.next.try_set(found.next);
                        self.indexed_percent.try_set(found.indexed_percent);
                        SearchState::Idle
                    }
                    Err(_) => {
                        if is_first {
                            self.hits.try_set(Vec::new());
                            self.next.try_set(None);
                        }
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
