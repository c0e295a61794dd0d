//! Messages for models with limited features: content without a role or field of its own is sent as text.

use std::borrow::Cow;

use super::fallback_calls::{one_call_each, without_call_texts};
use parlor_model::{ModelMessage, ModelRequest, ServerCapabilities, ToolUse, roles::separate_tool_files};

/// The forms of tools that a model takes.
#[derive(Clone, Copy, Debug)]
pub struct ToolForm {
    /// Tools, calls and outputs in their own fields.
    pub tools: bool,
    /// Earlier calls and outputs in their own fields.
    pub roles: bool,
    /// Files directly behind outputs.
    pub files: bool,
    /// Several calls in one message.
    pub groups: bool,
    /// Words and calls in one message.
    pub texts: bool,
}

impl From<ServerCapabilities> for ToolForm {
    fn from(capabilities: ServerCapabilities) -> Self {
        Self {
            tools: capabilities.tools,
            roles: capabilities.tool_roles,
            files: capabilities.tool_files,
            groups: capabilities.call_groups,
            texts: capabilities.call_texts,
        }
    }
}

/// Returns the forced tools among those that are offered to the model.
pub fn offered_forced_tools(request: &ModelRequest) -> Vec<&str> {
    let is_offered = |name: &&str| request.tools.iter().any(|tool| tool.name == **name);
    let names = request.force_tools.iter().map(String::as_str);
    names.filter(is_offered).collect()
}

/// Appends to the system prompt that these tools must be called.
pub fn require_tools(messages: &mut Vec<ModelMessage>, tools: &[&str]) {
    let words = format!(
        "For the next answer the person wants these tools to be used: {}. Call each of them before you answer, whatever you \
         would do otherwise.",
        tools.join(", ")
    );
    match messages.first_mut() {
        Some(ModelMessage::System(prompt)) => *prompt = format!("{prompt}\n\n{words}"),
        _ => messages.insert(0, ModelMessage::System(words)),
    }
}

/// Returns a request as it is sent to a server: without tools, with its calls in text, one by one or without words, or with
/// its files apart, as far as the model takes them otherwise.
pub fn adapt_tools(request: &ModelRequest, form: ToolForm) -> Cow<'_, ModelRequest> {
    let mut messages = Cow::Borrowed(request.messages.as_slice());
    if !form.tools || !form.roles {
        messages = Cow::Owned(without_tools(&messages));
    } else {
        for (is_taken, adapt) in [
            (
                form.groups,
                one_call_each as fn(&[ModelMessage]) -> Option<Vec<ModelMessage>>,
            ),
            (form.texts, without_call_texts),
            (form.files, separate_tool_files),
        ] {
            if !is_taken && let Some(adapted) = adapt(&messages) {
                messages = Cow::Owned(adapted);
            }
        }
    }
    let Cow::Owned(messages) = messages else {
        return Cow::Borrowed(request);
    };
    Cow::Owned(ModelRequest {
        messages,
        tools: match form.tools {
            true => request.tools.clone(),
            false => Vec::new(),
        },
        ..request.clone()
    })
}

/// Describes tool calls and their outputs in text, for a model without tools. The roles still alternate.
pub fn without_tools(messages: &[ModelMessage]) -> Vec<ModelMessage> {
    let mut converted: Vec<ModelMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            ModelMessage::Assistant { text, tool_calls, .. } if !tool_calls.is_empty() => {
                let used = tool_calls
                    .iter()
                    .map(describe_tool_use)
                    .collect::<Vec<_>>()
                    .join("\n");
                let content = if text.is_empty() {
                    used
                } else {
                    format!("{text}\n\n{used}")
                };
                converted.push(ModelMessage::assistant(content));
            }
            ModelMessage::Tool { output, .. } => {
                append_user_text(&mut converted, &format!("(A tool gave:)\n{output}"))
            }
            ModelMessage::User(text) => append_user_text(&mut converted, text),
            other => converted.push(other.clone()),
        }
    }
    converted
}

fn describe_tool_use(call: &ToolUse) -> String {
    format!("(I used the tool {} with {}.)", call.name, call.arguments)
}

