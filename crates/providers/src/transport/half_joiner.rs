//! Joins the halves of a character that a server has split over two deltas, as in `"\ud83d"` and `"\ude00"`.

use std::collections::{BTreeMap, VecDeque};

use parlor_model::{
    ModelEvent,
    lenient_json::{join_marks, without_marks},
};
use parlor_protocol::{CitedSource, RawJson};

/// Joins marked halves within each part of an answer.
#[derive(Debug, Default)]
pub struct HalfJoiner {
    /// True if the answer has had marks. Without them, events are passed on as they are.
    pub has_marks: bool,
    /// The half at the end of the last text or thinking, and whether it is of thinking.
    open: Option<(u32, bool)>,
    /// The halves at the end of the arguments of calls.
    open_arguments: BTreeMap<usize, u32>,
}

impl HalfJoiner {
    /// Appends events, with their halves joined.
    pub fn join(&mut self, mut decoded: VecDeque<ModelEvent>, events: &mut VecDeque<ModelEvent>) {
        if !self.has_marks {
            events.append(&mut decoded);
            return;
        }
        for event in decoded {
            self.join_event(event, events);
        }
    }

    fn join_event(&mut self, event: ModelEvent, events: &mut VecDeque<ModelEvent>) {
        let event = match event {
            ModelEvent::Text(text) => return self.join_delta(&text, false, events),
            ModelEvent::Thinking(text) => return self.join_delta(&text, true, events),
            ModelEvent::ToolArguments { index, delta } => {
                let mut open = self.open_arguments.remove(&index);
                let delta = join_marks(&delta, &mut open);
                self.open_arguments.extend(open.map(|half| (index, half)));
                if !delta.is_empty() {
                    events.push_back(ModelEvent::ToolArguments { index, delta });
                }
                return;
            }
            ModelEvent::ToolCall { index, id, name } => ModelEvent::ToolCall {
                index,
                id: without_marks(&id),
                name: without_marks(&name),
            },
            ModelEvent::ProviderData { target, mut data } => {
                data.value = RawJson::parse_or_quote(&without_marks(data.value.as_str()));
                ModelEvent::ProviderData { target, data }
            }
            ModelEvent::Sources(sources) => {
                let sources = sources.into_iter().map(|source| CitedSource {
                    title: without_marks(&source.title),
                    url: without_marks(&source.url),
                    ..source
                });
                ModelEvent::Sources(sources.collect())
            }
            ModelEvent::Refusal(text) => ModelEvent::Refusal(without_marks(&text)),
            ModelEvent::Note(text) => ModelEvent::Note(without_marks(&text)),
            ModelEvent::Unreadable { what, raw } => ModelEvent::Unreadable {
                what,
                raw: without_marks(&raw),
            },
            event => event,
        };
        match &event {
            ModelEvent::Finished(_) => self.end(events),
            ModelEvent::ToolCall { .. }
            | ModelEvent::TextWasThinking
            | ModelEvent::Image(_)
            | ModelEvent::Note(_)
            | ModelEvent::Unreadable { .. } => self.end_text(events),
            _ => {}
        }
        events.push_back(event);
    }

    fn join_delta(&mut self, text: &str, is_thinking: bool, events: &mut VecDeque<ModelEvent>) {
        if self
            .open
            .is_some_and(|(_, of_thinking)| of_thinking != is_thinking)
        {
            self.end_text(events);
        }
        let mut open = self.open.take().map(|(half, _)| half);
        let joined = join_marks(text, &mut open);
        self.open = open.map(|half| (half, is_thinking));
        push_text(joined, is_thinking, events);
    }

    /// Ends a text or thinking: its half stays alone.
    fn end_text(&mut self, events: &mut VecDeque<ModelEvent>) {
        if let Some((_, is_thinking)) = self.open.take() {
            push_text(char::REPLACEMENT_CHARACTER.into(), is_thinking, events);
        }
    }

    /// Ends all parts.
    pub fn end(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.end_text(events);
        for (index, _) in std::mem::take(&mut self.open_arguments) {
            let delta = char::REPLACEMENT_CHARACTER.into();
            events.push_back(ModelEvent::ToolArguments { index, delta });
        }
    }
}

fn push_text(text: String, is_thinking: bool, events: &mut VecDeque<ModelEvent>) {
    if !text.is_empty() {
        events.push_back(match is_thinking {
            true => ModelEvent::Thinking(text),
            false => ModelEvent::Text(text),
        });
    }
}
