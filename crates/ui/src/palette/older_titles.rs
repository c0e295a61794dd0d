//! The titles of the conversations that the list in the sidebar has not loaded.

use leptos::{prelude::*, task::spawn_local};

use crate::state::use_conversation_list;
use parlor_protocol::{ConversationId, ListedConversation};

/// The state of the search in older conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OlderSearch {
    /// Not begun, or complete.
    Idle,
    Loading,
    Failed,
}

/// The titles loaded so far. They are loaded once, when something is searched, and live as long as the open palette.
#[derive(Clone, Copy)]
pub struct OlderTitles {
    titles: RwSignal<Vec<(ConversationId, String)>>,
    search: RwSignal<OlderSearch>,
    is_begun: StoredValue<bool>,
}

impl OlderTitles {
    /// Loads nothing yet.
    pub fn new() -> Self {
        Self {
            titles: RwSignal::default(),
            search: RwSignal::new(OlderSearch::Idle),
            is_begun: StoredValue::new(false),
        }
    }

    /// Reads the titles, the recent ones first. Tracked.
    pub fn with<T>(self, read: impl FnOnce(&[(ConversationId, String)]) -> T) -> T {
        self.titles.with(|titles| read(titles))
    }

    /// The state of the search. Tracked.
    pub fn search(self) -> OlderSearch {
        self.search.get()
    }

    /// Loads page after page, once.
    pub fn load(self) {
        let list = use_conversation_list();
        if self.is_begun.get_value() {
            return;
        }
        self.is_begun.set_value(true);
        let mut cursor = list.next_cursor();
        spawn_local(async move {
            while let Some(from) = cursor {
                // The palette may be closed by now.
                if self.search.try_set(OlderSearch::Loading).is_some() {
                    return;
                }
                let Ok(page) = list.load_page_from(from).await else {
                    self.search.try_set(OlderSearch::Failed);
                    return;
                };
                cursor = page.next_cursor();
                let title = |listed: ListedConversation| (listed.id, listed.title);
                let more = page.conversations.into_iter().map(title);
                self.titles.try_update(|titles| titles.extend(more));
            }
            self.search.try_set(OlderSearch::Idle);
        });
    }
}
