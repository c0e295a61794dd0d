//! A part of an answer, and the length of its text so far.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use leptos::prelude::*;

use crate::{markdown::Prose, runtime::signal::set_if_changed, state::preview_line::latest_line};
use parlor_protocol::{Attachment, JoinedPart, JoinedPartKind, PayloadRef, ToolCall};

/// A part of an answer as it is shown, or a text with its continuations.
#[derive(Clone, Debug)]
pub struct PartRow {
    /// The node and the part in which it begins.
    pub key: (usize, usize),
    pub kind: PartKind,
    /// True if it is streamed to this browser: it is rendered in folded sections only when they are opened.
    pub is_streamed: bool,
    pub prose: Prose,
    /// The last line of the thinking.
    pub latest_line: ArcRwSignal<String>,
    /// True for a text without a letter yet, such as the line breaks that some models write before a call.
    is_blank: ArcRwSignal<bool>,
    /// The number of bytes of its text in `prose`.
    prose_bytes: Arc<AtomicUsize>,
}

/// The kind of a part.
#[derive(Clone, Debug)]
pub enum PartKind {
    Thinking,
    Text,
    /// A tool call in its current state.
    Tool(ArcRwSignal<ToolCall>),
    /// A payload for the panel.
    Payload(PayloadRef),
    /// An image that the model made.
    File(Attachment),
}

impl PartRow {
    /// The key of the view. A part that replaces another, rather than growing out of it, gets another key even at the
    /// same position.
    pub fn view_key(&self) -> (usize, usize, usize) {
        (self.key.0, self.key.1, Arc::as_ptr(&self.prose_bytes).addr())
    }

    pub fn new(joined: &JoinedPart<'_>, ended: bool, live: bool) -> Self {
        let text = joined.texts.concat();
        let is_blank = joined.kind == JoinedPartKind::Text && text.trim().is_empty();
        Self {
            key: joined.key,
            kind: PartKind::from_joined(joined.kind),
            is_streamed: live,
            latest_line: ArcRwSignal::new(latest_line(&text)),
            is_blank: ArcRwSignal::new(is_blank),
            prose_bytes: Arc::new(AtomicUsize::new(text.len())),
            prose: Prose::new(text, ended),
        }
    }

    /// Returns the number of bytes of the text that `prose` has.
    pub fn prose_bytes(&self) -> usize {
        self.prose_bytes.load(Relaxed)
    }

    pub fn is_thinking(&self) -> bool {
        matches!(self.kind, PartKind::Thinking)
    }

    /// Returns the call, if it is one.
    pub fn call(&self) -> Option<&ArcRwSignal<ToolCall>> {
        match &self.kind {
            PartKind::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// Returns true if there is nothing of it to show. Tracked.
    pub fn is_blank(&self) -> bool {
        self.is_blank.get()
    }

    /// Returns true if the text begins with the text of `prose`, judged by length. Texts only grow.
    pub fn is_extended_by(&self, joined: &JoinedPart<'_>) -> bool {
        let same_kind = match joined.kind {
            JoinedPartKind::Thinking => matches!(self.kind, PartKind::Thinking),
            JoinedPartKind::Text => matches!(self.kind, PartKind::Text),
            JoinedPartKind::ToolCall(_) => matches!(self.kind, PartKind::Tool(_)),
            JoinedPartKind::Payload(_) => matches!(self.kind, PartKind::Payload(_)),
            // One that was deleted is shown anew.
            JoinedPartKind::File(now) => {
                matches!(&self.kind, PartKind::File(file) if file.is_deleted() == now.is_deleted())
            }
        };
        same_kind && joined.texts_after(self.prose_bytes()).is_some()
    }

    /// Adds the text of the part after the byte `from`, up to which `prose` has it. Returns false if it has not.
    pub fn grow(&self, text: &str, from: usize) -> bool {
        let Some(new) = text.get(from..).filter(|_| self.prose_bytes() == from) else {
            return false;
        };
        self.append(new);
        self.update_latest_line(text);
        true
    }

    fn append(&self, new: &str) {
        self.prose_bytes.fetch_add(new.len(), Relaxed);
        self.prose.append(new);
        if !new.trim().is_empty() {
            set_if_changed(&self.is_blank, &false);
        }
    }

    fn update_latest_line(&self, text: &str) {
        if self.is_thinking() {
            set_if_changed(&self.latest_line, latest_line(text).as_str());
        }
    }

    pub fn sync(&self, joined: &JoinedPart<'_>) {
        if let (PartKind::Tool(call), JoinedPartKind::ToolCall(now)) = (&self.kind, joined.kind) {
            set_if_changed(call, now);
        }
        let new = joined.texts_after(self.prose_bytes()).unwrap_or_default();
        if new.is_empty() {
            return;
        }
        for text in &new {
            self.append(text);
        }
        if let Some(text) = joined.texts.last() {
            self.update_latest_line(text);
        }
    }
}

impl PartKind {
    fn from_joined(kind: JoinedPartKind<'_>) -> Self {
        match kind {
            JoinedPartKind::Thinking => Self::Thinking,
            JoinedPartKind::Text => Self::Text,
            JoinedPartKind::ToolCall(call) => Self::Tool(ArcRwSignal::new(call.clone())),
            JoinedPartKind::Payload(payload) => Self::Payload(payload.clone()),
            JoinedPartKind::File(file) => Self::File(file.clone()),
        }
    }
}

impl PartialEq for PartRow {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.prose_bytes, &other.prose_bytes)
    }
}
