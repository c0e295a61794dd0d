//! What the model is shown: the branch of the conversation that leads to the run, and what the run has already said and done.

use self::metadata::Clock;
use super::workshop::Desk;
use crate::{
    control::neutral,
    model::{ModelMessage, ToolUse},
    protocol::{AssistantMessage, Message, MessageBody, MessageId, Opaque, PieceKind, ToolCall, ToolStatus},
    storage::Summary,
};

mod told;

use self::told::OpaqueOf;
pub(super) use self::told::Told;

pub(super) mod fit;
pub(super) mod metadata;
pub(super) mod tokens;

/// Asks for the rest of an answer. Few model servers go on with an answer that is the last message they are shown; all
/// of them follow an instruction.
const GO_ON: &str = "Your answer was cut off. Go on from exactly where it stops, in the middle of a word if need be. Do not \
                     repeat any of it, do not begin anew, and do not mention this.";

/// Stands in place of a person's message that can't be read, so that roles go on taking turns.
const DAMAGED: &str = "(A message of the person stood here. It is damaged and can't be read.)";

/// Said before a summary.
const SUMMARY: &str = "(What was said before, in short:";

/// All that a model could be shown for its next call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversation {
    /// What it is told before all else.
    pub prompt: String,
    /// What is said in place of turns that are not here, before the first that is.
    pub earlier: Option<String>,
    /// What was said before, oldest first.
    pub turns: Vec<Turn>,
    /// The question that is being answered, and what the run has already said and done.
    pub latest: Vec<ModelMessage>,
}

/// A question and its answer. Answers that came to nothing are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The last message that is in it.
    pub reaches: MessageId,
    pub messages: Vec<ModelMessage>,
}

impl Turn {
    pub fn tokens(&self) -> usize {
        self.messages.iter().map(tokens::of_message).sum()
    }
}

impl Conversation {
    /// What there is to show for an answer, without a prompt.
    pub fn new(told: Told<'_>, desk: &Desk, clock: Option<&Clock>) -> Self {
        let Told { history, begun, .. } = told;
        let mut turns: Vec<Turn> = Vec::new();
        let mut before = None;
        for message in history {
            let metadata = clock.and_then(|clock| clock.metadata(message, before));
            before = Some(metadata::ended_at(message));
            let is_question = message.assistant().is_none();
            match turns.last_mut() {
                Some(turn) if !is_question => turn.reaches = message.id,
                _ => turns.push(Turn {
                    reaches: message.id,
                    messages: Vec::new(),
                }),
            }
            if let Some(turn) = turns.last_mut() {
                shown(
                    message,
                    desk,
                    told,
                    &metadata.unwrap_or_default(),
                    &mut turn.messages,
                );
            }
        }
        let mut latest = turns.pop().map(|turn| turn.messages).unwrap_or_default();
        let (id, begun) = begun;
        said_and_done(begun, desk, told.opaque_of(id), true, &mut latest);
        go_on(&mut latest, begun);
        Self {
            prompt: String::new(),
            earlier: None,
            turns,
            latest,
        }
    }

    /// Puts the summary that reaches furthest in the place of what it is of, in at most so many tokens.
    pub fn apply(&mut self, summaries: &[Summary], most: usize) {
        let reach = |turn: &Turn| summaries.iter().find(|summary| summary.reaches == turn.reaches);
        let found = self.turns.iter().enumerate().rev();
        let found = found
            .filter_map(|(index, turn)| Some((index, reach(turn)?)))
            .next();
        if let Some((index, summary)) = found {
            self.turns.drain(..=index);
            let text = neutral(&summary.text);
            self.earlier = Some(format!("{SUMMARY}\n\n{})", tokens::first_of(&text, most)));
        }
    }

    /// What it comes to, as [`tokens`] estimates it.
    pub fn tokens(&self) -> usize {
        let turns: usize = self.turns.iter().map(Turn::tokens).sum();
        let latest: usize = self.latest.iter().map(tokens::of_message).sum();
        let explanation = match self.has_metadata() {
            true => tokens::of_text(metadata::EXPLANATION),
            false => 0,
        };
        tokens::of_words(&self.prompt) + explanation + self.earlier_tokens() + turns + latest
    }

    /// Whether metadata stand before any message. Nobody else can write what begins like them.
    fn has_metadata(&self) -> bool {
        let turns = self.turns.iter().flat_map(|turn| &turn.messages);
        turns.chain(&self.latest).any(|message| match message {
            ModelMessage::User(text) | ModelMessage::Assistant { text, .. } => {
                text.starts_with(metadata::OPENING)
            }
            ModelMessage::System(_) | ModelMessage::Tool { .. } => false,
        })
    }

