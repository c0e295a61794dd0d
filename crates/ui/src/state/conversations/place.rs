//! A place in a conversation that was found by a search: the conversation is loaded back to its message, which is shown with the
//! found words marked.

use leptos::{prelude::*, task::spawn_local};

use super::OpenConversations;
use crate::{api::rpc, browser, state::route::Route};
use parlor_protocol::{
    ApiError, ConversationId, MessageId,
    search::{SearchHit, SearchHits, Snippet},
};

/// The number of requests after which a message that is still not shown is given up: its conversation, its branch, and the
/// conversation again.
const MAX_REQUESTS: u8 = 3;

/// The number of hits that are requested when one of a conversation is opened: the most that the server returns.
const FURTHER_HITS: usize = 100;

/// A place that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlace {
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    /// The number of the call whose result has the words.
    pub tool_call: Option<usize>,
    /// The found words, as they are written there.
    pub words: Vec<String>,
    requests: u8,
}

impl FoundPlace {
    /// The place of a hit, not looked for yet. `None` for what is in no message.
    pub fn of_hit(hit: &SearchHit) -> Option<Self> {
        let Snippet { text, marks } = &hit.snippet;
        let mut words: Vec<String> = marks
            .iter()
            .filter_map(|(start, end)| text.get(*start..*end).map(str::to_owned))
            .collect();
        words.dedup();
        Some(Self {
            conversation_id: hit.conversation_id?,
            message_id: hit.message_id?,
            tool_call: hit.tool_call,
            words,
            requests: 0,
        })
    }

    fn key(&self) -> (MessageId, Option<usize>) {
        (self.message_id, self.tool_call)
    }
}

/// The places that were found in one conversation, in the order of its messages. One of them is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlaces {
    query: String,
    places: Vec<FoundPlace>,
    /// The index of the one that is shown.
    pub shown: usize,
    /// True if there are more than these.
    pub has_more: bool,
}

impl FoundPlaces {
    /// The places of the hits of a query.
    pub fn of_hits(query: String, hits: &[SearchHit], shown: &FoundPlace, has_more: bool) -> Self {
        let mut found = Self {
            query,
            places: Vec::new(),
            shown: 0,
            has_more,
        };
        found.add(hits);
        found.show(shown);
        found
    }

    /// Adds the places of hits in the order of the messages. A message, or a call in it, is one place.
    fn add(&mut self, hits: &[SearchHit]) {
        let shown = self.places.get(self.shown).cloned();
        self.places.extend(hits.iter().filter_map(FoundPlace::of_hit));
        // The ids of messages are in the order of their times.
        self.places.sort_by_key(FoundPlace::key);
        self.places.dedup_by_key(|place| place.key());
        if let Some(shown) = shown {
            self.show(&shown);
        }
    }

    fn show(&mut self, shown: &FoundPlace) {
        let index = self.places.iter().position(|place| place.key() == shown.key());
        self.shown = index.unwrap_or_default();
    }

    /// The number of places.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    fn is_of(&self, id: ConversationId) -> bool {
        self.places
            .first()
            .is_some_and(|place| place.conversation_id == id)
    }
}

impl OpenConversations {
    /// Searches everything that the user has, or one conversation: the first hits, or those after a cursor.
    pub fn search(
        self,
        query: String,
        conversation_id: Option<ConversationId>,
        cursor: Option<String>,
        limit: Option<usize>,
    ) -> impl Future<Output = Result<SearchHits, ApiError>> {
        self.connection
            .call(rpc::search(query, conversation_id, cursor, limit))
    }

    /// Opens a conversation at a place.
    pub fn open_at(self, place: FoundPlace) {
        self.found.set(None);
        self.show_place(place);
    }

