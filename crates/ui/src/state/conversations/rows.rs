//! The messages of a conversation as signals.

use std::sync::Arc;

use leptos::prelude::*;

use super::{changes::GrownPart, part::PartRow, unrecorded::UnrecordedMessages};
use crate::runtime::signal::set_if_changed;
use parlor_protocol::{
    AssistantMessage, Attachment, CitedSource, FinishReason, Interaction, Message, MessageBody, MessageId,
    Part, RunError, RunStatus, SuggestedAction, SuggestedValue, Timestamp, TokenTotals, ToolCall, Transcript,
    damaged_message::damaged_message_text, sorted_vec::insert_sorted,
};

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
    /// The message after which they stood.
    pub(super) after: Option<MessageId>,
    pub messages: Arc<[Message]>,
}

/// A user's message.
#[derive(Clone, Debug)]
pub struct UserRow {
    pub id: MessageId,
    pub text: Arc<str>,
    /// They change when one is deleted.
    pub files: ArcRwSignal<Vec<Attachment>>,
    pub interaction: Interaction,
    pub created_at: Timestamp,
    /// The server has not confirmed it yet.
    pub is_pending: ArcRwSignal<bool>,
    pub siblings: ArcRwSignal<Siblings>,
    /// True if the stored message is unreadable: the text says so.
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
    /// True if it arrived while the conversation was shown.
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
    /// The part of that in which the model was thinking, in milliseconds.
    pub thought_ms: u64,
    /// The part of that in which tools were active and the model waited for them, in milliseconds.
    pub tools_ms: u64,
    /// The tokens and the cost of its model calls.
    pub totals: TokenTotals,
}

/// The versions of a message: the answers to the same message, or the messages after the same answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    pub ids: Vec<MessageId>,
    /// The index of the selected one.
    pub index: usize,
}

impl Siblings {
    /// The versions of a message.
    pub(super) fn find(transcript: &Transcript, message: &Message) -> Self {
        let ids = transcript.siblings(message);
        let index = ids.iter().position(|id| *id == message.id).unwrap_or(0);
        Self { ids, index }
    }
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

