//! Changes that the user has made and the stream has not confirmed yet. They are shown at once.

use std::borrow::Cow;

use super::ListKind;
use parlor_protocol::{
    ConversationEvent, ConversationId, Event, EventBody, ListChange, ListedConversation, sorted_vec,
};

/// The unconfirmed changes, in their order.
#[derive(Debug, Default)]
pub struct PendingChanges(Vec<(ConversationId, ListChange)>);

impl PendingChanges {
    /// Adds a change of conversations.
    pub fn add(&mut self, ids: &[ConversationId], change: ListChange) {
        self.0.extend(ids.iter().map(|id| (*id, change)));
    }

    /// Forgets the oldest change of this kind of each of these conversations, which no event will confirm.
    pub fn remove(&mut self, ids: &[ConversationId], change: ListChange) {
        for id in ids {
            let first = self.0.iter().position(|pending| *pending == (*id, change));
            if let Some(first) = first {
                self.0.remove(first);
            }
        }
    }

    /// Forgets the change that an event confirms: the first one, as they are sent in their order. None is left of a deleted
    /// conversation.
    pub fn confirm(&mut self, event: &Event) {
        match &event.body {
            EventBody::Conversation(ConversationEvent::ConversationPlaced { .. }) => {
                let first = self.0.iter().position(|(id, _)| *id == event.conversation_id);
                if let Some(first) = first {
                    self.0.remove(first);
                }
            }
            EventBody::Conversation(ConversationEvent::ConversationDeleted) => {
                self.0.retain(|(id, _)| *id != event.conversation_id);
            }
            EventBody::Conversation(_)
            | EventBody::Run(_)
            | EventBody::User(_)
            | EventBody::Placeholder(_) => {}
        }
    }

    /// Forgets all changes.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the conversations as they will be.
    pub fn applied_to<'a>(
        &self,
        listed: &'a [ListedConversation],
        kind: ListKind,
    ) -> Cow<'a, [ListedConversation]> {
        if self.0.is_empty() {
            return Cow::Borrowed(listed);
        }
        let is_archive = kind == ListKind::Archive;
        let mut changed = Vec::with_capacity(listed.len());
        for conversation in listed {
            let mut conversation = conversation.clone();
            let mut is_listed = true;
            for (_, change) in self.0.iter().filter(|(id, _)| *id == conversation.id) {
                match change {
                    // Nothing is both.
                    ListChange::Pin => {
                        conversation.pinned = true;
                        is_listed = !is_archive;
                    }
                    ListChange::Unpin => conversation.pinned = false,
                    ListChange::Archive => {
                        conversation.pinned = false;
                        is_listed = is_archive;
                    }
                    ListChange::Unarchive => is_listed = !is_archive,
                    ListChange::Delete => is_listed = false,
                    ListChange::MarkRead => conversation.unseen = false,
                    ListChange::Move { project_id } => {
                        conversation.project_id = *project_id;
                        is_listed &= match kind {
                            ListKind::Project(here) => here == *project_id,
                            ListKind::Chats | ListKind::Archive => true,
                        };
                    }
                    ListChange::Keep => conversation.temporary = false,
                    ListChange::Restore => {}
                }
            }
            if is_listed {
                sorted_vec::insert_sorted(&mut changed, conversation, ListedConversation::order);
            }
        }
        Cow::Owned(changed)
    }
}

#[cfg(test)]
mod tests;