    fn show_place(self, place: FoundPlace) {
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

    /// Keeps what was found with the place that was opened, so that the user can go from one to the next. Adds the hits after a
    /// cursor.
    pub fn keep_found(self, id: ConversationId, found: FoundPlaces, cursor: Option<String>) {
        let query = found.query.clone();
        self.found.set(Some(found));
        let Some(cursor) = cursor else { return };
        spawn_local(async move {
            let further = self.search(query.clone(), Some(id), Some(cursor), Some(FURTHER_HITS));
            // Without an answer, the number of places says that there are more.
            let Ok(hits) = further.await else { return };
            self.found.try_update(|found| {
                let found = found
                    .as_mut()
                    .filter(|found| found.is_of(id) && found.query == query);
                if let Some(found) = found {
                    found.has_more = hits.next.is_some();
                    found.add(&hits.hits);
                }
            });
        });
    }

    /// The places that were found in a conversation. `None` if there is nothing to step to. Tracked.
    pub fn found(self, id: ConversationId) -> Option<FoundPlaces> {
        let found = self.found.get()?;
        (found.is_of(id) && found.count() > 1).then_some(found)
    }

    /// Opens the place after the one that is shown, or the one before it, around the ends.
    pub fn step_found(self, id: ConversationId, is_forward: bool) {
        let Some(mut found) = untrack(|| self.found(id)) else {
            return;
        };
        let step = if is_forward { 1 } else { found.count() - 1 };
        found.shown = (found.shown + step) % found.count();
        if let Some(place) = found.places.get(found.shown).cloned() {
            self.found.set(Some(found));
            self.show_place(place);
        }
    }

    /// Forgets the place in a conversation that was left, or whose search was ended.
    pub fn leave_place(self, id: ConversationId) {
        if self
            .found
            .with_untracked(|found| found.as_ref().is_some_and(|found| found.is_of(id)))
        {
            self.found.set(None);
        }
        if untrack(|| self.place(id)).is_some() {
            self.place.set(None);
            browser::clear_found_marks();
        }
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
        let is_loaded = self.place_to_reach(id).is_none();
        let cursor = self.connection.cursor();
        if is_loaded || place.requests > 0 {
            // It is on another branch.
            self.select_sibling(id, place.message_id);
        } else if self.state.with(|state| state.cache.begin_reload(id, cursor)) {
            self.load_conversation(id);
        } else {
            // What is being loaded was requested for another place.
            return;
        }
        self.place.update_untracked(|place| {
            if let Some(place) = place {
                place.requests += 1;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{Timestamp, search::HitKind};

    fn hit(conversation_id: ConversationId, message_id: Option<MessageId>, call: Option<usize>) -> SearchHit {
        SearchHit {
            kind: HitKind::Answer,
            conversation_id: Some(conversation_id),
            project_id: None,
            title: String::new(),
            message_id,
            tool_call: call,
            file_id: None,
            file_name: None,
            pmid: None,
            created_at: Timestamp(0),
            snippet: Snippet {
                text: "a word".into(),
                marks: vec![(2, 6)],
            },
        }
    }

    #[test]
    fn each_place_is_one_in_the_order_of_messages() {
        let id = ConversationId::new();
        let [first, second] = [MessageId::new(), MessageId::new()];
        let of = |message, call| hit(id, Some(message), call);
        // A title has no place. A message and its file are the same.
        let hits = [
            hit(id, None, None),
            of(second, Some(1)),
            of(second, None),
            of(first, None),
            of(first, None),
        ];
        let shown = FoundPlace::of_hit(&hits[2]).expect("it is in a message");
        assert_eq!(shown.words, ["word"]);
        let mut found = FoundPlaces::of_hits("word".into(), &hits[2..], &shown, true);
        assert_eq!((found.shown, found.count()), (1, 2));
        found.add(&hits);
        let order: Vec<_> = found
            .places
            .iter()
            .map(|place| (place.message_id, place.tool_call))
            .collect();
        assert_eq!(order, [(first, None), (second, None), (second, Some(1))]);
        assert_eq!((found.shown, found.count(), found.has_more), (1, 3, true));
    }
}
