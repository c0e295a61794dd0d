//! The public stream's additions: what has to stand between the deltas of an answer's text so that all of them joined are its
//! `message`. These are the marks of its tool calls, what separates texts, and the backslash in a mark that the model wrote itself.
//!
//! Additions are `text_delta`s without an `offset`. Deltas with one are the model's text, word for word. A text that turns out to have been
//! thinking (`text_was_thinking`) was sent already: the deltas of its node, additions included, count no more.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use crate::protocol::{
    AssistantMessage, ConversationId, Event, EventBody, MessageId, Part, Position, ToolStatus,
};

/// The beginning of a mark.
pub const MARKER_PREFIX: &str = "[[tool:";

/// The same in the model's text. Markdown, but for its code, takes the backslash away again.
pub const ESCAPED_PREFIX: &str = "[[tool\\:";

/// The part of [`MARK`] before the place of the backslash.
const PREFIX_BEFORE_ESCAPE: &str = "[[tool";

/// What stands between two texts, or a text and a mark.
pub const SEPARATOR: &str = "\n\n";

/// A frame of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The event, as it was logged.
    Logged,
    /// A part of the event's text.
    Delta {
        offset: usize,
        text: String,
    },
    Inserted(InsertedDelta),
}

/// A delta that is none of the model's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InsertedDelta {
    pub node: usize,
    pub part: usize,
    /// The call whose mark this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<usize>,
    pub text: String,
}

/// An addition as an event of the stream. It has the position of the event that it comes with.
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

/// The text of an answer as far as it has been streamed.
#[derive(Debug, Default)]
pub struct ToolMarkers {
    last: Option<PartPosition>,
    /// The node before ended with a text, which the present one goes on with.
    is_text_interrupted: bool,
    /// There is a mark, or text of a node before the present one.
    has_before: bool,
    /// There is text of the present node.
    has_text: bool,
    /// The end of the present text, as long as a mark's beginning may be in it.
    tail: String,
    /// The same, where the present node began.
    tail_before: String,
    /// Calls that have no mark yet, in their order.
    queue: VecDeque<QueuedCall>,
    /// All calls that have a mark, or are in the queue.
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
    /// Returns true if something of the answer came before this event that this has not seen: see [`catch_up`](Self::catch_up).
    pub fn is_behind(&self, body: &EventBody) -> bool {
        if self.last.is_some() {
            return false;
        }
        match body {
            EventBody::ToolComplete { .. } => true,
            body => event_position(body).is_some_and(|place| place != (0, 0)),
        }
    }

    /// Takes for streamed what an answer has before the place of an event.
    pub fn catch_up(&mut self, answer: &AssistantMessage, body: &EventBody) {
        let Some(until) = event_position(body).or_else(|| completed_call_position(answer, body)) else {
            return;
        };
        let is_of_call = matches!(
            body,
            EventBody::ApprovalRequested(_) | EventBody::ToolStart { .. } | EventBody::ToolComplete { .. }
        );
        for (node, parts) in answer.nodes.iter().enumerate() {
            for (part, content) in parts.parts.iter().enumerate() {
                match content {
                    // Calls of one node go on at the same time.
                    Part::ToolCall(call) if is_of_call && (node, part) >= until && node == until.0 => {
                        self.enter_part(node, part, PartKind::Other);
                        self.queue_call(node, part, call.index, is_terminal(call.status));
                    }
                    Part::Text { text } if (node, part) == until => {
                        if let EventBody::TextDelta { offset: 1.., .. } = body {
                            self.enter_part(node, part, PartKind::Text);
                            self.has_text = true;
                            self.update_tail(text_before_delta(text, body));
                        }
                    }
                    _ if (node, part) >= until => {}
                    Part::ToolCall(call) => {
                        self.enter_part(node, part, PartKind::Other);
                        self.known_calls.insert(call.index);
                        self.has_before = true;
                    }
                    Part::Text { text } => {
                        self.enter_part(node, part, PartKind::Text);
                        self.has_text = true;
                        self.update_tail(text);
                    }
                    Part::Thinking { .. } => {
                        self.enter_part(node, part, PartKind::Thinking);
                    }
                    Part::Payload { .. } => {
                        self.enter_part(node, part, PartKind::Other);
                    }
                }
            }
        }
    }

