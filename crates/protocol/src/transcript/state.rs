//! A conversation's state, and the pages in which it is loaded.
//!
//! Conversations grow without limit, so the state may have only the newest part of the branch that is shown.
//! Older messages are prepended page by page. Other branches are loaded when they are chosen; until then only
//! the ids of their messages are known, for counting the versions.

use serde::{Deserialize, Serialize};

use super::super::{
    AssistantMessage, ConversationId, Message, MessageId, MessageQueue, Parameters, PayloadVerdict, Position,
    Usage, flat_json::Fields, sorted_vec,
};

/// A conversation as it stood at a position of its user's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Transcript {
    pub conversation_id: ConversationId,
    /// The last position that this state includes; [`apply`](super::apply) skips events up to it.
    pub as_of: Position,
    pub title: String,
    /// The model that the next message will be sent to, as `endpoint/model`.
    pub model: Option<String>,
    /// The model's parameters.
    #[serde(default)]
    pub parameters: Parameters,
    /// The messages in the order of creation; a tree through `parent_id`.
    pub messages: Vec<Message>,
    /// The first loaded message of the branch, if the branch begins before it.
    pub earliest: Option<MessageId>,
    /// Other versions of the loaded messages (answers to the same message, or messages after the same answer), and the
    /// messages after [`active_leaf`](Self::active_leaf), which become versions of the next one. Oldest first.
    pub elsewhere: Vec<UnloadedSibling>,
    /// The message at the end of the branch that is shown.
    pub active_leaf: Option<MessageId>,
    /// The user's verdicts on the conversation's payloads.
    #[serde(default)]
    pub verdicts: Vec<PayloadVerdict>,
    /// The messages that wait for the end of the run.
    #[serde(default)]
    pub queue: MessageQueue,
    /// True if the conversation was deleted; it stays empty.
    #[serde(default)]
    pub deleted: bool,
}

/// A message of which only the id is known: its branch is not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct UnloadedSibling {
    pub id: MessageId,
    pub parent_id: Option<MessageId>,
}

/// The part of a branch that leads up to a message. Messages before an answer no longer change, so a page of
/// them needs no position in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct OlderMessages {
    /// The message that follows them.
    pub before: MessageId,
    /// Oldest first.
    pub messages: Vec<Message>,
    /// See [`Transcript::earliest`].
    pub earliest: Option<MessageId>,
    /// See [`Transcript::elsewhere`].
    pub elsewhere: Vec<UnloadedSibling>,
}

impl Transcript {
    /// Creates the state of a conversation without any events.
    pub fn new(conversation_id: ConversationId) -> Self {
        Self {
            conversation_id,
            as_of: Position(0),
            title: String::new(),
            model: None,
            parameters: Parameters::default(),
            messages: Vec::new(),
            earliest: None,
            elsewhere: Vec::new(),
            active_leaf: None,
            verdicts: Vec::new(),
            queue: MessageQueue::default(),
            deleted: false,
        }
    }

    /// The user's verdict on a payload.
    pub fn verdict(&self, payload_id: &str) -> Option<&PayloadVerdict> {
        let mut judged = self.verdicts.iter();
        judged.find(|judged| judged.payload_id == payload_id)
    }

    /// Adds a verdict, unless the payload has one: the first verdict stays.
    pub(super) fn add_verdict(&mut self, judged: PayloadVerdict) {
        if self.verdict(&judged.payload_id).is_none() {
            self.verdicts.push(judged);
        }
    }

    /// The message with this id, if it is loaded.
    pub fn message(&self, id: MessageId) -> Option<&Message> {
        // The requested message is nearly always at the end.
        self.messages.iter().rev().find(|message| message.id == id)
    }

    /// Returns true if a message of the user is loaded or waits in the queue.
    pub fn has_message(&self, id: MessageId) -> bool {
        let mut queued = self.queue.messages.iter();
        queued.any(|queued| queued.id == id) || self.message(id).is_some()
    }

    pub(super) fn assistant_mut(&mut self, id: MessageId) -> Option<&mut AssistantMessage> {
        self.messages
            .iter_mut()
            .rev()
            .find(|message| message.id == id)?
            .assistant_mut()
    }

    /// The messages of the branch that is shown, first to last, as far as they are loaded.
    pub fn shown_branch(&self) -> Vec<&Message> {
        let mut branch = self.ancestors(self.active_leaf);
        branch.reverse();
        branch
    }

    /// A message and its ancestors, last to first.
    fn ancestors(&self, leaf: Option<MessageId>) -> Vec<&Message> {
        let mut branch = Vec::new();
        let mut next = leaf;
        // A parent always stands before its child, so one walk from the end finds them all.
        for message in self.messages.iter().rev() {
            if Some(message.id) == next {
                branch.push(message);
                next = message.parent_id;
            }
        }
        branch
    }

