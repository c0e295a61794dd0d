//! A part of an answer, and how much of it is painted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use leptos::prelude::*;

use super::{rows::set, thought::latest_thought};
use crate::{
    protocol::{PayloadRef, Piece, PieceKind, ToolCall},
    ui::markdown::Prose,
};

/// One piece of an answer: a part, or a text with what continues it.
#[derive(Clone, Debug)]
pub struct PartRow {
    /// The node and the part in which it begins.
    pub key: (usize, usize),
    pub kind: PartKind,
    /// Streamed to this browser: what is folded away is rendered when it is opened.
    pub live: bool,
    pub prose: Prose,
    /// The last line of the thinking.
    pub latest: ArcRwSignal<String>,
    /// How many bytes of its text are in `prose`.
    painted: Arc<AtomicUsize>,
}

/// What a part is.
#[derive(Clone, Debug)]
pub enum PartKind {
    Thinking,
    Text,
    /// A tool call, as it stands.
    Tool(ArcRwSignal<ToolCall>),
    /// Something for the panel.
    Payload(PayloadRef),
}

impl PartRow {
    /// One that does not grow out of another has another identity, even if it has the same place.
    pub fn identity(&self) -> (usize, usize, usize) {
        (self.key.0, self.key.1, Arc::as_ptr(&self.painted).addr())
    }

    pub fn new(piece: &Piece<'_>, ended: bool, live: bool) -> Self {
        let text = piece.texts.concat();
        Self {
            key: piece.key,
            kind: PartKind::of(piece.kind),
            live,
            latest: ArcRwSignal::new(latest_thought(&text).into()),
            painted: Arc::new(AtomicUsize::new(text.len())),
            prose: Prose::new(text, ended),
        }
    }

    /// Returns how many bytes of its text are painted.
    pub fn painted(&self) -> usize {
        self.painted.load(Relaxed)
    }

    pub fn is_thinking(&self) -> bool {
        matches!(self.kind, PartKind::Thinking)
    }

    /// Returns true if the text begins with what is painted, as far as its length can tell. Texts only grow.
    pub fn fits(&self, piece: &Piece<'_>) -> bool {
        let same_kind = match piece.kind {
            PieceKind::Thinking => matches!(self.kind, PartKind::Thinking),
            PieceKind::Text => matches!(self.kind, PartKind::Text),
            PieceKind::Tool(_) => matches!(self.kind, PartKind::Tool(_)),
            PieceKind::Payload(_) => matches!(self.kind, PartKind::Payload(_)),
        };
        same_kind && piece.after(self.painted()).is_some()
    }

    pub fn sync(&self, piece: &Piece<'_>) {
        if let (PartKind::Tool(call), PieceKind::Tool(now)) = (&self.kind, piece.kind) {
            set(call, now);
        }
        let new = piece.after(self.painted()).unwrap_or_default();
        if new.is_empty() {
            return;
        }
        for text in &new {
            self.painted.fetch_add(text.len(), Relaxed);
            self.prose.append(text);
        }
        if let (PartKind::Thinking, Some(text)) = (&self.kind, piece.texts.last()) {
            set(&self.latest, latest_thought(text));
        }
    }
}

impl PartKind {
    fn of(kind: PieceKind<'_>) -> Self {
        match kind {
            PieceKind::Thinking => Self::Thinking,
            PieceKind::Text => Self::Text,
            PieceKind::Tool(call) => Self::Tool(ArcRwSignal::new(call.clone())),
            PieceKind::Payload(payload) => Self::Payload(payload.clone()),
        }
    }
}

impl PartialEq for PartRow {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.painted, &other.painted)
    }
}
