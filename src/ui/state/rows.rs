//! A conversation as signals, for the views.
//!
//! The protocol's [`Transcript`] is the source of truth. [`sync`](ConversationView::sync) and
//! [`sync_message`](ConversationView::sync_message) update a [`ConversationView`] from it; they compare, and set only
//! what differs. It does not matter whether a change came by the stream, by a replay or by a snapshot, and a delta
//! touches one part's signal.

use std::sync::Arc;

use leptos::prelude::*;

use super::{older::OlderState, outbox::PendingSend, part::PartRow, unrecorded::UnrecordedMessages};
use crate::protocol::{
    AssistantMessage, CitedSource, ConversationId, FinishReason, Interaction, Message, MessageBody,
    MessageId, Parameters, RunError, RunStatus, SuggestedAction, SuggestedValue, Timestamp, Transcript,
    Usage, damaged_message::damaged_message_text,
};

/// The loading phase of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationPhase {
    /// The snapshot is being loaded.
    Loading,
    Ready,
    /// The conversation does not exist (any more).
    Missing,
    /// The snapshot could not be loaded: the text for the user.
    Failed(String),
}

/// A conversation's signals. They outlive the views that show them.
#[derive(Clone, Debug)]
pub struct ConversationView {
    pub id: ConversationId,
    pub phase: ArcRwSignal<ConversationPhase>,
    pub title: ArcRwSignal<String>,
    /// The model of the next message.
    pub model: ArcRwSignal<Option<String>>,
    /// The model parameters of the next message.
    pub parameters: ArcRwSignal<Parameters>,
    /// The last known use of the model's context window.
    pub usage: ArcRwSignal<Option<Usage>>,
    /// The loaded messages of the selected branch.
    pub rows: ArcRwSignal<Vec<Row>>,
    /// The first loaded message, if the branch begins before it.
    pub earliest: ArcRwSignal<Option<MessageId>>,
    /// The loading state of older messages.
    pub older: ArcRwSignal<OlderState>,
    /// The active run.
    pub active_run: ArcRwSignal<Option<MessageId>>,
    /// The message being sent, whose run has not started.
    pub pending_send: ArcRwSignal<PendingSend>,
    /// Counts the accepted and rejected proposals. The verdicts are in the transcript.
    pub verdict_version: ArcRwSignal<u32>,
    /// Failed updates in a row: if not 0, messages may be missing.
    pub failed_syncs: ArcRwSignal<u32>,
    /// Messages that only this page has.
    unrecorded: ArcRwSignal<Vec<UnrecordedRow>>,
}

/// A message on the screen.
#[derive(Clone, Debug)]
pub enum Row {
    User(UserRow),
    Answer(AnswerRow),
    Unrecorded(UnrecordedRow),
}

/// Messages that the server has lost.
#[derive(Clone, Debug)]
pub struct UnrecordedRow {
    /// A new id for this row: the server may have the beginning of the lost message under the original id.
    id: MessageId,
    after: Option<MessageId>,
    pub messages: Arc<[Message]>,
}

/// A user's message.
#[derive(Clone, Debug)]
pub struct UserRow {
    pub id: MessageId,
    pub text: Arc<str>,
    pub interaction: Interaction,
    pub created_at: Timestamp,
    /// The server has not confirmed it yet.
    pub is_pending: ArcRwSignal<bool>,
    /// The stored message is unreadable: the text says so.
    pub is_damaged: bool,
}

/// A run's answer.
#[derive(Clone, Debug)]
pub struct AnswerRow {
    pub id: MessageId,
    pub model: Arc<str>,
    pub created_at: Timestamp,
    pub run: ArcRwSignal<RunView>,
    pub parts: ArcRwSignal<Vec<PartRow>>,
    pub siblings: ArcRwSignal<Siblings>,
    pub extras: ArcRwSignal<AnswerExtras>,
    /// It arrived while the conversation was shown.
    pub is_new: bool,
}

/// Additions of an answer to its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerExtras {
    pub values: Vec<SuggestedValue>,
    pub actions: Vec<SuggestedAction>,
    pub sources: Vec<CitedSource>,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunView {
    pub status: RunStatus,
    pub activity: Option<String>,
    pub error: Option<RunError>,
    /// The reason why the answer is truncated, if it can be continued.
    pub truncation: Option<FinishReason>,
    /// The time it has been active, in milliseconds.
    pub elapsed_ms: u64,
}

