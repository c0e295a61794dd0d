//! One message of a conversation as the model is given it: a question, or an answer with its tool calls and
//! their outputs.

use super::{
    super::page_payloads::PagePayloads,
    run_history::{AnswerProviderData, RunHistory},
};
use parlor_files as files;
use parlor_model::{ModelMessage, ToolUse, control::escape_metadata};
use parlor_protocol::{
    AssistantMessage, Attachment, FinishReason, JoinedPartKind, Message, MessageBody, ProviderData,
    RunStatus, ToolCall, ToolStatus,
};

/// Asks for the rest of an answer. Few model servers continue an answer that is the last message of
/// a request; all of them follow an instruction.
pub(super) const CONTINUE_PROMPT: &str = "Your answer was cut off. Go on from exactly where it stops, in the middle of a word if need be. Do not \
                     repeat any of it, do not begin anew, and do not mention this.";

/// Stands between a tool's output and the thoughts after it that were cut off.
const CUT_THINKING: &str = "(I had begun to think about this and was cut off.)";

/// The text of an answer that consists of images.
const ONLY_IMAGES: &str = "(My answer was an image.)";

/// Replaces the user's message that can't be read, so that the roles still alternate.
pub(super) const DAMAGED_MESSAGE: &str =
    "(A message of the person stood here. It is damaged and can't be read.)";

/// Adds a message of the history, with its metadata before its text. Metadata in the text itself
/// are escaped, whoever wrote it.
pub(super) fn push_history_message(
    message: &Message,
    page_payloads: &PagePayloads,
    run_history: RunHistory<'_>,
    metadata: &str,
    messages: &mut Vec<ModelMessage>,
) {
    let answer = match &message.body {
        MessageBody::User { text, files, .. } => {
            messages.push(ModelMessage::User([metadata, &*escape_metadata(text)].concat()));
            messages.extend(files.iter().map(|file| ModelMessage::File(file.into())));
            return;
        }
        MessageBody::Damaged => {
            messages.push(ModelMessage::User([metadata, DAMAGED_MESSAGE].concat()));
            return;
        }
        MessageBody::Assistant(answer) => answer,
    };
    let begin = messages.len();
    push_answer(
        answer,
        page_payloads,
        run_history.answer_provider_data(message.id),
        false,
        messages,
    );
    // Before the last of its texts: earlier parts stay as they were during the run, for servers
    // that cache the prompt.
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
    if !ends_with_words(&messages[begin..]) {
        messages.push(ModelMessage::assistant(unfinished_note(answer)));
    }
}

/// Returns true if messages end with words of the model, after which the user speaks again.
fn ends_with_words(messages: &[ModelMessage]) -> bool {
    let mut from_last = messages.iter().rev();
    let last = from_last.find(|message| !matches!(message, ModelMessage::File(_)));
    matches!(last, Some(ModelMessage::Assistant { text, tool_calls, .. }) if tool_calls.is_empty() && !text.trim().is_empty())
}

/// Returns the words in place of an answer that has none, or none after its last tool.
fn unfinished_note(answer: &AssistantMessage) -> &'static str {
    let is_withheld = answer
        .finish_reason
        .as_ref()
        .is_some_and(FinishReason::is_withheld);
    match answer.status {
        _ if answer.is_damaged() => "(This answer is damaged and can't be read.)",
        RunStatus::Stopped => "(The person stopped this answer here.)",
        RunStatus::Failed if is_withheld => "(This answer was withheld by a content filter.)",
        RunStatus::Failed => "(This answer failed here.)",
        RunStatus::Interrupted => "(This answer was broken off here.)",
        RunStatus::Complete if answer.finish_reason == Some(FinishReason::Steered) => {
            "(This answer ended here for the person's next message.)"
        }
        RunStatus::Running | RunStatus::Waiting | RunStatus::Complete => "(This answer ended here.)",
    }
}

/// Adds a run's texts and tool outputs, and its thinking before tool calls if `with_thinking` is
/// true. A payload that the run made for the panel stands where the model wrote it, as
/// `page_payloads` has it.
pub(super) fn push_answer(
    assistant: &AssistantMessage,
    page_payloads: &PagePayloads,
    provider_data: AnswerProviderData<'_>,
    with_thinking: bool,
    messages: &mut Vec<ModelMessage>,
) {
    let mut turn = AssistantTurn::new(provider_data);
    for joined in assistant.joined_parts() {
        match joined.kind {
            JoinedPartKind::Payload(payload) => {
                if let Some(written) = page_payloads.source_text(&payload.payload_id) {
                    turn.flush_before(joined.key.0, messages);
                    turn.push_text(&written);
                }
            }
            JoinedPartKind::File(file) => {
                turn.flush_before(joined.key.0, messages);
                turn.files.push(file);
            }
            JoinedPartKind::Thinking => {
                turn.flush_before(joined.key.0, messages);
                if with_thinking {
                    turn.thinking.push_str(&joined.texts.concat());
                }
            }
            JoinedPartKind::Text => {
                turn.flush_before(joined.key.0, messages);
                turn.push_text(&joined.texts.concat());
            }
            JoinedPartKind::ToolCall(call) => {
                turn.flush_before(joined.key.0, messages);
                turn.node = joined.key.0;
                turn.calls.push((call, joined.key.1));
            }
        }
        turn.last_node = turn.last_node.max(Some(joined.key.0));
    }
    // A text that was continued is one part, with the position of its beginning.
    turn.last_node = assistant.nodes.len().checked_sub(1);
    turn.flush(messages);
}

