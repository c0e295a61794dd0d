//! The conversation as the model is given it: the branch that leads to the run, and the answer so
//! far.

mod files;
mod messages;
mod run_history;

pub(super) mod fit;
pub(super) mod metadata;
pub(super) mod tokens;

pub(super) use self::{files::FileLoader, run_history::RunHistory};
use self::{
    messages::{push_answer, push_history_message, request_continuation},
    metadata::MetadataClock,
};
use super::page_payloads::PagePayloads;
use parlor_model::{ModelMessage, control::escape_metadata, roles::alternate_roles};
use parlor_protocol::MessageId;
use parlor_storage::HistorySummary;

/// Opens a summary.
const SUMMARY_OPENING: &str = "(What was said before, in short:";

/// The whole conversation that could be sent in the next call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelConversation {
    /// The system prompt.
    pub prompt: String,
    /// The note that replaces missing turns, before the first turn that is present.
    pub earlier_note: Option<String>,
    /// The earlier turns, oldest first.
    pub turns: Vec<Turn>,
    /// The current question, and the answer to it so far.
    pub current_turn: Vec<ModelMessage>,
    /// True if the last message only asks for the rest of the answer.
    pub continues_answer: bool,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The id of the last message in the turn.
    pub last_message_id: MessageId,
    pub messages: Vec<ModelMessage>,
}

impl Turn {
    pub fn tokens(&self) -> usize {
        self.messages.iter().map(tokens::estimate_message).sum()
    }
}

impl ModelConversation {
    /// Builds the conversation for an answer, without a prompt.
    pub fn new(
        run_history: RunHistory<'_>,
        page_payloads: &PagePayloads,
        clock: Option<&MetadataClock>,
    ) -> Self {
        let RunHistory {
            history,
            answer: (id, answer),
            ..
        } = run_history;
        let mut turns: Vec<Turn> = Vec::new();
        let mut before = None;
        for message in history {
            let metadata = clock.and_then(|clock| clock.render(message, before));
            before = Some(metadata::ended_at(message));
            let is_question = message.assistant().is_none();
            match turns.last_mut() {
                Some(turn) if !is_question => turn.last_message_id = message.id,
                _ => turns.push(Turn {
                    last_message_id: message.id,
                    messages: Vec::new(),
                }),
            }
            if let Some(turn) = turns.last_mut() {
                push_history_message(
                    message,
                    page_payloads,
                    run_history,
                    &metadata.unwrap_or_default(),
                    &mut turn.messages,
                );
            }
        }
        let mut latest = turns.pop().map(|turn| turn.messages).unwrap_or_default();
        push_answer(
            answer,
            page_payloads,
            run_history.answer_provider_data(id),
            true,
            &mut latest,
        );
        let continues_answer = match run_history.correction {
            Some(correction) => {
                latest.push(ModelMessage::User(escape_metadata(correction).into_owned()));
                true
            }
            None => request_continuation(&mut latest, answer),
        };
        Self {
            prompt: String::new(),
            earlier_note: None,
            turns,
            current_turn: latest,
            continues_answer,
        }
    }

    /// Replaces the oldest turns by the summary that covers most of them, in at most `max_tokens`
    /// tokens.
    pub fn apply_summary(&mut self, summaries: &[HistorySummary], max_tokens: usize) {
        let reach = |turn: &Turn| {
            summaries
                .iter()
                .find(|summary| summary.last_message_id == turn.last_message_id)
        };
        let found = self.turns.iter().enumerate().rev();
        let found = found
            .filter_map(|(index, turn)| Some((index, reach(turn)?)))
            .next();
        if let Some((index, summary)) = found {
            self.turns.drain(..=index);
            let text = escape_metadata(&summary.text);
            self.earlier_note = Some(format!(
                "{SUMMARY_OPENING}\n\n{})",
                tokens::truncate_to_tokens(&text, max_tokens)
            ));
        }
    }

