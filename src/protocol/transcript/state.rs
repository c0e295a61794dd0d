//! A conversation's state, and the pages in which it is loaded.
//!
//! Conversations grow without limit, so the state may have only the newest part of the branch that is shown.
//! Older messages are prepended page by page. Other branches are loaded when they are chosen; until then only
//! the ids of their answers are known, for counting them.

use serde::{Deserialize, Serialize};

use super::super::{
    AssistantMessage, ConversationId, Message, MessageId, Parameters, PayloadVerdict, Position, Usage,
    Verdict, flat_json::Fields, sorted_vec,
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
    /// In the order of creation; a tree through `parent_id`.
    pub messages: Vec<Message>,
    /// The first loaded message of the branch, if the branch begins before it.
    pub earliest: Option<MessageId>,
    /// Other answers to the loaded messages, oldest first.
    pub elsewhere: Vec<UnloadedAnswer>,
    /// The message at the end of the branch that is shown.
    pub active_leaf: Option<MessageId>,
    /// The user's verdicts on the conversation's payloads.
    #[serde(default)]
    pub verdicts: Vec<PayloadVerdict>,
    /// The conversation was deleted; it stays empty.
    #[serde(default)]
    pub deleted: bool,
}

/// An answer of which only the id is known: its branch is not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct UnloadedAnswer {
    pub id: MessageId,
    pub parent_id: MessageId,
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
    /// As [`Transcript::earliest`].
    pub earliest: Option<MessageId>,
    /// As [`Transcript::elsewhere`].
    pub elsewhere: Vec<UnloadedAnswer>,
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
            deleted: false,
        }
    }

    /// The user's verdict on a payload.
    pub fn verdict(&self, payload_id: &str) -> Option<Verdict> {
        let judged = self
            .verdicts
            .iter()
            .find(|judged| judged.payload_id == payload_id);
        judged.map(|judged| judged.verdict)
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

    /// True if all ancestors of a message are loaded or can be loaded page by page.
    pub(super) fn are_ancestors_reachable(&self, leaf: Option<MessageId>) -> bool {
        match self.ancestors(leaf).last() {
            Some(first) => first.parent_id.is_none() || Some(first.id) == self.earliest,
            None => leaf.is_none(),
        }
    }

    /// The answers to the same message as `answer`, itself included, oldest first.
    pub fn siblings(&self, answer: &Message) -> Vec<MessageId> {
        let here = self.messages.iter().filter(|other| other.assistant().is_some());
        let here = here.map(|other| (other.parent_id, other.id));
        let elsewhere = self
            .elsewhere
            .iter()
            .map(|other| (Some(other.parent_id), other.id));
        let mut siblings = Vec::new();
        for (parent_id, id) in here.chain(elsewhere) {
            if parent_id == answer.parent_id {
                // The server makes the ids of answers, and they begin with the time.
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
        for answer in dropped.iter().filter(|message| message.assistant().is_some()) {
            if let Some(parent_id) = answer.parent_id {
                let id = answer.id;
                sorted_vec::insert_sorted(&mut self.elsewhere, UnloadedAnswer { id, parent_id }, |other| {
                    *other
                });
            }
        }
        let messages = &self.messages;
        self.elsewhere.retain(|other| {
            let mut answers = messages.iter().filter(|message| message.assistant().is_some());
            answers.any(|answer| answer.parent_id == Some(other.parent_id))
                && messages.iter().all(|message| message.id != other.id)
        });
        let has_parent = |first: &MessageId| {
            self.message(*first)
                .is_some_and(|first| first.parent_id.is_some())
        };
        self.earliest = first.filter(has_parent);
    }
}
