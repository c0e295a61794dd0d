//! The list of conversations, and the reducer that keeps it true.

use serde::{Deserialize, Serialize};

use super::{ConversationId, Event, EventBody, MessageId, Position, Timestamp, flat_json::Fields};

/// A conversation as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ConversationSummary {
    pub id: ConversationId,
    pub title: String,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// Where in the log that stands: the list's order. Unlike times, positions never tie.
    pub activity: Position,
    /// The run that works on it now.
    pub active_run: Option<MessageId>,
    /// Whether that run waits for a person.
    pub waiting: bool,
    /// Whether a run has ended in it, other than by a person's stop, or waits for a person, and nobody has opened it since.
    pub unseen: bool,
}

/// The newest part of a user's list of conversations, as it stood at a position of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ConversationList {
    /// Every event up to here is in this state; [`apply`] skips them.
    pub as_of: Position,
    /// Newest activity first.
    pub conversations: Vec<ConversationSummary>,
    /// Whether there are older conversations than the last one here.
    pub has_more: bool,
}

/// Where the next page of the list begins: before this activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListCursor {
    pub activity: Position,
}

impl ConversationList {
    /// Where the next page begins, if there is one.
    pub fn next_cursor(&self) -> Option<ListCursor> {
        let last = self.conversations.last().filter(|_| self.has_more)?;
        Some(ListCursor {
            activity: last.activity,
        })
    }

    /// Adds an older page. What moved up since the page was asked for is there already and stays.
    pub fn append_page(&mut self, page: ConversationList) {
        for older in page.conversations {
            if self.get(older.id).is_none() {
                self.conversations.push(older);
            }
        }
        self.has_more = page.has_more;
    }

    /// The conversation with this id, if it is in the part of the list that is loaded.
    pub fn get(&self, id: ConversationId) -> Option<&ConversationSummary> {
        self.conversations
            .iter()
            .find(|conversation| conversation.id == id)
    }

    fn update(&mut self, id: ConversationId, change: impl FnOnce(&mut ConversationSummary)) -> bool {
        self.conversations
            .iter_mut()
            .find(|conversation| conversation.id == id)
            .map(change)
            .is_some()
    }

    /// Puts a conversation where its last activity belongs: at the top.
    fn move_to_top(&mut self, id: ConversationId, activity: Position, at: Timestamp) -> bool {
        let Some(index) = self
            .conversations
            .iter()
            .position(|conversation| conversation.id == id)
        else {
            return false;
        };
        let mut conversation = self.conversations.remove(index);
        conversation.updated_at = at;
        conversation.activity = activity;
        self.conversations.insert(0, conversation);
        true
    }
}

/// What the reducer could make of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListUpdate {
    /// The list is as it was.
    Unchanged,
    Changed,
    /// Something happened in a conversation that is not in the loaded part of the list: it belongs at the
    /// top now, and its summary has to be asked for.
    UnknownConversation(ConversationId),
}

/// Applies one event of the list's user.
pub fn apply(list: &mut ConversationList, event: &Event) -> ListUpdate {
    if event.position <= list.as_of {
        return ListUpdate::Unchanged;
    }
    list.as_of = event.position;
    let id = event.conversation_id;
    let known = match &event.body {
        EventBody::ConversationCreated { title, created_at } => {
            if list.get(id).is_none() {
                let (title, updated_at) = (title.clone(), *created_at);
                list.conversations.insert(
                    0,
                    ConversationSummary {
                        id,
                        title,
                        updated_at,
                        activity: event.position,
                        active_run: None,
                        waiting: false,
                        unseen: false,
                    },
                );
            }
            true
        }
        EventBody::ConversationRenamed { title } => {
            // A title far down the list is loaded with its page.
            return update_if(list.update(id, |conversation| conversation.title.clone_from(title)));
        }
        EventBody::ConversationDeleted => {
            let before = list.conversations.len();
            list.conversations.retain(|conversation| conversation.id != id);
            return update_if(list.conversations.len() != before);
        }
        EventBody::UserMessageSaved { created_at, .. } => list.move_to_top(id, event.position, *created_at),
        EventBody::RunStarted { created_at, .. } | EventBody::RunContinued { created_at } => {
            let run = event.message_id;
            list.move_to_top(id, event.position, *created_at)
                && list.update(id, |conversation| {
                    conversation.active_run = run;
                    conversation.waiting = false;
                    conversation.unseen = false;
                })
        }
        EventBody::ConversationRead => {
            return update_if(list.update(id, |conversation| conversation.unseen = false));
        }
        EventBody::Waiting { .. } => {
            return update_if(list.update(id, |conversation| {
                conversation.waiting = true;
                conversation.unseen = true;
            }));
        }
        EventBody::ApprovalAnswered { .. } => {
            return update_if(list.update(id, |conversation| conversation.waiting = false));
        }
        body if let Some(status) = body.terminal_status() => {
            return update_if(list.update(id, |conversation| {
                conversation.active_run = None;
                conversation.waiting = false;
                conversation.unseen = status.is_notifiable();
            }));
        }
        _ => return ListUpdate::Unchanged,
    };
    if known {
        ListUpdate::Changed
    } else {
        ListUpdate::UnknownConversation(id)
    }
}

fn update_if(changed: bool) -> ListUpdate {
    if changed {
        ListUpdate::Changed
    } else {
        ListUpdate::Unchanged
    }
}