/// The alternative answers to a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    pub ids: Vec<MessageId>,
    /// The index of the selected one.
    pub index: usize,
}

impl Row {
    /// The message's id: the row's key.
    pub fn id(&self) -> MessageId {
        match self {
            Self::User(row) => row.id,
            Self::Answer(row) => row.id,
            Self::Unrecorded(row) => row.id,
        }
    }

    /// Returns true if the server has the row's message.
    pub fn is_recorded(&self) -> bool {
        !matches!(self, Self::Unrecorded(_))
    }
}

impl ConversationView {
    /// The view of a conversation of which nothing is known yet.
    pub fn new(id: ConversationId) -> Self {
        Self {
            id,
            phase: ArcRwSignal::new(ConversationPhase::Loading),
            title: ArcRwSignal::default(),
            model: ArcRwSignal::default(),
            parameters: ArcRwSignal::default(),
            usage: ArcRwSignal::default(),
            rows: ArcRwSignal::default(),
            earliest: ArcRwSignal::default(),
            older: ArcRwSignal::default(),
            active_run: ArcRwSignal::default(),
            pending_send: ArcRwSignal::default(),
            verdict_version: ArcRwSignal::default(),
            failed_syncs: ArcRwSignal::default(),
            unrecorded: ArcRwSignal::default(),
        }
    }

    /// Adds messages that the server has lost, at their old position.
    pub fn add_unrecorded(&self, UnrecordedMessages { after, messages }: UnrecordedMessages) {
        self.unrecorded.update_untracked(|unrecorded| {
            unrecorded.push(UnrecordedRow {
                id: MessageId::new(),
                after,
                messages: messages.into(),
            });
        });
    }

    /// Returns true if a run is active or about to start.
    pub fn is_busy(&self) -> bool {
        self.active_run.with(Option::is_some) || self.pending_send.get() != PendingSend::Nothing
    }

    /// Marks the view as complete.
    pub fn mark_up_to_date(&self) {
        set_if_changed(&self.failed_syncs, &0);
    }

    /// Updates the sending state.
    pub fn sync_pending_send(&self, pending_send: PendingSend) {
        set_if_changed(&self.pending_send, &pending_send);
    }

    /// Updates the view of a conversation that is not loaded: only the message being sent can be shown.
    pub fn sync_unloaded(&self, pending: Option<&Message>) {
        if self
            .phase
            .with_untracked(|phase| *phase == ConversationPhase::Ready)
        {
            return;
        }
        let rows: Vec<Row> = pending
            .map(|message| Row::new(message, true))
            .into_iter()
            .collect();
        for row in &rows {
            if let Row::User(row) = row {
                row.is_pending.set(true);
            }
        }
        self.rows.set(rows);
    }

    /// Updates the view from the transcript. `pending` is the message being sent.
    pub fn sync(&self, transcript: &Transcript, pending: Option<&Message>, live: bool) {
        let phase = if transcript.deleted {
            ConversationPhase::Missing
        } else {
            ConversationPhase::Ready
        };
        set_if_changed(&self.title, &transcript.title);
        set_if_changed(&self.model, &transcript.model);
        set_if_changed(&self.parameters, &transcript.parameters);
        set_if_changed(&self.usage, &transcript.window_usage());
        set_if_changed(&self.active_run, &transcript.active_run());
        self.sync_rows(transcript, pending, live);
        set_if_changed(&self.earliest, &transcript.earliest);
        set_if_changed(&self.verdict_version, &(transcript.verdicts.len() as u32));
        set_if_changed(&self.phase, &phase);
    }

