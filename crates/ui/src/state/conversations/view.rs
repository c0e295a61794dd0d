//! A conversation as signals, for the views.
//!
//! The protocol's [`Transcript`] is the source of truth. [`sync`](ConversationView::sync) updates a [`ConversationView`] from it:
//! it compares, and sets only what differs, whether a change came by the stream, by a replay or by a snapshot.
//! [`sync_answer`](ConversationView::sync_answer) updates what an event changed: a delta is added to its part, without a look at
//! the others.

use leptos::prelude::*;

use super::{
    changes::{AnswerChange, AnswerExtent},
    rows::{Row, Siblings, UnrecordedRow},
    unrecorded::UnrecordedMessages,
};
use crate::{
    runtime::signal::set_if_changed,
    state::outbox::{OutgoingRow, PendingSend},
};
use parlor_protocol::{
    Attachment, ConversationId, Message, MessageBody, MessageId, MessageQueue, Parameters, Transcript, Usage,
};

/// The message being sent, and the one that it is another version of.
type PendingMessage<'a> = (Option<&'a Message>, Option<MessageId>);

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

/// The loading state of older messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OlderState {
    #[default]
    Idle,
    Loading,
    /// Loading failed: the text for the user. It is retried on request, or when the connection is back.
    Failed(String),
}

/// The messages that wait for the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    pub messages: Vec<QueueRow>,
    /// True if they wait until the user releases them.
    pub held: bool,
}

/// A message that waits for the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    pub id: MessageId,
    pub text: String,
    pub files: Vec<Attachment>,
    /// `Nothing` if the server has it.
    pub pending_send: PendingSend,
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
    /// The messages that wait for the end of the run.
    pub queue: ArcRwSignal<QueueView>,
    /// Counts the accepted and rejected proposals. The verdicts are in the transcript.
    pub verdict_version: ArcRwSignal<u32>,
    /// Failed updates in a row: if not 0, messages may be missing.
    pub failed_syncs: ArcRwSignal<u32>,
    /// Messages that only this page has.
    unrecorded: ArcRwSignal<Vec<UnrecordedRow>>,
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
            queue: ArcRwSignal::default(),
            verdict_version: ArcRwSignal::default(),
            failed_syncs: ArcRwSignal::default(),
            unrecorded: ArcRwSignal::default(),
        }
    }

    /// Adds messages that the server has lost, at their old position.
    pub(super) fn add_unrecorded(&self, messages: UnrecordedMessages) {
        self.unrecorded
            .update_untracked(|unrecorded| unrecorded.push(messages.into()));
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

    /// Updates the queue: the server's messages, then those that it has not got yet.
    pub fn sync_queue(&self, queue: Option<&MessageQueue>, outgoing: Vec<OutgoingRow>) {
        let stored = queue.into_iter().flat_map(|queue| &queue.messages);
        let stored = stored.map(|queued| QueueRow {
            id: queued.id,
            text: queued.text.clone(),
            files: queued.files.clone(),
            pending_send: PendingSend::Nothing,
        });
        let outgoing = outgoing
            .into_iter()
            .map(|(id, text, files, pending_send)| QueueRow {
                id,
                text,
                files,
                pending_send,
            });
        let view = QueueView {
            messages: stored.chain(outgoing).collect(),
            held: queue.is_some_and(|queue| queue.held),
        };
        set_if_changed(&self.queue, &view);
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

    /// Updates the view from the transcript. `pending` is the message being sent, with the one that it is another
    /// version of.
    pub fn sync(&self, transcript: &Transcript, pending: PendingMessage<'_>, live: bool) {
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

    fn sync_rows(&self, transcript: &Transcript, (pending, replaced): PendingMessage<'_>, live: bool) {
        let mut branch = transcript.shown_branch();
        let unconfirmed = pending.filter(|pending| transcript.message(pending.id).is_none());
        let old_version = branch.iter().position(|message| Some(message.id) == replaced);
        if let (Some(_), Some(index)) = (unconfirmed, old_version) {
            branch.truncate(index);
        }
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
                (Row::User(row), body) => {
                    if let MessageBody::User { files, .. } = body {
                        set_if_changed(&row.files, files);
                    }
                    let is_pending = unconfirmed.is_some_and(|pending| pending.id == row.id);
                    set_if_changed(&row.is_pending, &is_pending);
                    if !is_pending {
                        set_if_changed(&row.siblings, &Siblings::find(transcript, message));
                    }
                }
                (Row::Answer(row), MessageBody::Assistant(assistant)) => {
                    set_if_changed(&row.siblings, &Siblings::find(transcript, message));
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
    pub fn sync_answer(&self, transcript: &Transcript, change: &AnswerChange) {
        let id = change.message_id;
        let row = self.rows.with_untracked(|rows| {
            rows.iter().rev().find_map(|row| match row {
                Row::Answer(row) if row.id == id => Some(row.clone()),
                _ => None,
            })
        });
        let assistant = transcript.message(id).and_then(Message::assistant);
        if let (AnswerExtent::Grown(parts), Some(row), Some(assistant)) = (&change.extent, &row, assistant)
            && row.grow(assistant, parts)
        {
            return;
        }
        set_if_changed(&self.active_run, &transcript.active_run());
        set_if_changed(&self.usage, &transcript.window_usage());
        if let (Some(row), Some(assistant)) = (row, assistant) {
            row.sync(assistant, true);
        }
    }
}
