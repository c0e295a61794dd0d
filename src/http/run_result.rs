//! An answer as the public contract returns it: one text with markers where tools were called, and separately the
//! arguments and results of the tools, the payloads and the suggestions.
//!
//! Never a `serde_json::Value` in between: the arguments of a tool call may be nested deeper than that type
//! supports.

use schemars::JsonSchema;
use serde::Serialize;

use super::tool_markers::{ESCAPED_PREFIX, MARKER_PREFIX, SEPARATOR, tool_marker};
use crate::app::{Caller, diagnostics};
use parlor_protocol::{
    ActionHandler, ActionStyle, ApiError, AssistantMessage, CitedSource, ConversationId, ErrorCode, Event,
    FinishReason, JoinedPartKind, Message, MessageId, Part, Payload, PayloadRef, RawJson, RunError,
    RunStatus, SuggestedAction, SuggestedValue, ToolCall, ToolStatus,
};
use parlor_runs::diagnostics::Diagnostics;

/// A run's last event, with its payload.
#[derive(Serialize)]
pub struct FinalEvent<'a> {
    #[serde(flatten)]
    pub event: &'a Event,
    pub payload: RunResult,
}

/// A complete answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
pub struct RunResult {
    /// The text, with `[[tool:N]]` at the position of call N.
    message: String,
    suggested_values: Vec<SuggestedValue>,
    suggested_actions: Vec<NextAction>,
    /// The last payload made by a tool; else the last one made by the model; null if there is none.
    custom_payload: Option<Payload>,
    /// The tool calls; entry N is call N.
    tool_history: Vec<ToolRecord>,
    sources: Vec<CitedSource>,
    conversation_id: ConversationId,
    /// The message that this one answers.
    user_message_id: Option<MessageId>,
    message_id: MessageId,
    status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RunError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<FinishReason>,
    /// Present if the client requests it.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Diagnostics>,
}

/// A suggested next action. Unlike in the events, its data are JSON here.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Action")]
struct NextAction {
    label: String,
    action: String,
    handler: ActionHandler,
    /// Any JSON; null if there is none.
    data: Option<RawJson>,
    style: ActionStyle,
    /// True if the action was taken and is no longer offered.
    taken: bool,
}

/// A tool call with its input and output.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolHistoryEntry")]
struct ToolRecord {
    tool_name: String,
    tool_use_id: String,
    input: RawJson,
    /// The output as sent to the model; null if the call has not ended.
    output: Option<String>,
    status: ToolStatus,
}

impl RunResult {
    /// Loads the result of an answer. Returns `None` for a user's message.
    ///
    /// # Errors
    ///
    /// If storage does not work.
    pub async fn load(
        caller: &Caller,
        conversation_id: ConversationId,
        message: &Message,
        with_diagnostics: bool,
    ) -> Result<Option<Self>, ApiError> {
        let Some(answer) = message.assistant() else {
            return Ok(None);
        };
        let custom_payload = match final_payload(answer) {
            Some(made) => {
                let storage = &caller.app.storage;
                let made = &made.payload_id;
                storage.payload(caller.user_id, conversation_id, made).await?
            }
            None => None,
        };
        let diagnostics = if with_diagnostics {
            // An answer without a model call has no diagnostics.
            match diagnostics::load(caller, message.id).await {
                Err(error) if error.code == ErrorCode::NotFound => None,
                loaded => Some(loaded?),
            }
        } else {
            None
        };
        Ok(Some(Self {
            message: text_with_markers(answer),
            suggested_values: answer.suggested_values.clone(),
            suggested_actions: answer.suggested_actions.iter().map(next_action).collect(),
            custom_payload,
            tool_history: answer.tool_calls().map(tool_record).collect(),
            sources: answer.sources.clone(),
            conversation_id,
            user_message_id: message.parent_id,
            message_id: message.id,
            status: answer.status,
            error: answer.error.clone(),
            finish_reason: answer.finish_reason.clone(),
            diagnostics,
        }))
    }
}

/// Returns the payload of the answer. A tool's payload takes precedence over the model's.
fn final_payload(answer: &AssistantMessage) -> Option<&PayloadRef> {
    let by_tool = answer.tool_calls().rev().find_map(|call| call.payload.as_ref());
    by_tool.or_else(|| {
        let parts = answer.nodes.iter().flat_map(|node| &node.parts);
        parts.rev().find_map(|part| match part {
            Part::Payload { payload } => Some(payload),
            Part::Thinking { .. } | Part::Text { .. } | Part::ToolCall(_) | Part::File { .. } => None,
        })
    })
}

/// Returns all text, with `[[tool:N]]` in place of call N.
pub(super) fn text_with_markers(answer: &AssistantMessage) -> String {
    let joined_parts = answer.joined_parts().into_iter();
    let texts = joined_parts.filter_map(|joined| match joined.kind {
        JoinedPartKind::Thinking | JoinedPartKind::Payload(_) | JoinedPartKind::File(_) => None,
        JoinedPartKind::Text => Some(joined.texts.concat().replace(MARKER_PREFIX, ESCAPED_PREFIX)),
        JoinedPartKind::ToolCall(call) => Some(tool_marker(call.index)),
    });
    texts.collect::<Vec<_>>().join(SEPARATOR)
}

fn tool_record(call: &ToolCall) -> ToolRecord {
    ToolRecord {
        tool_name: call.tool.clone(),
        tool_use_id: call.tool_use_id.clone(),
        input: call.input.clone(),
        output: call.output.clone(),
        status: call.status,
    }
}

fn next_action(action: &SuggestedAction) -> NextAction {
    NextAction {
        label: action.label.clone(),
        action: action.action.clone(),
        handler: action.handler,
        data: action.data.as_deref().map(RawJson::parse_or_quote),
        style: action.style,
        taken: action.taken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::Node;

    #[test]
    fn escapes_markers_written_by_the_model() {
        let mut answer = AssistantMessage::new("x/m");
        let said = r"See [[tool:0]] and \[[tool:0]] and [[tool]].".into();
        answer.nodes.push(Node {
            parts: vec![Part::Text { text: said }],
        });
        assert_eq!(
            text_with_markers(&answer),
            r"See [[tool\:0]] and \[[tool\:0]] and [[tool]]."
        );
    }

    fn payload(id: &str) -> PayloadRef {
        PayloadRef {
            payload_id: id.into(),
            kind: "table".into(),
            summary: id.into(),
            preview_rows: None,
        }
    }

    fn tool_call_part(made: Option<PayloadRef>) -> Part {
        Part::ToolCall(Box::new(ToolCall {
            output: Some("made".into()),
            payload: made,
            ..ToolCall::for_test("make", ToolStatus::Complete)
        }))
    }

    #[test]
    fn last_tool_payload_precedes_the_models_payload() {
        let mut answer = AssistantMessage::new("x/m");
        assert_eq!(final_payload(&answer), None);
        let by_model = |id| Part::Payload { payload: payload(id) };
        answer.nodes.push(Node {
            parts: vec![by_model("one"), by_model("two"), tool_call_part(None)],
        });
        assert_eq!(final_payload(&answer), Some(&payload("two")));
        answer.nodes.push(Node {
            parts: vec![
                tool_call_part(Some(payload("three"))),
                tool_call_part(Some(payload("four"))),
            ],
        });
        answer.nodes.push(Node {
            parts: vec![by_model("five")],
        });
        assert_eq!(final_payload(&answer), Some(&payload("four")));
    }
}