    fn sync_rows(&self, transcript: &Transcript, pending: Option<&Message>, live: bool) {
        let mut branch = transcript.shown_branch();
        let unconfirmed = pending.filter(|pending| transcript.message(pending.id).is_none());
        branch.extend(unconfirmed);
        let old = self.rows.get_untracked();
        // Both are in the same order, so the row is nearly always the next one.
        let mut next = 0;
        let mut known = |message: &Message| {
            let is_same = |row: &Row| row.id() == message.id;
            let after = old[next..].iter().position(is_same).map(|index| next + index);
            let index = after.or_else(|| old.iter().position(is_same))?;
            next = index + 1;
            old.get(index).cloned()
        };
        let is_new = live
            && self
                .phase
                .with_untracked(|phase| *phase == ConversationPhase::Ready);
        // Messages before an already loaded one are older, not new.
        let was_here = |message: &&Message| old.iter().rev().any(|row| row.id() == message.id);
        let last = branch.iter().rposition(was_here);
        let mut rows = Vec::with_capacity(branch.len());
        for (index, message) in branch.iter().enumerate() {
            let row = known(message).unwrap_or_else(|| Row::new(message, is_new && Some(index) > last));
            match (&row, &message.body) {
                (Row::User(row), _) => set_if_changed(
                    &row.is_pending,
                    &unconfirmed.is_some_and(|pending| pending.id == row.id),
                ),
                (Row::Answer(row), MessageBody::Assistant(assistant)) => {
                    let ids = transcript.siblings(message);
                    let index = ids.iter().position(|id| *id == message.id).unwrap_or(0);
                    set_if_changed(&row.siblings, &Siblings { ids, index });
                    row.sync(assistant, live);
                }
                (Row::Answer(_) | Row::Unrecorded(_), _) => {}
            }
            rows.push(row);
        }
        // Of several at the same position, the last is inserted first. The message before them may not be loaded.
        for unrecorded in self.unrecorded.get_untracked().into_iter().rev() {
            let before = rows.iter().position(|row| Some(row.id()) == unrecorded.after);
            rows.insert(before.map_or(0, |index| index + 1), Row::Unrecorded(unrecorded));
        }
        if !rows.iter().map(Row::id).eq(old.iter().map(Row::id)) {
            self.rows.set(rows);
        }
    }

    /// Updates one answer from the transcript.
    pub fn sync_message(&self, transcript: &Transcript, id: MessageId) {
        set_if_changed(&self.active_run, &transcript.active_run());
        set_if_changed(&self.usage, &transcript.window_usage());
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
    fn new(message: &Message, is_new: bool) -> Self {
        let (id, created_at) = (message.id, message.created_at);
        match &message.body {
            MessageBody::User { text, interaction } => Self::User(UserRow {
                id,
                text: text.as_str().into(),
                interaction: interaction.clone(),
                created_at,
                is_pending: ArcRwSignal::new(false),
                is_damaged: false,
            }),
            MessageBody::Damaged => Self::User(UserRow {
                id,
                text: damaged_message_text(id).into(),
                interaction: Interaction::TextInput,
                created_at,
                is_pending: ArcRwSignal::new(false),
                is_damaged: true,
            }),
            MessageBody::Assistant(assistant) => Self::Answer(AnswerRow {
                id,
                model: assistant.model.as_str().into(),
                created_at,
                run: ArcRwSignal::new(RunView::from_message(assistant)),
                parts: ArcRwSignal::default(),
                siblings: ArcRwSignal::default(),
                extras: ArcRwSignal::default(),
                is_new,
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
            // Both are in the same order.
            let at = known.binary_search_by_key(&piece.key, |row| row.key).ok();
            let row = at
                .and_then(|at| known.get(at))
                .filter(|row| row.is_extended_by(&piece))
                .cloned();
            let row = row.unwrap_or_else(|| PartRow::new(&piece, ended, live));
            row.sync(&piece);
            if ended {
                row.prose.finish();
            }
            parts.push(row);
        }
        if parts != known {
            self.parts.set(parts);
        }
        let offers = AnswerExtras {
            values: assistant.suggested_values.clone(),
            actions: assistant.suggested_actions.clone(),
            sources: assistant.sources.clone(),
        };
        set_if_changed(&self.extras, &offers);
        set_if_changed(&self.run, &RunView::from_message(assistant));
    }
}

impl RunView {
    fn from_message(assistant: &AssistantMessage) -> Self {
        Self {
            status: assistant.status,
            activity: assistant.activity.clone(),
            error: assistant.error.clone(),
            truncation: assistant
                .finish_reason
                .clone()
                .filter(|_| assistant.is_cut_short()),
            elapsed_ms: assistant.worked_ms,
        }
    }
}

/// Sets a signal if its value differs, to avoid needless effects.
pub(super) fn set_if_changed<T, V>(signal: &ArcRwSignal<T>, value: &V)
where
    T: PartialEq<V> + Send + Sync + 'static,
    V: ?Sized + ToOwned<Owned = T>,
{
    if signal.with_untracked(|old| old != value) {
        signal.set(value.to_owned());
    }
}
