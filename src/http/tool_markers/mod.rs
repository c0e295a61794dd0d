//! Insertions of the public stream: the text that must be added between the deltas of an answer so that all
//! of them joined equal its `message`. These are the markers of its tool calls, the separators of texts, and
//! the backslash in a marker that the model wrote itself.
//!
//! Insertions are `text_delta`s without an `offset`. Deltas with one are the model's text, unchanged. A text
//! that is later classified as thinking (`text_was_thinking`) was sent already: the deltas of its node,
//! insertions included, no longer count.

use std::collections::{BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::Serialize;

use parlor_protocol::{
    AssistantMessage, ConversationId, Event, MessageId, Part, Position, RunEvent, ToolStatus,
};

/// The beginning of a marker.
pub const MARKER_PREFIX: &str = "[[tool:";

/// The beginning of a marker that the model wrote itself, escaped. Markdown removes the backslash, except in code.
pub const ESCAPED_PREFIX: &str = "[[tool\\:";

/// The part of [`MARKER_PREFIX`] before the position of the backslash.
const PREFIX_BEFORE_ESCAPE: &str = "[[tool";

/// The separator between two texts, or a text and a marker.
pub const SEPARATOR: &str = "\n\n";

/// A frame of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkedFrame {
    /// The event as it was logged.
    Logged,
    /// A part of the event's text.
    Delta {
        offset: usize,
        text: String,
    },
    Inserted(InsertedDelta),
}

/// A delta that is not part of the model's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InsertedDelta {
    pub node: usize,
    pub part: usize,
    /// The index of the tool call that this marker stands for. Only in text added by Parlor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<usize>,
    pub text: String,
}

/// An insertion as an event of the stream. It has the position of its logged event.
#[derive(Serialize)]
pub struct InsertedEvent<'a> {
    position: Position,
    conversation_id: ConversationId,
    message_id: Option<MessageId>,
    r#type: &'static str,
    #[serde(flatten)]
    addition: &'a InsertedDelta,
}

impl<'a> InsertedEvent<'a> {
    pub fn new(event: &Event, addition: &'a InsertedDelta) -> Self {
        Self {
            position: event.position,
            conversation_id: event.conversation_id,
            message_id: event.message_id,
            r#type: "text_delta",
            addition,
        }
    }
}

/// The text of an answer as far as it was streamed.
#[derive(Debug, Default)]
pub struct ToolMarkers {
    last: Option<PartPosition>,
    /// True if the previous node ended with a text that the current one continues.
    is_text_interrupted: bool,
    /// True if there is a marker, or text of a node before the current one.
    has_before: bool,
    /// True if there is text of the current node.
    has_text: bool,
    /// The end of the current text, while it may contain the beginning of a marker.
    tail: String,
    /// The value of `tail` at the beginning of the current node.
    tail_before: String,
    /// Calls without a marker so far, in their order.
    queue: VecDeque<QueuedCall>,
    /// All calls that have a marker or are in the queue.
    known_calls: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug)]
struct PartPosition {
    node: usize,
    part: usize,
    is_text: bool,
}

#[derive(Debug)]
struct QueuedCall {
    node: usize,
    part: usize,
    index: usize,
    has_ended: bool,
}

impl ToolMarkers {
    /// Returns true if a part of the answer before this event was not seen: see [`catch_up`](Self::catch_up).
    pub fn is_behind(&self, event: &RunEvent) -> bool {
        if self.last.is_some() {
            return false;
        }
        matches!(event, RunEvent::ToolComplete { .. })
            || event_position(event).is_some_and(|place| place != (0, 0))
    }

    /// Marks the answer before the position of an event as streamed.
    pub fn catch_up(&mut self, answer: &AssistantMessage, event: &RunEvent) {
        let Some(until) = event_position(event).or_else(|| completed_call_position(answer, event)) else {
            return;
        };
        let is_of_call = matches!(
            event,
            RunEvent::ApprovalRequested(_) | RunEvent::ToolStart { .. } | RunEvent::ToolComplete { .. }
        );
        for (node, parts) in answer.nodes.iter().enumerate() {
            for (part, content) in parts.parts.iter().enumerate() {
                match content {
                    // Calls of one node run concurrently.
                    Part::ToolCall(call) if is_of_call && (node, part) >= until && node == until.0 => {
                        self.enter_part(node, part, MarkedPartKind::Other);
                        self.queue_call(node, part, call.index, is_terminal(call.status));
                    }
                    Part::Text { text } if (node, part) == until => {
                        if let RunEvent::TextDelta { offset, .. } = event
                            && *offset > 0
                        {
                            self.enter_part(node, part, MarkedPartKind::Text);
                            self.has_text = true;
                            self.update_tail(text.get(..*offset).unwrap_or(text));
                        }
                    }
                    _ if (node, part) >= until => {}
                    Part::ToolCall(call) => {
                        self.enter_part(node, part, MarkedPartKind::Other);
                        self.known_calls.insert(call.index);
                        self.has_before = true;
                    }
                    Part::Text { text } => {
                        self.enter_part(node, part, MarkedPartKind::Text);
                        self.has_text = true;
                        self.update_tail(text);
                    }
                    Part::Thinking { .. } => {
                        self.enter_part(node, part, MarkedPartKind::Thinking);
                    }
                    Part::Payload { .. } | Part::File { .. } => {
                        self.enter_part(node, part, MarkedPartKind::Other);
                    }
                }
            }
        }
    }

