//! What an answer is for clients of the public contract: one text, with marks where tools were called, and beside it what the
//! tools were asked and gave.
//!
//! Never as a `serde_json::Value` in between: what a model asks a tool may be nested deeper than that can be.

use serde::Serialize;

use crate::{
    protocol::{
        self, AssistantMessage, ConversationId, Event, Json, MessageId, Part, PieceKind, ToolCall, ToolStatus,
    },
    storage::RunKey,
};

/// What a mark begins with. In the text itself it stands with a backslash, which Markdown takes away again.
const MARK: &str = "[[tool:";

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
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_payload: Option<&'a protocol::Payload>,
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
    /// `made` is what [`shown_first`] names.
    pub fn of(
        event: &'a Event,
        run: RunKey,
        answer: &'a AssistantMessage,
        made: Option<&'a protocol::Payload>,
    ) -> Self {
        Self {
            event,
            payload: Payload {
                message: message(answer),
                tool_history: answer.tool_calls().map(tool).collect(),
                custom_payload: made,
                conversation_id: run.conversation_id,
                message_id: run.message_id,
            },
        }
    }
}

/// Which of the things that an answer has made for the panel goes with it: the last one that a tool made, or, if none did, the
/// last one that the model wrote.
pub fn shown_first(answer: &AssistantMessage) -> Option<&str> {
    let of_tools = answer.tool_calls().rev().find_map(|call| call.payload.as_ref());
    let parts = answer.nodes.iter().rev().flat_map(|node| node.parts.iter().rev());
    let mut of_model = parts.filter_map(|part| match part {
        Part::Payload { payload } => Some(payload),
        _ => None,
    });
    of_tools
        .or_else(|| of_model.next())
        .map(|payload| payload.payload_id.as_str())
}

/// All text, with `[[tool:N]]` where call N was made.
fn message(answer: &AssistantMessage) -> String {
    let pieces = answer.pieces().into_iter();
    let texts = pieces.filter_map(|piece| match piece.kind {
        PieceKind::Thinking | PieceKind::Payload(_) => None,
        PieceKind::Text => Some(piece.texts.concat().replace(MARK, "\\[[tool:")),
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
    use crate::protocol::{Node, PayloadRef};

    fn payload(id: &str) -> PayloadRef {
        PayloadRef {
            payload_id: id.into(),
            kind: "table".into(),
            summary: String::new(),
        }
    }

    #[test]
    fn what_a_tool_made_goes_before_what_the_model_wrote() {
        let mut answer = AssistantMessage::started("x/m");
        assert_eq!(shown_first(&answer), None);
        let written = |id: &str| Part::Payload { payload: payload(id) };
        answer.nodes.push(Node {
            parts: vec![written("first"), written("second")],
        });
        assert_eq!(shown_first(&answer), Some("second"));
        let call = |made: Option<&str>| {
            Part::ToolCall(Box::new(ToolCall {
                tool_use_id: String::new(),
                index: 0,
                tool: "make".into(),
                input: Json::or_string("{}"),
                label: String::new(),
                detail: None,
                status: ToolStatus::Complete,
                progress: None,
                output: None,
                payload: made.map(payload),
                started_at: None,
                ended_at: None,
            }))
        };
        let parts = vec![call(Some("third")), call(None), written("fourth")];
        answer.nodes.insert(0, Node { parts });
        assert_eq!(shown_first(&answer), Some("third"));
    }

    #[test]
    fn a_mark_that_the_model_wrote_is_not_one() {
        let mut answer = AssistantMessage::started("x/m");
        let text = "See [[tool:0]] and [[tool]].".into();
        answer.nodes.push(Node {
            parts: vec![Part::Text { text }],
        });
        assert_eq!(message(&answer), "See \\[[tool:0]] and [[tool]].");
    }
}
