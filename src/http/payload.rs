//! What an answer is for clients of the public contract: one text, with marks where tools were called, and beside it what the
//! tools were asked and gave.
//!
//! Never as a `serde_json::Value` in between: what a model asks a tool may be nested deeper than that can be.

use serde::Serialize;

use crate::{
    protocol::{AssistantMessage, ConversationId, Event, Json, MessageId, PieceKind, ToolCall, ToolStatus},
    storage::RunKey,
};

/// What a mark begins with.
const MARK: &str = "[[tool:";

/// The same in the text itself, with a backslash that Markdown, but for its code, takes away again. Between the brackets: before
/// them, another backslash of the model's would escape ours.
const ESCAPED: &str = "[\\[tool:";

/// A run's last event, with its payload.
#[derive(Serialize)]
pub struct LastEvent<'a> {
    #[serde(flatten)]
    event: &'a Event,
    payload: Payload<'a>,
}

#[derive(Serialize)]
struct Payload<'a> {
    message: String,
    tool_history: Vec<Tool<'a>>,
    conversation_id: ConversationId,
    message_id: MessageId,
}

#[derive(Serialize)]
struct Tool<'a> {
    tool_name: &'a str,
    tool_use_id: &'a str,
    input: &'a Json,
    output: Option<&'a str>,
    status: ToolStatus,
}

impl<'a> LastEvent<'a> {
    pub fn of(event: &'a Event, run: RunKey, answer: &'a AssistantMessage) -> Self {
        Self {
            event,
            payload: Payload {
                message: message(answer),
                tool_history: answer.tool_calls().map(tool).collect(),
                conversation_id: run.conversation_id,
                message_id: run.message_id,
            },
        }
    }
}

/// All text, with `[[tool:N]]` where call N was made.
fn message(answer: &AssistantMessage) -> String {
    let pieces = answer.pieces().into_iter();
    let texts = pieces.filter_map(|piece| match piece.kind {
        PieceKind::Thinking | PieceKind::Payload(_) => None,
        PieceKind::Text => Some(piece.texts.concat().replace(MARK, ESCAPED)),
        PieceKind::Tool(call) => Some(format!("{MARK}{}]]", call.index)),
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn tool(call: &ToolCall) -> Tool<'_> {
    Tool {
        tool_name: &call.tool,
        tool_use_id: &call.tool_use_id,
        input: &call.input,
        output: call.output.as_deref(),
        status: call.status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Node, Part};

    #[test]
    fn a_mark_that_the_model_wrote_is_not_one() {
        let mut answer = AssistantMessage::started("x/m");
        let text = r"See [[tool:0]] and \[[tool:0]] and [[tool]].".into();
        answer.nodes.push(Node {
            parts: vec![Part::Text { text }],
        });
        assert_eq!(
            message(&answer),
            r"See [\[tool:0]] and \[\[tool:0]] and [[tool]]."
        );
    }
}