    /// What it comes to that is said in place of turns.
    fn earlier_tokens(&self) -> usize {
        self.earlier.as_deref().map_or(0, tokens::of_words)
    }

    /// The messages, as they are sent.
    pub fn messages(self) -> Vec<ModelMessage> {
        let prompt = match self.has_metadata() {
            true => format!("{}\n\n# Metadata\n\n{}", self.prompt, metadata::EXPLANATION),
            false => self.prompt,
        };
        let mut messages = vec![ModelMessage::System(prompt)];
        messages.extend(self.turns.into_iter().flat_map(|turn| turn.messages));
        messages.extend(self.latest);
        // With the question that comes first, since some models' templates demand that roles take turns. It is no instruction: a
        // summary repeats what anybody may have said.
        match (self.earlier, messages.get_mut(1)) {
            (Some(earlier), Some(ModelMessage::User(question))) => {
                *question = format!("{earlier}\n\n{question}")
            }
            (Some(earlier), _) => messages.insert(1, ModelMessage::User(earlier)),
            (None, _) => {}
        }
        number_calls(&mut messages);
        messages
    }
}

/// A message of the history, with its metadata before its text: the only ones that are in it, whoever wrote the text.
fn shown(message: &Message, desk: &Desk, told: Told<'_>, metadata: &str, messages: &mut Vec<ModelMessage>) {
    let answer = match &message.body {
        MessageBody::User { text, .. } => {
            messages.push(ModelMessage::User([metadata, &*neutral(text)].concat()));
            return;
        }
        MessageBody::Damaged => {
            messages.push(ModelMessage::User([metadata, DAMAGED].concat()));
            return;
        }
        MessageBody::Assistant(answer) => answer,
    };
    let begin = messages.len();
    said_and_done(answer, desk, told.opaque_of(message.id), false, messages);
    // Before the last of its texts: what comes earlier stays as it was while it was made, for servers that remember that.
    let text_of = |message: &mut ModelMessage| match message {
        ModelMessage::Assistant { text, .. } => Some(std::mem::take(text)),
        _ => None,
    };
    let is_said = |message: &&mut ModelMessage| matches!(message, ModelMessage::Assistant { text, .. } if !text.is_empty());
    if let Some(last) = messages[begin..].iter_mut().rfind(is_said)
        && let Some(said) = text_of(last)
        && let ModelMessage::Assistant { text, .. } = last
    {
        *text = [metadata, &said].concat();
    }
}

/// What a run has said, and what its tools have given; with what it thought before it asked for them, if that is wanted. What it
/// has made for the panel stands where it wrote it, as `desk` knows it.
fn said_and_done(
    assistant: &AssistantMessage,
    desk: &Desk,
    opaque: OpaqueOf<'_>,
    with_thinking: bool,
    messages: &mut Vec<ModelMessage>,
) {
    let mut turn = Said::new(opaque);
    for piece in assistant.pieces() {
        match piece.kind {
            PieceKind::Payload(payload) => {
                if let Some(written) = desk.as_written(&payload.payload_id) {
                    turn.ends_before(piece.key.0, messages);
                    turn.say(&written);
                }
            }
            PieceKind::Thinking => {
                turn.ends_before(piece.key.0, messages);
                if with_thinking {
                    turn.thinking.push_str(&piece.texts.concat());
                }
            }
            PieceKind::Text => {
                turn.ends_before(piece.key.0, messages);
                turn.say(&piece.texts.concat());
            }
            PieceKind::Tool(call) => {
                turn.ends_before(piece.key.0, messages);
                turn.node = piece.key.0;
                turn.calls.push((call, piece.key.1));
            }
        }
        turn.reaches = turn.reaches.max(Some(piece.key.0));
    }
    turn.end(messages);
}

/// What the model said until it waited for its tools.
struct Said<'a> {
    text: String,
    thinking: String,
    /// The calls, with their places in their node.
    calls: Vec<(&'a ToolCall, usize)>,
    /// Where the calls are.
    node: usize,
    /// The last node of which something is here.
    reaches: Option<usize>,
    /// The first node of which the data for the provider have not been shown.
    untold: usize,
    opaque: OpaqueOf<'a>,
}

impl<'a> Said<'a> {
    fn new(opaque: OpaqueOf<'a>) -> Self {
        Self {
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            node: 0,
            reaches: None,
            untold: 0,
            opaque,
        }
    }