    /// Returns the frames of an event.
    pub fn frames(&mut self, event: &RunEvent) -> Vec<MarkedFrame> {
        let mut frames = Vec::new();
        match event {
            RunEvent::Thinking { node, part, .. } => {
                self.enter_part(*node, *part, MarkedPartKind::Thinking);
            }
            RunEvent::PayloadMade { node, part, .. } | RunEvent::FileMade { node, part, .. } => {
                self.enter_part(*node, *part, MarkedPartKind::Other);
            }
            RunEvent::ApprovalRequested(call) | RunEvent::ToolStart { call, .. } => {
                self.enter_part(call.node, call.part, MarkedPartKind::Other);
                self.queue_call(call.node, call.part, call.index, false);
            }
            RunEvent::ToolComplete { index, .. } => {
                frames.push(MarkedFrame::Logged);
                for call in &mut self.queue {
                    call.has_ended |= call.index == *index;
                }
                while self.queue.front().is_some_and(|call| call.has_ended) {
                    self.insert_next_marker(&mut frames);
                }
                return frames;
            }
            RunEvent::TextDelta {
                node,
                part,
                offset,
                text,
            } => {
                self.insert_all_markers(&mut frames);
                let is_new = self.enter_part(*node, *part, MarkedPartKind::Text);
                if is_new && (self.has_before || self.has_text) {
                    frames.push(inserted_frame(*node, *part, None, SEPARATOR));
                }
                self.has_text = true;
                self.push_escaped(*node, *part, *offset, text, &mut frames);
                return frames;
            }
            RunEvent::TextWasThinking { node } => self.discard_text(*node),
            RunEvent::Complete { .. } | RunEvent::Cancelled { .. } | RunEvent::Error { .. } => {
                self.insert_all_markers(&mut frames);
            }
            RunEvent::RunStarted { .. }
            | RunEvent::RunContinued { .. }
            | RunEvent::RunResumed { .. }
            | RunEvent::Status { .. }
            | RunEvent::ApprovalAnswered { .. }
            | RunEvent::ToolProgress { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::SuggestedValues { .. }
            | RunEvent::SuggestedActions { .. }
            | RunEvent::ActionTaken { .. }
            | RunEvent::Sources { .. }
            | RunEvent::Usage(_) => {}
        }
        frames.push(MarkedFrame::Logged);
        frames
    }

    /// Enters a part of the answer, which may be new. Returns true if a new text begins with it.
    fn enter_part(&mut self, node: usize, part: usize, kind: MarkedPartKind) -> bool {
        let last = self.last;
        if last.is_some_and(|last| (last.node, last.part) >= (node, part)) {
            return false;
        }
        if last.is_none_or(|last| last.node != node) {
            self.is_text_interrupted = last.is_some_and(|last| last.node + 1 == node && last.is_text);
            self.has_before |= std::mem::take(&mut self.has_text);
            self.tail_before.clone_from(&self.tail);
        }
        let is_text = kind == MarkedPartKind::Text;
        self.last = Some(PartPosition { node, part, is_text });
        // Thinking may precede a text that continues.
        self.is_text_interrupted &= kind != MarkedPartKind::Other;
        let goes_on = self.is_text_interrupted && !self.has_text;
        let is_new = is_text && !goes_on;
        if is_new {
            self.tail.clear();
        }
        is_new
    }

    /// Discards the text of a node, which is not part of the answer. Readers of the stream remove it together
    /// with its insertions.
    fn discard_text(&mut self, node: usize) {
        if let Some(last) = self.last.as_mut().filter(|last| last.node == node) {
            last.is_text = false;
            self.has_text = false;
            self.tail.clone_from(&self.tail_before);
        }
    }

    fn queue_call(&mut self, node: usize, part: usize, index: usize, has_ended: bool) {
        if self.known_calls.insert(index) {
            self.queue.push_back(QueuedCall {
                node,
                part,
                index,
                has_ended,
            });
        }
    }

    fn insert_all_markers(&mut self, frames: &mut Vec<MarkedFrame>) {
        while !self.queue.is_empty() {
            self.insert_next_marker(frames);
        }
    }

    fn insert_next_marker(&mut self, frames: &mut Vec<MarkedFrame>) {
        let Some(QueuedCall {
            node, part, index, ..
        }) = self.queue.pop_front()
        else {
            return;
        };
        if self.has_before || self.has_text {
            frames.push(inserted_frame(node, part, None, SEPARATOR));
        }
        self.has_before = true;
        frames.push(inserted_frame(node, part, Some(index), &tool_marker(index)));
    }

    /// Pushes the text of a delta with a backslash in each marker.
    fn push_escaped(
        &mut self,
        node: usize,
        part: usize,
        offset: usize,
        text: &str,
        frames: &mut Vec<MarkedFrame>,
    ) {
        let mut begin = 0;
        for (at, _) in text.match_indices(':') {
            let before = &text[..at];
            let is_mark = match before.len() < PREFIX_BEFORE_ESCAPE.len() {
                true => (self.tail.clone() + before).ends_with(PREFIX_BEFORE_ESCAPE),
                false => before.ends_with(PREFIX_BEFORE_ESCAPE),
            };
            if !is_mark {
                continue;
            }
            if begin < at {
                frames.push(MarkedFrame::Delta {
                    offset: offset + begin,
                    text: text[begin..at].to_owned(),
                });
            }
            frames.push(inserted_frame(node, part, None, "\\"));
            begin = at;
        }
        frames.push(match begin {
            0 if !matches!(frames.last(), Some(MarkedFrame::Inserted(InsertedDelta { text, .. })) if text == "\\") => {
                MarkedFrame::Logged
            }
            _ => MarkedFrame::Delta {
                offset: offset + begin,
                text: text[begin..].to_owned(),
            },
        });
        self.update_tail(text);
    }

    fn update_tail(&mut self, text: &str) {
        self.tail.push_str(text);
        let keep = self.tail.len().saturating_sub(PREFIX_BEFORE_ESCAPE.len());
        self.tail.drain(..self.tail.floor_char_boundary(keep));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkedPartKind {
    Text,
    Thinking,
    Other,
}

/// Returns the marker of a call.
pub fn tool_marker(index: usize) -> String {
    format!("{MARKER_PREFIX}{index}]]")
}

fn inserted_frame(node: usize, part: usize, marker: Option<usize>, text: &str) -> MarkedFrame {
    MarkedFrame::Inserted(InsertedDelta {
        node,
        part,
        marker,
        text: text.to_owned(),
    })
}

/// Returns the part of the answer that the event begins or continues.
fn event_position(event: &RunEvent) -> Option<(usize, usize)> {
    match event {
        RunEvent::Thinking { node, part, .. }
        | RunEvent::TextDelta { node, part, .. }
        | RunEvent::PayloadMade { node, part, .. }
        | RunEvent::FileMade { node, part, .. } => Some((*node, *part)),
        RunEvent::ApprovalRequested(call) | RunEvent::ToolStart { call, .. } => Some((call.node, call.part)),
        RunEvent::RunStarted { .. }
        | RunEvent::RunContinued { .. }
        | RunEvent::RunResumed { .. }
        | RunEvent::Status { .. }
        | RunEvent::TextWasThinking { .. }
        | RunEvent::ApprovalAnswered { .. }
        | RunEvent::ToolProgress { .. }
        | RunEvent::ToolComplete { .. }
        | RunEvent::Waiting { .. }
        | RunEvent::SuggestedValues { .. }
        | RunEvent::SuggestedActions { .. }
        | RunEvent::ActionTaken { .. }
        | RunEvent::Sources { .. }
        | RunEvent::Usage(_)
        | RunEvent::Complete { .. }
        | RunEvent::Cancelled { .. }
        | RunEvent::Error { .. } => None,
    }
}

/// Returns the position of the call that has completed.
fn completed_call_position(answer: &AssistantMessage, event: &RunEvent) -> Option<(usize, usize)> {
    let RunEvent::ToolComplete { index, .. } = event else {
        return None;
    };
    answer.nodes.iter().enumerate().find_map(|(node, parts)| {
        let is_it = |part: &Part| matches!(part, Part::ToolCall(call) if call.index == *index);
        Some((node, parts.parts.iter().position(is_it)?))
    })
}

fn is_terminal(status: ToolStatus) -> bool {
    !matches!(
        status,
        ToolStatus::Waiting | ToolStatus::Allowed | ToolStatus::Running
    )
}

#[cfg(test)]
mod tests;
