//! A conversation as signals: what the views read.
//!
//! The protocol's [`Transcript`] is the truth; a [`ConversationView`] is brought up to it by [`sync`](ConversationView::sync)
//! and [`sync_message`](ConversationView::sync_message), which compare and set only what differs. So it does not matter
//! whether a change came by the stream, by a replay or by a snapshot, and a delta touches one part's signal.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use leptos::prelude::*;

use super::thought::latest_thought;
use crate::{
    protocol::{
        AssistantMessage, ConversationId, Message, MessageBody, MessageId, Piece, RunError, RunStatus,
        Timestamp, Transcript,
    },
    ui::markdown::MarkdownState,
};

/// Whether there is something to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The snapshot is on its way.
    Loading,
    Ready,
    /// There is no such conversation (any more).
    Missing,
    /// The snapshot could not be had: the words for the person.
    Failed(String),
}

/// A conversation's signals. They outlive the views that show them.
#[derive(Clone, Debug)]
pub struct ConversationView {
    pub id: ConversationId,
    pub phase: ArcRwSignal<Phase>,
    pub title: ArcRwSignal<String>,
    /// The model that the next message goes to.
    pub model: ArcRwSignal<Option<String>>,
    /// The messages of the branch that is shown.
    pub rows: ArcRwSignal<Vec<Row>>,
    /// The run at work.
    pub running: ArcRwSignal<Option<MessageId>>,
    /// A message is on its way and its run has not begun.
    pub waiting: ArcRwSignal<bool>,
}

/// A message on the screen.
#[derive(Clone, Debug)]
pub enum Row {
    User(UserRow),
    Answer(AnswerRow),
}

/// What a person wrote.
#[derive(Clone, Debug)]
pub struct UserRow {
    pub id: MessageId,
    pub text: Arc<str>,
    pub created_at: Timestamp,
    /// The server has not confirmed it yet.
    pub pending: ArcRwSignal<bool>,
}

/// What a run produced.
#[derive(Clone, Debug)]
pub struct AnswerRow {
    pub id: MessageId,
    pub model: Arc<str>,
    pub created_at: Timestamp,
    pub run: ArcRwSignal<RunView>,
    pub parts: ArcRwSignal<Vec<PartRow>>,
    pub siblings: ArcRwSignal<Siblings>,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunView {
    pub status: RunStatus,
    pub activity: Option<String>,
    pub error: Option<RunError>,
}

/// The other answers to the same message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    pub ids: Vec<MessageId>,
    /// Which of them is shown.
    pub index: usize,
}

/// One piece of an answer: a part, or a text with what continues it.
#[derive(Clone, Debug)]
pub struct PartRow {
    /// The node and the part in which it begins.
    pub key: (usize, usize),
    pub thinking: bool,
    /// Streamed to this browser: what is folded away is rendered when it is opened.
    pub live: bool,
    pub prose: MarkdownState,
    /// The last line of the thinking.
    pub latest: ArcRwSignal<String>,
    /// How many bytes of its text are in `prose`.
    painted: Arc<AtomicUsize>,
}

impl Row {
    /// The message's id: the row's key.
    pub fn id(&self) -> MessageId {
        match self {
            Self::User(row) => row.id,
            Self::Answer(row) => row.id,
        }
    }
}

impl ConversationView {
    /// A conversation of which nothing is known yet.
    pub fn new(id: ConversationId) -> Self {
        Self {
            id,
            phase: ArcRwSignal::new(Phase::Loading),
            title: ArcRwSignal::default(),
            model: ArcRwSignal::default(),
            rows: ArcRwSignal::default(),
            running: ArcRwSignal::default(),
            waiting: ArcRwSignal::new(false),
        }
    }

    /// Brings everything up to the transcript. `pending` is a message that is on its way.
    pub fn sync(&self, transcript: &Transcript, pending: Option<&Message>, live: bool) {
        let phase = if transcript.deleted {
            Phase::Missing
        } else {
            Phase::Ready
        };
        set(&self.title, &transcript.title);
        set(&self.model, &transcript.model);
        set(&self.running, &transcript.active_run());
        set(&self.waiting, &pending.is_some());
        self.sync_rows(transcript, pending, live);
        set(&self.phase, &phase);
    }