/// The model's output up to the point where it waited for its tools.
struct AssistantTurn<'a> {
    text: String,
    thinking: String,
    /// The calls, with their positions in their node.
    calls: Vec<(&'a ToolCall, usize)>,
    /// The images that it made itself.
    files: Vec<&'a Attachment>,
    /// The node of the calls.
    node: usize,
    /// The last node that has any content here.
    last_node: Option<usize>,
    /// The first node whose provider data has not been sent.
    first_unsent_node: usize,
    provider_data: AnswerProviderData<'a>,
}

impl<'a> AssistantTurn<'a> {
    fn new(provider_data: AnswerProviderData<'a>) -> Self {
        Self {
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            files: Vec::new(),
            node: 0,
            last_node: None,
            first_unsent_node: 0,
            provider_data,
        }
    }

    /// Flushes before content of another node than the calls', which follows their outputs.
    fn flush_before(&mut self, node: usize, messages: &mut Vec<ModelMessage>) {
        if !self.calls.is_empty() && node != self.node {
            self.flush(messages);
        }
    }

    fn push_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&escape_metadata(text));
    }

    fn flush(&mut self, messages: &mut Vec<ModelMessage>) {
        let (mut text, calls) = (std::mem::take(&mut self.text), std::mem::take(&mut self.calls));
        let own_files = std::mem::take(&mut self.files);
        if text.is_empty() && calls.is_empty() && !own_files.is_empty() {
            text = ONLY_IMAGES.into();
        }
        // Without a call, only the answer counts.
        let thinking = Some(std::mem::take(&mut self.thinking));
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let end = self.last_node.map_or(0, |node| node + 1);
        let nodes = self.first_unsent_node..end.max(self.first_unsent_node);
        self.first_unsent_node = nodes.end;
        let (provider_data, node) = (self.provider_data, self.node);
        let parts: Vec<usize> = calls.iter().map(|(_, part)| *part).collect();
        messages.push(ModelMessage::Assistant {
            text,
            thinking: thinking
                .filter(|thoughts| !thoughts.is_empty() && !calls.is_empty())
                .map(|thoughts| escape_metadata(&thoughts).into_owned()),
            tool_calls: calls
                .iter()
                .map(|(call, part)| to_tool_use(call, provider_data.for_part(node, *part)))
                .collect(),
            provider_data: provider_data.for_nodes(nodes, (node, &parts)),
        });
        messages.extend(calls.iter().map(|(call, _)| ModelMessage::Tool {
            tool_use_id: call.tool_use_id.clone(),
            output: output_text(call),
        }));
        // What a tool shows to the user, the model sees too.
        let files = calls.iter().flat_map(|(call, _)| &call.attachments);
        let images = files.filter(|file| files::is_image(file) || files::is_chart(file));
        let images = images.chain(own_files);
        messages.extend(images.map(|file| ModelMessage::File(file.into())));
    }
}

fn to_tool_use(call: &ToolCall, provider_data: Vec<ProviderData>) -> ToolUse {
    let input = call.input.as_str();
    ToolUse {
        id: call.tool_use_id.clone(),
        name: call.tool.clone(),
        // Servers parse it, and reject a conversation if it is not an object.
        arguments: if input.starts_with('{') {
            escape_metadata(input).into_owned()
        } else {
            "{}".into()
        },
        provider_data,
    }
}

/// Returns the output of a call. Every call needs one, whatever its state.
fn output_text(call: &ToolCall) -> String {
    match &call.output {
        Some(output) => escape_metadata(output).into_owned(),
        None => match call.status {
            ToolStatus::Unknown | ToolStatus::Running => {
                "The outcome of this call is unknown: it was broken off.".into()
            }
            ToolStatus::Stopped => "The person stopped this before it had ended.".into(),
            _ => "This call was not made.".into(),
        },
    }
}

/// Asks for the rest of an answer that is continued. Returns true if the last message asks for nothing else.
pub(super) fn request_continuation(branch: &mut Vec<ModelMessage>, answer: &AssistantMessage) -> bool {
    if ends_with_words(branch) {
        branch.push(ModelMessage::User(CONTINUE_PROMPT.into()));
        return true;
    }
    let joined_parts = answer.joined_parts();
    let since_tools = joined_parts
        .iter()
        .rev()
        .take_while(|joined| !matches!(joined.kind, JoinedPartKind::ToolCall(_)));
    let thoughts = since_tools.filter(|joined| matches!(joined.kind, JoinedPartKind::Thinking));
    let mut thoughts: Vec<String> = thoughts.map(|joined| joined.texts.concat()).collect();
    thoughts.reverse();
    if thoughts.is_empty() {
        return false;
    }
    // No role exists for thinking without an answer.
    let thoughts = format!(
        "(You had begun to think about this and were cut off before you answered. Go on from where your thoughts stop, and do \
         not mention this. Your thoughts so far:\n\n{})",
        escape_metadata(&thoughts.join("\n\n"))
    );
    let mut from_last = branch.iter_mut().rev();
    match from_last.find(|message| !matches!(message, ModelMessage::File(_))) {
        Some(ModelMessage::User(question)) => *question = format!("{question}\n\n{thoughts}"),
        last => {
            let is_output = matches!(last, Some(ModelMessage::Tool { .. }));
            branch.extend(is_output.then(|| ModelMessage::assistant(CUT_THINKING)));
            branch.push(ModelMessage::User(thoughts));
        }
    }
    false
}
