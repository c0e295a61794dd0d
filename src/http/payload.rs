//! What an answer is for clients of the public contract: one text, with marks where tools were called, and beside it what the
//! tools were asked and gave.

use serde_json::{Value, json};

use crate::{
    protocol::{AssistantMessage, PieceKind, ToolCall},
    storage::RunKey,
};

/// What a mark begins with. In the text itself it stands with a backslash, which Markdown takes away again.
const MARK: &str = "[[tool:";

/// The payload of a run's last event.
pub fn of(run: RunKey, answer: &AssistantMessage) -> Value {
    json!({
        "message": message(answer),
        "tool_history": answer.tool_calls().map(tool).collect::<Vec<_>>(),
        "conversation_id": run.conversation_id,
        "message_id": run.message_id,
    })
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

fn tool(call: &ToolCall) -> Value {
    json!({
        "tool_name": call.tool,
        "tool_use_id": call.tool_use_id,
        "input": call.input,
        "output": call.output,
        "status": call.status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Node, Part};

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
