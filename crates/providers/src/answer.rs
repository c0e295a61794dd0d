//! The decoded part of an answer, which is alike in all protocols.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::{
    answer_layout::{BlockPlace, LayoutRecorder},
    images::image_event,
    sources::CitedPages,
    transport::{event_decoder::DecodeError, other_protocol::detect_other_protocol},
    unreadable::UnreadableContents,
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, ReportedUsage, UnreadableContent};
use parlor_protocol::RawJson;

/// An answer that is being decoded.
#[derive(Debug)]
pub struct Answer {
    /// The events that were not taken yet.
    pub events: VecDeque<ModelEvent>,
    layout: LayoutRecorder,
    /// The number of calls so far.
    pub calls: usize,
    /// The index of the ended call without arguments, and its input. Only what follows tells whether it was cut
    /// off: a server also ends a call at the maximum length.
    bare_call: Option<(usize, String)>,
    sources: CitedPages,
    unreadable: UnreadableContents,
    /// The usage that the server has reported and no event has.
    pub usage: Option<ReportedUsage>,
    /// The explanation of a withheld answer.
    pub refusal: Option<ModelEvent>,
    /// The reason of the end, once it has arrived. Only the usage may follow.
    pub finish: Option<FinishReason>,
    /// True if an event of this protocol was decoded.
    pub has_begun: bool,
    /// True if [`ModelEvent::Finished`] was emitted.
    pub has_ended: bool,
}

impl Answer {
    /// Begins an answer of a provider, whose data have this kind.
    pub fn new(provider_kind: &'static str) -> Self {
        Self {
            events: VecDeque::new(),
            layout: LayoutRecorder::new(provider_kind),
            calls: 0,
            bare_call: None,
            sources: CitedPages::default(),
            unreadable: UnreadableContents::default(),
            usage: None,
            refusal: None,
            finish: None,
            has_begun: false,
            has_ended: false,
        }
    }

    /// Notes a frame of an answer, which has the endpoint's protocol if `is_own`.
    ///
    /// # Errors
    ///
    /// If it is the first frame and has another known protocol.
    pub fn note_frame(&mut self, is_own: bool, data: &str, kind: EndpointKind) -> Result<(), DecodeError> {
        self.has_begun |= is_own;
        match self.has_begun {
            true => Ok(()),
            false => detect_other_protocol(data, kind).map_or(Ok(()), Err),
        }
    }

    /// Adds text, which may have thinking in tags.
    pub fn push_text(&mut self, text: &str) {
        self.layout.push_text(text, &mut self.events);
    }

    /// Separates the next text from the text before.
    pub fn split_text(&mut self) {
        self.layout.split_text(&mut self.events);
    }

    /// Adds thinking that came by itself.
    pub fn push_thinking(&mut self, text: &str) {
        self.layout.push_thinking(text, &mut self.events);
    }

    /// Adds a block that only the provider understands.
    pub fn push_block(&mut self, raw: &RawJson) {
        self.layout.push_block(raw, &mut self.events);
    }

    /// Adds a block of the provider's own tools, which stands between two paragraphs.
    pub fn push_tool_block(&mut self, raw: &RawJson) {
        self.push_block(raw);
        self.end_paragraph();
    }

    /// Separates the text of the next model call, which continues this answer, from a text that has ended.
    pub fn separate_continuation(&mut self) {
        self.layout.separate_continuation(&mut self.events);
    }

    /// Separates the next text from a text directly before it: something that is not shown stands between them.
    pub fn end_paragraph(&mut self) {
        self.layout.end_paragraph(&mut self.events);
    }

    /// Keeps the place of a block of the provider that has begun. What follows may end before it.
    pub fn open_block(&mut self) -> BlockPlace {
        self.layout.open_block(&mut self.events)
    }

    /// Adds a block of the provider at the place that was kept for it; at the end, if there is none.
    pub fn close_block(&mut self, place: Option<BlockPlace>, raw: &RawJson) {
        self.layout.close_block(place, raw, &mut self.events);
    }

    /// Gives up the place of a block that is not kept.
    pub fn give_up_block(&mut self, place: BlockPlace) {
        self.layout.give_up_block(place, &mut self.events);
    }

    /// Releases all that is held, at the end.
    pub fn close(&mut self) {
        self.layout.close(&mut self.events);
    }

    /// Releases held text, before anything else.
    pub fn flush(&mut self) {
        self.layout.flush(&mut self.events);
    }

    /// Adds the image in a part of the answer.
    pub fn push_image(&mut self, raw: &str) {
        self.flush();
        self.events.push_back(image_event(raw));
    }

    /// Begins a call and returns its index. A call without an id gets one.
    pub fn begin_call(&mut self, id: String, name: String) -> usize {
        let index = self.calls;
        self.calls += 1;
        self.layout.push_call(&mut self.events);
        let id = match id.is_empty() {
            true => format!("call_{index}"),
            false => id,
        };
        self.events.push_back(ModelEvent::ToolCall { index, id, name });
        index
    }

    pub fn push_arguments(&mut self, index: usize, delta: String) {
        self.events.push_back(ModelEvent::ToolArguments { index, delta });
    }

    /// Ends a call without arguments. Its input, which usually is empty, is emitted if the answer goes on.
    pub fn end_bare_call(&mut self, index: usize, input: String) {
        self.release_bare_call();
        self.bare_call = Some((index, input));
    }

    /// Emits the input of the call that has ended without arguments: the answer goes on.
    pub fn release_bare_call(&mut self) {
        if let Some((index, input)) = self.bare_call.take() {
            self.push_arguments(index, input);
        }
    }

    /// Adds a cited page.
    pub fn add_page(&mut self, url: &str, title: Option<&str>) {
        self.events.extend(self.sources.add(url, title));
    }

    /// Adds a cited document. `names` are its possible names, the best one first.
    pub fn add_document<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.events.extend(self.sources.add_document(names));
    }

    /// Reports content that can't be read, unless some of that name was reported.
    pub fn push_unreadable(&mut self, what: UnreadableContent, raw: &str) {
        self.unreadable.push(what, raw, &mut self.events);
    }

    /// Reports content of an unknown type.
    pub fn push_unknown(&mut self, name: impl Into<String>, raw: &str) {
        self.push_unreadable(UnreadableContent::Unknown(name.into()), raw);
    }

    /// Ends the last call. If the answer was cut short, arguments that look complete may lack their rest.
    pub fn end_calls(&mut self, reason: &FinishReason) {
        let is_cut = |(_, input): &(usize, String)| reason.is_cut_short() && is_empty_object(input);
        match self.bare_call.as_ref().is_some_and(is_cut) {
            true => self.bare_call = None,
            false => self.release_bare_call(),
        }
    }

    /// Takes the reason of the end. Without one, the end is an ordinary one.
    pub fn take_reason(&mut self) -> FinishReason {
        self.finish.take().unwrap_or(FinishReason::Stop)
    }

    /// Ends the answer.
    pub fn end(&mut self, reason: FinishReason) {
        self.end_calls(&reason);
        self.close();
        let refusal = self.refusal.take().filter(|_| reason.is_withheld());
        self.events.extend(refusal);
        self.events.extend(self.usage.take().map(ModelEvent::Usage));
        // Some servers send an ordinary reason with calls.
        let calls_tools = reason == FinishReason::Stop && self.calls > 0;
        self.events.push_back(ModelEvent::Finished(match calls_tools {
            true => FinishReason::ToolCalls,
            false => reason,
        }));
        self.has_ended = true;
    }
}

fn is_empty_object(input: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(input).is_ok_and(|input| input.is_empty())
}