    /// Returns true if all ancestors of a message are loaded or can be loaded page by page.
    pub(super) fn are_ancestors_reachable(&self, leaf: Option<MessageId>) -> bool {
        match self.ancestors(leaf).last() {
            Some(first) => first.parent_id.is_none() || Some(first.id) == self.earliest,
            None => leaf.is_none(),
        }
    }

    /// Removes a message with all that follow it.
    pub(super) fn remove_subtree(&mut self, root: MessageId) {
        let mut removed = vec![root];
        // A parent always stands before its child.
        self.messages.retain(|message| {
            let is_below = message.parent_id.is_some_and(|parent| removed.contains(&parent));
            if is_below {
                removed.push(message.id);
            }
            !is_below && message.id != root
        });
        self.elsewhere.retain(|other| {
            let is_below = other.parent_id.is_some_and(|parent| removed.contains(&parent));
            other.id != root && !is_below
        });
        self.drop_uncounted_siblings();
    }

    /// Drops the unloaded messages that are not versions of loaded ones or of the next message.
    fn drop_uncounted_siblings(&mut self) {
        let (messages, leaf) = (&self.messages, self.active_leaf);
        self.elsewhere.retain(|other| {
            let is_version = messages
                .iter()
                .any(|message| message.parent_id == other.parent_id);
            let follows_leaf = leaf.is_some() && other.parent_id == leaf;
            (is_version || follows_leaf) && messages.iter().all(|message| message.id != other.id)
        });
    }

    /// The versions of a message, itself included, oldest first: the answers to the same message, or the messages
    /// after the same answer.
    pub fn siblings(&self, message: &Message) -> Vec<MessageId> {
        let here = self.messages.iter().map(|other| (other.parent_id, other.id));
        let elsewhere = self.elsewhere.iter().map(|other| (other.parent_id, other.id));
        let mut siblings = Vec::new();
        for (parent_id, id) in here.chain(elsewhere) {
            if parent_id == message.parent_id {
                // The ids begin with the time.
                sorted_vec::insert_sorted(&mut siblings, id, |id| *id);
            }
        }
        siblings
    }

    /// The active run of this conversation.
    pub fn active_run(&self) -> Option<MessageId> {
        self.messages.iter().rev().find_map(|message| {
            message
                .assistant()
                .filter(|assistant| !assistant.status.is_terminal())
                .map(|_| message.id)
        })
    }

    /// The latest usage of the context window by the model of the branch that is shown, as far as it is
    /// loaded.
    pub fn window_usage(&self) -> Option<Usage> {
        let answers = self.ancestors(self.active_leaf);
        let last = answers.into_iter().filter_map(Message::assistant);
        let (usage, model) = last
            .filter_map(|answer| Some((answer.usage?, &answer.model)))
            .next()?;
        // Another model has another window.
        let same = self.model.as_ref().is_none_or(|now| now == model);
        let window = usage.window.filter(|_| same);
        Some(Usage { window, ..usage })
    }

    /// Prepends older messages. A page that was requested twice is added once.
    pub fn prepend(&mut self, older: OlderMessages) {
        if self.earliest != Some(older.before) {
            return;
        }
        self.messages.splice(0..0, older.messages);
        for other in older.elsewhere {
            sorted_vec::insert_sorted(&mut self.elsewhere, other, |other| *other);
        }
        self.earliest = older.earliest;
    }

    /// Drops all messages except the newest `count` of the branch that is shown and the active run, wherever
    /// it is: the content of a page of that length.
    pub fn truncate_to_newest(&mut self, count: usize) {
        let mut kept: Vec<MessageId> = self
            .ancestors(self.active_leaf)
            .iter()
            .map(|message| message.id)
            .collect();
        kept.truncate(count);
        let first = kept.last().copied();
        kept.extend(self.active_run());
        let (kept, dropped): (Vec<_>, Vec<_>) = std::mem::take(&mut self.messages)
            .into_iter()
            .partition(|message| kept.contains(&message.id));
        self.messages = kept;
        for Message { id, parent_id, .. } in dropped {
            let sibling = UnloadedSibling { id, parent_id };
            sorted_vec::insert_sorted(&mut self.elsewhere, sibling, |other| *other);
        }
        self.drop_uncounted_siblings();
        let has_parent = |first: &MessageId| {
            self.message(*first)
                .is_some_and(|first| first.parent_id.is_some())
        };
        self.earliest = first.filter(has_parent);
    }
}