    fn sync_rows(&self, transcript: &Transcript, pending: Option<&Message>, live: bool) {
        let mut branch = transcript.branch();
        let unconfirmed = pending.filter(|pending| transcript.message(pending.id).is_none());
        branch.extend(unconfirmed);
        let old = self.rows.get_untracked();
        let mut rows = Vec::with_capacity(branch.len());
        for message in &branch {
            let row = old.iter().find(|row| row.id() == message.id).cloned();
            let row = row.unwrap_or_else(|| Row::new(message));
            match (&row, &message.body) {
                (Row::User(row), _) => set(
                    &row.pending,
                    &unconfirmed.is_some_and(|pending| pending.id == row.id),
                ),
                (Row::Answer(row), MessageBody::Assistant(assistant)) => {
                    let ids = transcript.siblings(message);
                    let index = ids.iter().position(|id| *id == message.id).unwrap_or(0);
                    set(&row.siblings, &Siblings { ids, index });
                    row.sync(assistant, live);
                }
                (Row::Answer(_), MessageBody::User { .. }) => {}
            }
            rows.push(row);
        }
        if !rows.iter().map(Row::id).eq(old.iter().map(Row::id)) {
            self.rows.set(rows);
        }
    }

    /// Brings one answer up to the transcript.
    pub fn sync_message(&self, transcript: &Transcript, id: MessageId) {
        set(&self.running, &transcript.active_run());
        let Some(assistant) = transcript.message(id).and_then(Message::assistant) else {
            return;
        };
        let row = self.rows.with_untracked(|rows| {
            rows.iter().rev().find_map(|row| match row {
                Row::Answer(row) if row.id == id => Some(row.clone()),
                _ => None,
            })
        });
        if let Some(row) = row {
            row.sync(assistant, true);
        }
    }
}

impl Row {
    fn new(message: &Message) -> Self {
        let (id, created_at) = (message.id, message.created_at);
        match &message.body {
            MessageBody::User { text } => Self::User(UserRow {
                id,
                text: text.as_str().into(),
                created_at,
                pending: ArcRwSignal::new(false),
            }),
            MessageBody::Assistant(assistant) => Self::Answer(AnswerRow {
                id,
                model: assistant.model.as_str().into(),
                created_at,
                run: ArcRwSignal::new(RunView::of(assistant)),
                parts: ArcRwSignal::default(),
                siblings: ArcRwSignal::default(),
            }),
        }
    }
}

impl AnswerRow {
    fn sync(&self, assistant: &AssistantMessage, live: bool) {
        let ended = assistant.status.is_terminal();
        let known = self.parts.get_untracked();
        let mut parts = Vec::new();
        for piece in assistant.pieces() {
            let row = known
                .iter()
                .find(|row| row.key == piece.key)
                .filter(|row| row.fits(&piece))
                .cloned();
            let row = row.unwrap_or_else(|| PartRow::new(&piece, ended, live));
            row.sync(&piece);
            if ended {
                row.prose.finish();
            }
            parts.push(row);
        }
        let same = parts.len() == known.len()
            && parts
                .iter()
                .zip(&known)
                .all(|(new, old)| Arc::ptr_eq(&new.painted, &old.painted));
        if !same {
            self.parts.set(parts);
        }
        set(&self.run, &RunView::of(assistant));
    }
}

impl PartRow {
    fn new(piece: &Piece<'_>, ended: bool, live: bool) -> Self {
        let text = piece.texts.concat();
        let prose = if ended {
            MarkdownState::finished(&text)
        } else {
            MarkdownState::new(&text)
        };
        Self {
            key: piece.key,
            thinking: piece.thinking,
            live,
            prose,
            latest: ArcRwSignal::new(latest_thought(&text).into()),
            painted: Arc::new(AtomicUsize::new(text.len())),
        }
    }

    /// Whether the text begins with what is painted, as far as its length can tell. Texts only grow.
    fn fits(&self, piece: &Piece<'_>) -> bool {
        piece.after(self.painted.load(Relaxed)).is_some()
    }

    fn sync(&self, piece: &Piece<'_>) {
        let new = piece.after(self.painted.load(Relaxed)).unwrap_or_default();
        if new.is_empty() {
            return;
        }
        for text in &new {
            self.painted.fetch_add(text.len(), Relaxed);
            self.prose.append(text);
        }
        if let (true, Some(text)) = (self.thinking, piece.texts.last()) {
            set(&self.latest, latest_thought(text));
        }
    }
}

impl RunView {
    fn of(assistant: &AssistantMessage) -> Self {
        Self {
            status: assistant.status,
            activity: assistant.activity.clone(),
            error: assistant.error.clone(),
        }
    }
}

/// Sets a signal if its value is another one, so that nothing runs for nothing.
fn set<T, V>(signal: &ArcRwSignal<T>, value: &V)
where
    T: PartialEq<V> + Send + Sync + 'static,
    V: ?Sized + ToOwned<Owned = T>,
{
    if signal.with_untracked(|old| old != value) {
        signal.set(value.to_owned());
    }
}
