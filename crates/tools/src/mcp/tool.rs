//! A server's tool as a tool of Parlor.

use std::{borrow::Cow, sync::Arc};

use async_trait::async_trait;
use rmcp::model::JsonObject;
use serde_json::Value;

use super::{
    connection::{CallError, CallResponse},
    listed::{ListedTool, first_line},
    result,
    server::ConfiguredServer,
};
use crate::{AnyTool, Guidance, OpenItems, ToolContext, ToolError, ToolResult, ToolRunOptions};
use parlor_base::settings::mcp::McpTransport;
use parlor_model::{ToolInput, ToolPlan, ToolSpec};

/// Maximum length of an argument shown to the user, in bytes.
const MAX_DETAIL_BYTES: usize = 200;

/// Maximum size of a tool's output for the model, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 48 << 10;

/// A tool and its server.
pub struct ServerTool {
    pub server: Arc<ConfiguredServer>,
    pub tool: Arc<ListedTool>,
}

#[async_trait]
impl AnyTool for ServerTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.tool.spec
    }

    fn run_options(&self) -> ToolRunOptions {
        ToolRunOptions {
            done_label: format!("Called {}", self.tool.title).into(),
            timeout: self.server.settings.timeout,
            output_bytes: MAX_OUTPUT_BYTES,
            file_limits: None,
        }
    }

    fn finds_sources(&self) -> bool {
        self.tool.finds_sources
    }

    fn is_idempotent(&self) -> bool {
        self.tool.is_idempotent
    }

    fn guidance(&self) -> Option<Arc<Guidance>> {
        self.server.guidance()
    }

    fn plan(&self, arguments: &str, _: OpenItems<'_>) -> Result<ToolPlan, String> {
        let parsed = parse_object(arguments)?;
        let needed = self.tool.required.iter().filter_map(|name| parsed.get(name));
        let mut texts = needed.chain(parsed.values()).filter_map(Value::as_str);
        Ok(ToolPlan {
            label: format!("Calling {}", self.tool.title),
            detail: texts.next().map(|text| first_line(text, MAX_DETAIL_BYTES)),
            needs_approval: self.tool.needs_approval,
            is_idempotent: self.is_idempotent(),
            input: ToolInput::new(arguments, parsed),
        })
    }

    /// Most servers on standard streams are written for one caller at a time.
    fn sequence(&self, _arguments: &str) -> Option<Cow<'_, str>> {
        let is_process = matches!(self.server.settings.transport, McpTransport::Command { .. });
        (is_process && !self.tool.only_reads).then(|| format!("mcp {}", self.server.settings.name).into())
    }

    async fn run(&self, input: ToolInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let arguments: JsonObject = input.into_parsed().ok_or_else(ToolError::foreign_input)?;
        let connection = self.server.connection().await.map_err(ToolError)?;
        let called = connection.call_tool(self.tool.name.clone(), arguments, call.progress);
        let CallResponse { outcome, declined } = called.await;
        let outcome = match outcome {
            Ok(result) => Ok(result::convert(&self.tool.name, result, self.tool.payload_type)),
            Err(CallError {
                message,
                is_unsupported,
            }) => {
                if is_unsupported {
                    self.server.withdraw(&self.tool.name);
                }
                Err(ToolError(self.server.redact(message)))
            }
        };
        with_declined_questions(outcome, &declined)
    }
}

/// Puts the declined questions to the user at the beginning of an outcome. It is shown in the
/// call's card.
fn with_declined_questions(
    outcome: Result<ToolResult, ToolError>,
    declined: &[String],
) -> Result<ToolResult, ToolError> {
    let notes: String = declined
        .iter()
        .map(|question| {
            let question = match question.as_str() {
                "" => String::new(),
                question => format!(": “{question}”"),
            };
            format!("[The server wanted to ask the person something{question}. Parlor can't ask, and has declined.]\n")
        })
        .collect();
    match outcome {
        Ok(mut result) => {
            result.text.insert_str(0, &notes);
            Ok(result)
        }
        Err(ToolError(why)) => Err(ToolError(notes + &why)),
    }
}

/// Parses the arguments as an object. The server validates its content.
fn parse_object(arguments: &str) -> Result<JsonObject, String> {
    // Some models send no arguments for a tool that needs none.
    if arguments.trim().is_empty() {
        return Ok(JsonObject::new());
    }
    serde_json::from_str(arguments).map_err(|error| {
        format!("The arguments are not a JSON object: {error}. Correct them and call it again.")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use parlor_base::settings::Settings;

    #[test]
    fn calls_to_a_process_are_a_sequence_unless_they_read() {
        let listed = json!([
            { "name": "write", "inputSchema": {} },
            { "name": "read", "inputSchema": {}, "annotations": { "readOnlyHint": true } },
            { "name": "again", "inputSchema": {}, "annotations": { "idempotentHint": true } },
        ]);
        for (transport, expected) in [
            ("command = 'run'", [Some("mcp x"), None, Some("mcp x")]),
            ("url = 'u'", [None; 3]),
        ] {
            let settings: Settings = toml::from_str(&format!("[[mcp]]\nname = 'x'\n{transport}")).unwrap();
            let server = Arc::new(ConfiguredServer::new(settings.mcp[0].clone(), Arc::default()));
            let tools = ListedTool::from_list(&server, serde_json::from_value(listed.clone()).unwrap());
            let sequences = tools.into_iter().map(|tool| {
                let server = server.clone();
                ServerTool { server, tool }.sequence("{}").map(Cow::into_owned)
            });
            assert_eq!(
                sequences.collect::<Vec<_>>(),
                expected.map(|name| name.map(String::from))
            );
        }
    }

    #[test]
    fn detail_is_the_first_required_text() {
        let write =
            json!({ "name": "write", "title": " ", "inputSchema": { "required": ["path", "content"] } });
        let settings: Settings = toml::from_str("[[mcp]]\nname = 'x'\nurl = 'u'").unwrap();
        let server = Arc::new(ConfiguredServer::new(settings.mcp[0].clone(), Arc::default()));
        let tool = ServerTool {
            tool: ListedTool::from_list(&server, serde_json::from_value(json!([write])).unwrap()).remove(0),
            server,
        };
        let plan = |arguments| {
            tool.plan(arguments, OpenItems::default())
                .map(|plan| (plan.label, plan.detail))
        };
        let expected = |detail: Option<&str>| Ok(("Calling write".into(), detail.map(Into::into)));
        assert_eq!(
            plan(r#"{"content":"long","path":"a.txt\nb"}"#),
            expected(Some("a.txt"))
        );
        assert_eq!(plan(r#"{"number":1,"other":"x"}"#), expected(Some("x")));
        assert_eq!(plan(""), expected(None));
        assert!(plan("[]").unwrap_err().contains("not a JSON object"));
    }
}