    pub(super) fn new(message: &Message, is_new: bool) -> Self {
        let (id, created_at) = (message.id, message.created_at);
        match &message.body {
            MessageBody::User {
                text,
                files,
                interaction,
            } => Self::User(UserRow {
                id,
                files: ArcRwSignal::new(files.clone()),
                text: text.as_str().into(),
                interaction: interaction.clone(),
                created_at,
                is_pending: ArcRwSignal::new(false),
                siblings: ArcRwSignal::default(),
                is_damaged: false,
            }),
            MessageBody::Damaged => Self::User(UserRow {
                id,
                files: ArcRwSignal::default(),
                text: damaged_message_text(id).into(),
                interaction: Interaction::TextInput,
                created_at,
                is_pending: ArcRwSignal::new(false),
                siblings: ArcRwSignal::default(),
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

impl From<UnrecordedMessages> for UnrecordedRow {
    fn from(UnrecordedMessages { after, messages }: UnrecordedMessages) -> Self {
        Self {
            id: MessageId::new(),
            after,
            messages: messages.into(),
        }
    }
}

impl AnswerRow {
    /// Adds the new text of parts that have grown. Returns false if the row lacks one of them, or the text before: then it has to
    /// be updated by [`sync`](Self::sync).
    pub(super) fn grow(&self, assistant: &AssistantMessage, grown: &[GrownPart]) -> bool {
        let is_grown = self.parts.with_untracked(|rows| {
            grown.iter().all(|grown| {
                let (key, from) = ((grown.node, grown.part), grown.from);
                // A text that continues another one has no row of its own.
                let row = rows.binary_search_by_key(&key, |row| row.key);
                let part = assistant.nodes.get(key.0).and_then(|node| node.parts.get(key.1));
                row.is_ok_and(|row| part.is_some_and(|part| rows[row].grow(part.text(), from)))
            })
        });
        // Output ends an activity.
        let has_activity = |run: &RunView| run.activity.is_some();
        if is_grown && self.run.with_untracked(has_activity) {
            set_if_changed(&self.run, &RunView::from_message(assistant));
        }
        is_grown
    }

    /// Updates the row from its message. `live` is true for a message that is streamed to this browser.
    pub(super) fn sync(&self, assistant: &AssistantMessage, live: bool) {
        let ended = assistant.status.is_terminal();
        let known = self.parts.get_untracked();
        let mut parts = Vec::new();
        let mut joined_parts = assistant.joined_parts().into_iter().peekable();
        while let Some(joined) = joined_parts.next() {
            let is_complete = ended || joined_parts.peek().is_some();
            // Both are in the same order.
            let at = known.binary_search_by_key(&joined.key, |row| row.key).ok();
            let row = at
                .and_then(|at| known.get(at))
                .filter(|row| row.is_extended_by(&joined))
                .cloned();
            let row = row.unwrap_or_else(|| PartRow::new(&joined, is_complete, live));
            row.sync(&joined);
            // A text that another part follows has ended: its last line is shown at once, not at the end of the answer.
            if ended || is_complete && known.last() == Some(&row) {
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
            thought_ms: assistant.thought_ms,
            tools_ms: tools_ms(assistant),
            totals: assistant.usage.map(|usage| usage.totals).unwrap_or_default(),
        }
    }
}

/// Returns the time in which tools were active.
fn tools_ms(assistant: &AssistantMessage) -> u64 {
    let parts = assistant.nodes.iter().flat_map(|node| &node.parts);
    let calls = parts.filter_map(|part| match part {
        Part::ToolCall(call) => call_interval(call),
        _ => None,
    });
    union_ms(calls.collect())
}

/// Returns the start and the end of a call that has ended.
pub fn call_interval(call: &ToolCall) -> Option<(i64, i64)> {
    Some((call.started_at?.0, call.ended_at?.0))
}

/// Returns the length of the union of intervals, in milliseconds. Calls of one model call may run at the same time, and one of
/// them may wait for the user while no other is active.
pub fn union_ms(intervals: Vec<(i64, i64)>) -> u64 {
    let mut sorted = Vec::new();
    for interval in intervals {
        insert_sorted(&mut sorted, interval, |interval| *interval);
    }
    let (mut sum, mut covered_until) = (0, i64::MIN);
    for (start, end) in sorted {
        let new = end.saturating_sub(start.max(covered_until));
        sum += u64::try_from(new).unwrap_or_default();
        covered_until = covered_until.max(end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ConversationId, Event, EventBody, Position, RunEvent, transcript};

    fn answer_row(message: &Message) -> AnswerRow {
        let Row::Answer(row) = Row::new(message, true) else {
            panic!("not an answer");
        };
        row
    }

    /// The length and the last line of each part.
    fn parts(row: &AnswerRow) -> Vec<(usize, String)> {
        let parts = row.parts.get_untracked();
        let part = |part: PartRow| (part.prose_bytes(), part.latest_line.get_untracked());
        parts.into_iter().map(part).collect()
    }

    fn thinking(offset: usize, text: &str) -> EventBody {
        EventBody::Run(RunEvent::Thinking {
            node: 0,
            part: 0,
            offset,
            text: text.into(),
            took_ms: 0,
        })
    }

    #[test]
    fn grown_part_equals_one_compared_as_a_whole() {
        let (id, message_id) = (ConversationId::new(), MessageId::new());
        let mut state = Transcript::new(id);
        state.messages.push(Message {
            id: message_id,
            parent_id: None,
            created_at: Timestamp(0),
            body: MessageBody::Assistant(AssistantMessage::new("tour/tour")),
        });
        let mut position = 0;
        let mut apply = |state: &mut Transcript, body| {
            position += 1;
            let event = Event {
                position: Position(position),
                conversation_id: id,
                message_id: Some(message_id),
                body,
            };
            transcript::apply(state, &event).unwrap();
            state
                .message(message_id)
                .and_then(Message::assistant)
                .cloned()
                .unwrap()
        };
        let status = EventBody::Run(RunEvent::Status {
            message: "Thinking...".into(),
        });
        apply(&mut state, thinking(0, "first "));
        let before = apply(&mut state, status);
        let row = answer_row(&state.messages[0]);
        row.sync(&before, true);
        let identity = row.parts.get_untracked();

        // Two deltas since the last update.
        apply(&mut state, thinking(6, "line\nsecond "));
        let after = apply(&mut state, thinking(18, "line"));
        let grown = |from| GrownPart {
            node: 0,
            part: 0,
            from,
        };
        assert!(!row.grow(&after, &[grown(5)]), "the text before is another one");
        assert!(
            !row.grow(&after, &[GrownPart { part: 1, ..grown(6) }]),
            "there is no such part"
        );
        assert!(row.grow(&after, &[grown(6)]));

        assert_eq!(row.parts.get_untracked(), identity);
        let expected = answer_row(&state.messages[0]);
        expected.sync(&after, true);
        assert_eq!(parts(&row), [(22, "second line".to_owned())]);
        assert_eq!(parts(&row), parts(&expected));
        assert_eq!(row.run.get_untracked(), expected.run.get_untracked());
    }

    #[test]
    fn tool_time_leaves_out_waits_between_calls() {
        for (calls, ms) in [
            (vec![], 0),
            (vec![(1000, 3000)], 2000),
            // At the same time.
            (vec![(1000, 3000), (1500, 2000), (2000, 4000)], 3000),
            // The second one was approved ten minutes later.
            (vec![(600_000, 601_000), (0, 2000)], 3000),
            // The server's clock was set back.
            (vec![(3000, 1000)], 0),
        ] {
            assert_eq!(union_ms(calls.clone()), ms, "{calls:?}");
        }
    }
}