    /// The frames that an event becomes.
    pub fn frames(&mut self, body: &EventBody) -> Vec<Frame> {
        let mut frames = Vec::new();
        match body {
            EventBody::Thinking { node, part, .. } => {
                self.enter_part(*node, *part, PartKind::Thinking);
            }
            EventBody::PayloadMade { node, part, .. } => {
                self.enter_part(*node, *part, PartKind::Other);
            }
            EventBody::ApprovalRequested(call) | EventBody::ToolStart { call, .. } => {
                self.enter_part(call.node, call.part, PartKind::Other);
                self.queue_call(call.node, call.part, call.index, false);
            }
            EventBody::ToolComplete { index, .. } => {
                frames.push(Frame::Logged);
                for call in &mut self.queue {
                    call.has_ended |= call.index == *index;
                }
                while self.queue.front().is_some_and(|call| call.has_ended) {
                    self.insert_next_marker(&mut frames);
                }
                return frames;
            }
            EventBody::TextDelta {
                node,
                part,
                offset,
                text,
            } => {
                self.insert_all_markers(&mut frames);
                let is_new = self.enter_part(*node, *part, PartKind::Text);
                if is_new && (self.has_before || self.has_text) {
                    frames.push(inserted_frame(*node, *part, None, SEPARATOR));
                }
                self.has_text = true;
                self.push_escaped(*node, *part, *offset, text, &mut frames);
                return frames;
            }
            EventBody::TextWasThinking { node } => self.take_back(*node),
            body if body.terminal_status().is_some() => self.insert_all_markers(&mut frames),
            _ => {}
        }
        frames.push(Frame::Logged);
        frames
    }

    /// Takes a part of the answer, perhaps a new one. Returns true if a new text begins with it.
    fn enter_part(&mut self, node: usize, part: usize, kind: PartKind) -> bool {
        let last = self.last;
        if last.is_some_and(|last| (last.node, last.part) >= (node, part)) {
            return false;
        }
        if last.is_none_or(|last| last.node != node) {
            self.is_text_interrupted = last.is_some_and(|last| last.node + 1 == node && last.is_text);
            self.has_before |= std::mem::take(&mut self.has_text);
            self.tail_before.clone_from(&self.tail);
        }
        let is_text = kind == PartKind::Text;
        self.last = Some(PartPosition { node, part, is_text });
        // Thinking may come before a text that goes on.
        self.is_text_interrupted &= kind != PartKind::Other;
        let goes_on = self.is_text_interrupted && !self.has_text;
        let is_new = is_text && !goes_on;
        if is_new {
            self.tail.clear();
        }
        is_new
    }

    /// The text of a node so far is none of the answer: whoever reads the stream takes it out, with what was added to it.
    fn take_back(&mut self, node: usize) {
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

    fn insert_all_markers(&mut self, frames: &mut Vec<Frame>) {
        while !self.queue.is_empty() {
            self.insert_next_marker(frames);
        }
    }

    fn insert_next_marker(&mut self, frames: &mut Vec<Frame>) {
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

    /// The text of a delta, with a backslash in each mark.
    fn push_escaped(&mut self, node: usize, part: usize, offset: usize, text: &str, frames: &mut Vec<Frame>) {
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
                frames.push(Frame::Delta {
                    offset: offset + begin,
                    text: text[begin..at].to_owned(),
                });
            }
            frames.push(inserted_frame(node, part, None, "\\"));
            begin = at;
        }
        frames.push(match begin {
            0 if !matches!(frames.last(), Some(Frame::Inserted(InsertedDelta { text, .. })) if text == "\\") => {
                Frame::Logged
            }
            _ => Frame::Delta {
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
enum PartKind {
    Text,
    Thinking,
    Other,
}

/// The mark of a call.
pub fn tool_marker(index: usize) -> String {
    format!("{MARKER_PREFIX}{index}]]")
}

fn inserted_frame(node: usize, part: usize, marker: Option<usize>, text: &str) -> Frame {
    Frame::Inserted(InsertedDelta {
        node,
        part,
        marker,
        text: text.to_owned(),
    })
}

fn event_position(body: &EventBody) -> Option<(usize, usize)> {
    match body {
        EventBody::Thinking { node, part, .. }
        | EventBody::TextDelta { node, part, .. }
        | EventBody::PayloadMade { node, part, .. } => Some((*node, *part)),
        EventBody::ApprovalRequested(call) | EventBody::ToolStart { call, .. } => {
            Some((call.node, call.part))
        }
        _ => None,
    }
}

/// The part of a text that came before a delta of it.
fn text_before_delta<'a>(text: &'a str, body: &EventBody) -> &'a str {
    match body {
        EventBody::TextDelta { offset, .. } => text.get(..*offset).unwrap_or(text),
        _ => text,
    }
}

/// The place of the call that has ended.
fn completed_call_position(answer: &AssistantMessage, body: &EventBody) -> Option<(usize, usize)> {
    let EventBody::ToolComplete { index, .. } = body else {
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