    /// Returns the number of tokens, as [`tokens`] estimates it.
    pub fn tokens(&self) -> usize {
        let turns: usize = self.turns.iter().map(Turn::tokens).sum();
        let latest: usize = self.current_turn.iter().map(tokens::estimate_message).sum();
        let explanation = match self.has_metadata() {
            true => tokens::estimate_text(metadata::EXPLANATION),
            false => 0,
        };
        tokens::estimate_text_message(&self.prompt) + explanation + self.earlier_tokens() + turns + latest
    }

    /// Returns `true` if any message begins with metadata. Nobody else can write text that begins
    /// like metadata.
    fn has_metadata(&self) -> bool {
        let turns = self.turns.iter().flat_map(|turn| &turn.messages);
        turns.chain(&self.current_turn).any(|message| match message {
            ModelMessage::User(text) | ModelMessage::Assistant { text, .. } => {
                text.starts_with(metadata::OPENING)
            }
            ModelMessage::System(_) | ModelMessage::File(_) | ModelMessage::Tool { .. } => false,
        })
    }

    /// Returns the tokens of the note that replaces turns.
    fn earlier_tokens(&self) -> usize {
        self.earlier_note
            .as_deref()
            .map_or(0, tokens::estimate_text_message)
    }

    /// Converts into the messages that are sent, in an order of roles that any template takes.
    pub fn messages(self) -> Vec<ModelMessage> {
        let prompt = match self.has_metadata() {
            true => format!("{}\n\n# Metadata\n\n{}", self.prompt, metadata::EXPLANATION),
            false => self.prompt,
        };
        let mut messages = vec![ModelMessage::System(prompt)];
        messages.extend(self.turns.into_iter().flat_map(|turn| turn.messages));
        messages.extend(self.current_turn);
        // Together with the first question, since the templates of some models demand alternating
        // roles. The note is not part of the instructions: a summary repeats text of any author.
        match (self.earlier_note, messages.get_mut(1)) {
            (Some(earlier), Some(ModelMessage::User(question))) => {
                *question = format!("{earlier}\n\n{question}")
            }
            (Some(earlier), _) => messages.insert(1, ModelMessage::User(earlier)),
            (None, _) => {}
        }
        number_calls(&mut messages);
        move_answer_files(&mut messages);
        alternate_roles(&mut messages);
        messages
    }
}

/// Moves the images of an answer after the next message of the user: no protocol takes files from the model.
fn move_answer_files(messages: &mut Vec<ModelMessage>) {
    let mut moved = Vec::new();
    let mut is_after_answer = false;
    for message in std::mem::take(messages) {
        match message {
            ModelMessage::File(file) if is_after_answer => moved.push(ModelMessage::File(file)),
            ModelMessage::User(_) => {
                messages.push(message);
                messages.append(&mut moved);
                is_after_answer = false;
            }
            message => {
                let is_answer =
                    matches!(&message, ModelMessage::Assistant { tool_calls, .. } if tool_calls.is_empty());
                is_after_answer = is_answer || is_after_answer && matches!(message, ModelMessage::File(_));
                messages.push(message);
            }
        }
    }
}

/// Numbers the calls throughout the conversation: a model that counts its calls from 1 restarts in
/// every answer. An id has nine letters or digits, the only form that Mistral accepts.
fn number_calls(messages: &mut [ModelMessage]) {
    let mut count = 0;
    let mut awaited: Vec<(String, String)> = Vec::new();
    for message in messages {
        match message {
            ModelMessage::Assistant {
                tool_calls,
                provider_data,
                ..
            } => {
                awaited.clear();
                // The provider data may refer to the ids.
                let is_signed =
                    !provider_data.is_empty() || tool_calls.iter().any(|call| !call.provider_data.is_empty());
                for call in tool_calls {
                    count += 1;
                    if is_signed {
                        continue;
                    }
                    let id = format!("call{count:05}");
                    awaited.push((std::mem::replace(&mut call.id, id.clone()), id));
                }
            }
            ModelMessage::Tool { tool_use_id, .. } => {
                // Each id is used once: a model may give two of its calls the same id.
                if let Some(index) = awaited.iter().position(|(old, _)| old == tool_use_id) {
                    *tool_use_id = awaited.remove(index).1;
                }
            }
            ModelMessage::System(_) | ModelMessage::User(_) | ModelMessage::File(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