    /// What is in another node than the calls comes after what they gave.
    fn ends_before(&mut self, node: usize, messages: &mut Vec<ModelMessage>) {
        if !self.calls.is_empty() && node != self.node {
            self.end(messages);
        }
    }

    fn say(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&neutral(text));
    }

    fn end(&mut self, messages: &mut Vec<ModelMessage>) {
        let (text, calls) = (std::mem::take(&mut self.text), std::mem::take(&mut self.calls));
        // Of what came to no call, only the answer counts.
        let thinking = Some(std::mem::take(&mut self.thinking));
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let end = self.reaches.map_or(0, |node| node + 1);
        let nodes = self.untold..end.max(self.untold);
        self.untold = nodes.end;
        let (opaque, node) = (self.opaque, self.node);
        let parts: Vec<usize> = calls.iter().map(|(_, part)| *part).collect();
        messages.push(ModelMessage::Assistant {
            text,
            thinking: thinking
                .filter(|thoughts| !thoughts.is_empty() && !calls.is_empty())
                .map(|thoughts| neutral(&thoughts).into_owned()),
            tool_calls: calls
                .iter()
                .map(|(call, part)| as_asked(call, opaque.beside(node, *part)))
                .collect(),
            opaque: opaque.of_nodes(nodes, (node, &parts)),
        });
        messages.extend(calls.iter().map(|(call, _)| ModelMessage::Tool {
            tool_use_id: call.tool_use_id.clone(),
            output: output(call),
        }));
    }
}

fn as_asked(call: &ToolCall, opaque: Vec<Opaque>) -> ToolUse {
    let input = call.input.as_str();
    ToolUse {
        id: call.tool_use_id.clone(),
        name: call.tool.clone(),
        // Servers parse it, and refuse a conversation in which it is not an object.
        arguments: if input.starts_with('{') {
            neutral(input).into_owned()
        } else {
            "{}".into()
        },
        opaque,
    }
}

/// Every call has to be followed by something, whatever has become of it.
fn output(call: &ToolCall) -> String {
    match &call.output {
        Some(output) => neutral(output).into_owned(),
        None => match call.status {
            ToolStatus::Unknown | ToolStatus::Running => {
                "The outcome of this call is unknown: it was broken off.".into()
            }
            ToolStatus::Stopped => "The person stopped this before it had ended.".into(),
            _ => "This call was not made.".into(),
        },
    }
}

/// Asks for the rest of an answer that is continued. Roles go on taking turns, as some models' templates demand.
fn go_on(branch: &mut Vec<ModelMessage>, begun: &AssistantMessage) {
    let pieces = begun.pieces();
    let since_tools = pieces
        .iter()
        .rev()
        .take_while(|piece| !matches!(piece.kind, PieceKind::Tool(_)));
    let mut thoughts = Vec::new();
    for piece in since_tools {
        if matches!(piece.kind, PieceKind::Text | PieceKind::Payload(_)) {
            branch.push(ModelMessage::User(GO_ON.into()));
            return;
        }
        thoughts.insert(0, piece.texts.concat());
    }
    if thoughts.is_empty() {
        return;
    }
    // There is no role for thoughts without an answer.
    let thoughts = format!(
        "(You had begun to think about this and were cut off before you answered. Go on from where your thoughts stop, and do \
         not mention this. Your thoughts so far:\n\n{})",
        neutral(&thoughts.join("\n\n"))
    );
    match branch.last_mut() {
        Some(ModelMessage::User(question)) => *question = format!("{question}\n\n{thoughts}"),
        _ => branch.push(ModelMessage::User(thoughts)),
    }
}

/// Numbers the calls: a model that counts its calls from 1 does so in every answer, and Mistral takes nine letters and digits only.
fn number_calls(messages: &mut [ModelMessage]) {
    let mut count = 0;
    let mut awaited: Vec<(String, String)> = Vec::new();
    for message in messages {
        match message {
            ModelMessage::Assistant {
                tool_calls, opaque, ..
            } => {
                awaited.clear();
                // What their server said beside them may name them.
                let is_signed = !opaque.is_empty() || tool_calls.iter().any(|call| !call.opaque.is_empty());
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
                // Each is taken once: a model may give two of its calls the same id.
                if let Some(index) = awaited.iter().position(|(old, _)| old == tool_use_id) {
                    *tool_use_id = awaited.remove(index).1;
                }
            }
            ModelMessage::System(_) | ModelMessage::User(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
