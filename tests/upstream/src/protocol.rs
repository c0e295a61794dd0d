//! The protocols that the server speaks, and the parts of their requests that select a script.

use axum::http::{HeaderMap, header};
use serde_json::{Value, json};

use crate::{script::RequestSummary, server::without_metadata};

/// A protocol of model servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's chat completions: `/v1/chat/completions`.
    #[default]
    ChatCompletions,
    /// OpenAI's Responses: `/v1/responses`.
    Responses,
    /// Anthropic's Messages: `/v1/messages`.
    Messages,
    /// Google's `generateContent`: `/v1beta/models/…:streamGenerateContent`.
    GenerateContent,
}

impl Protocol {
    /// Returns the part of a request that selects the script. `model` is the one in the path, if any.
    pub(crate) fn summarize(self, request: &Value, model: Option<&str>) -> RequestSummary {
        let turns = match self {
            Self::Responses => &request["input"],
            Self::GenerateContent => &request["contents"],
            Self::ChatCompletions | Self::Messages => &request["messages"],
        };
        let turns = turns.as_array().map_or(&[][..], Vec::as_slice);
        let user = turns.iter().rev().find_map(|turn| self.user_text(turn));
        RequestSummary {
            model: model.or(request["model"].as_str()).unwrap_or_default().to_owned(),
            user: without_metadata(&user.unwrap_or_default()).to_owned(),
            tool: turns
                .iter()
                .rev()
                .find(|turn| !self.has_only_files(turn))
                .and_then(|turn| self.tool_output(turn)),
            image_prompt: None,
        }
    }

    /// Returns true for a message with the files of the tool outputs before it.
    fn has_only_files(self, turn: &Value) -> bool {
        turn["role"] == "user" && self.user_text(turn).is_none() && self.tool_output(turn).is_none()
    }

    fn user_text(self, turn: &Value) -> Option<String> {
        if turn["role"] != "user" {
            return None;
        }
        let content = match self {
            Self::GenerateContent => &turn["parts"],
            _ => &turn["content"],
        };
        let text = content_text(content);
        (!text.is_empty()).then_some(text)
    }

    fn tool_output(self, turn: &Value) -> Option<String> {
        match self {
            Self::ChatCompletions => (turn["role"] == "tool").then(|| content_text(&turn["content"])),
            Self::Responses => {
                (turn["type"] == "function_call_output").then(|| content_text(&turn["output"]))
            }
            Self::Messages => {
                let mut items = turn["content"].as_array()?.iter().rev();
                let last = items.find(|item| item["type"] != "image")?;
                (last["type"] == "tool_result").then(|| content_text(&last["content"]))
            }
            Self::GenerateContent => {
                let response = &turn["parts"].as_array()?.last()?["functionResponse"];
                response.is_object().then(|| response["response"].to_string())
            }
        }
    }

    /// Returns the key of a request in this protocol's header.
    pub(crate) fn key(self, headers: &HeaderMap) -> Option<&str> {
        let value = |name: &str| headers.get(name)?.to_str().ok();
        match self {
            Self::ChatCompletions | Self::Responses => {
                value(header::AUTHORIZATION.as_str())?.strip_prefix("Bearer ")
            }
            Self::Messages => value("x-api-key"),
            Self::GenerateContent => value("x-goog-api-key"),
        }
    }

    /// Returns the body of an error.
    pub(crate) fn error_body(self, message: &str, code: &str) -> Value {
        match self {
            Self::ChatCompletions | Self::Responses => json!({ "error": {
                "message": message, "type": "invalid_request_error", "param": null, "code": code,
            } }),
            Self::Messages => json!({ "type": "error", "error": { "type": code, "message": message } }),
            Self::GenerateContent => json!({ "error": { "code": 400, "message": message, "status": code } }),
        }
    }

    /// Returns the list of models, newest first.
    pub(crate) fn list_body(self, names: Vec<String>) -> Value {
        let entries = names.into_iter().enumerate();
        match self {
            Self::ChatCompletions | Self::Responses => {
                // Earlier models are newer: clients that sort by age keep the order.
                let entry = |(index, id)| json!({ "id": id, "object": "model", "created": 1000 - index, "owned_by": "upstream" });
                json!({ "object": "list", "data": entries.map(entry).collect::<Vec<Value>>() })
            }
            Self::Messages => {
                let entry = |(_, id)| json!({ "type": "model", "id": id, "display_name": id });
                json!({ "data": entries.map(entry).collect::<Vec<Value>>(), "has_more": false })
            }
            Self::GenerateContent => {
                let entry = |(_, id): (usize, String)| {
                    json!({
                        "name": format!("models/{id}"), "displayName": id,
                        "supportedGenerationMethods": ["generateContent"],
                    })
                };
                json!({ "models": entries.map(entry).collect::<Vec<Value>>() })
            }
        }
    }
}

/// Returns a content's text, also if it has several parts.
pub fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect::<String>(),
    }
}