/// Appends to the last user message, before its files, or adds one after the model's answer.
fn append_user_text(messages: &mut Vec<ModelMessage>, text: &str) {
    let mut from_last = messages.iter_mut().rev();
    match from_last.find(|message| !matches!(message, ModelMessage::File(_))) {
        Some(ModelMessage::User(content)) => *content = format!("{content}\n\n{text}"),
        _ => messages.push(ModelMessage::User(text.to_owned())),
    }
}

/// Moves the instructions to the first user message, for a model without a system role.
pub fn without_system(messages: &mut Vec<ModelMessage>) {
    let Some(ModelMessage::System(_)) = messages.first() else {
        return;
    };
    if let ModelMessage::System(prompt) = messages.remove(0) {
        match messages.first_mut() {
            Some(ModelMessage::User(question)) => *question = format!("{prompt}\n\n{question}"),
            _ => messages.insert(0, ModelMessage::User(prompt)),
        }
    }
}

/// Returns true if a request has tools or tool outputs.
pub fn has_tools(request: &ModelRequest) -> bool {
    let is_tool = |message: &ModelMessage| matches!(message, ModelMessage::Tool { .. });
    !request.tools.is_empty() || request.messages.iter().any(is_tool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_model::{ModelFile, roles::order_violation};
    use parlor_protocol::AttachmentId;

    fn assistant_asking(text: &str, tools: &[&str]) -> ModelMessage {
        let call = |tool: &&str| ToolUse {
            id: (*tool).into(),
            name: (*tool).into(),
            arguments: "{}".into(),
            provider_data: Vec::new(),
        };
        ModelMessage::Assistant {
            text: text.into(),
            thinking: Some("Hm.".into()),
            tool_calls: tools.iter().map(call).collect(),
            provider_data: Vec::new(),
        }
    }

    fn tool_output(output: &str) -> ModelMessage {
        ModelMessage::Tool {
            tool_use_id: "1".into(),
            output: output.into(),
        }
    }

    fn user(text: &str) -> ModelMessage {
        ModelMessage::User(text.into())
    }

    #[test]
    fn describes_tool_calls_in_text_with_alternating_roles() {
        let messages = vec![
            ModelMessage::System("Be brief.".into()),
            user("Why?"),
            assistant_asking("", &["look", "listen"]),
            tool_output("x"),
            tool_output("y"),
            assistant_asking("Once more.", &["look"]),
            tool_output("z"),
            ModelMessage::assistant("So."),
            user("And?"),
        ];
        assert_eq!(
            without_tools(&messages),
            [
                ModelMessage::System("Be brief.".into()),
                user("Why?"),
                ModelMessage::assistant("(I used the tool look with {}.)\n(I used the tool listen with {}.)"),
                user("(A tool gave:)\nx\n\n(A tool gave:)\ny"),
                ModelMessage::assistant("Once more.\n\n(I used the tool look with {}.)"),
                user("(A tool gave:)\nz"),
                ModelMessage::assistant("So."),
                user("And?"),
            ]
        );
    }

    #[test]
    fn described_outputs_keep_the_order_around_files() {
        let file = || {
            ModelMessage::File(ModelFile {
                id: AttachmentId::new(),
                name: "a.png".into(),
                media_type: "image/png".into(),
                bytes: 1,
                text_bytes: None,
                problem: None,
                tokens: 0,
                base64: "".into(),
            })
        };
        let messages = [
            user("Why?"),
            file(),
            assistant_asking("", &["1"]),
            tool_output("x"),
            file(),
            ModelMessage::assistant("(This answer failed here.)"),
            user("And?"),
        ];
        assert_eq!(order_violation(&messages), None);
        assert_eq!(order_violation(&without_tools(&messages)), None);
        let form = ToolForm {
            files: false,
            ..ToolForm::from(ServerCapabilities::ALL)
        };
        let request = ModelRequest::new("x/m", messages.to_vec());
        assert_eq!(order_violation(&adapt_tools(&request, form).messages), None);
    }

    #[test]
    fn moves_instructions_before_the_first_question() {
        let system = || ModelMessage::System("Be brief.".into());
        for (messages, expected) in [
            (vec![system(), user("Why?")], vec![user("Be brief.\n\nWhy?")]),
            (vec![system()], vec![user("Be brief.")]),
            (vec![user("Why?")], vec![user("Why?")]),
        ] {
            let mut messages = messages;
            without_system(&mut messages);
            assert_eq!(messages, expected);
        }
    }
}
