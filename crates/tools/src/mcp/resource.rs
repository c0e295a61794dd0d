//! Reads a server's resources: results of its tools link to them (`resource_link`), and only the server can open them.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::{
    connection::CallError,
    listed::{ListedTool, first_line, unique_name},
    result,
    server::ConfiguredServer,
};
use crate::{AnyTool, OpenItems, ToolContext, ToolError, ToolResult, ToolRunOptions};
use parlor_base::settings::mcp::ApprovalPolicy;
use parlor_model::{ToolInput, ToolPlan, ToolSpec, lenient_json};

/// The name after the server's. `disabled_tools` of its settings can have it, too.
const NAME: &str = "read_resource";

/// Maximum length of a URI shown to the user, in bytes.
const MAX_DETAIL_BYTES: usize = 200;

/// A tool that reads the resources of one server.
pub struct ReadResource {
    server: Arc<ConfiguredServer>,
    spec: Arc<ToolSpec>,
}

#[derive(Deserialize)]
struct Arguments {
    uri: String,
}

impl ReadResource {
    /// Returns the tool for a server with these tools; `None` if the settings disable it.
    pub fn new(server: Arc<ConfiguredServer>, listed: &[Arc<ListedTool>]) -> Option<Self> {
        if server.settings.disabled_tools.iter().any(|name| name == NAME) {
            return None;
        }
        let taken = listed.iter().map(|tool| tool.spec.name.clone()).collect();
        let spec = ToolSpec {
            name: unique_name(&server.settings.name, NAME, &taken),
            description: format!(
                "Reads a resource of the server “{}” by its URI, exactly as a result of one of its tools, or the person, \
                 has named it.",
                server.settings.name
            ),
            input_schema: json!({
                "type": "object",
                "properties": { "uri": { "type": "string", "description": "The URI of the resource." } },
                "required": ["uri"],
            }),
        };
        Some(Self {
            server,
            spec: Arc::new(spec),
        })
    }
}

#[async_trait]
impl AnyTool for ReadResource {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn run_options(&self) -> ToolRunOptions {
        ToolRunOptions {
            done_label: "Read a resource".into(),
            timeout: self.server.settings.timeout,
            output_bytes: super::tool::MAX_OUTPUT_BYTES,
            file_limits: None,
        }
    }

    fn is_idempotent(&self) -> bool {
        true
    }

    fn plan(&self, arguments: &str, _: OpenItems<'_>) -> Result<ToolPlan, String> {
        let parsed: Arguments = lenient_json::parse(arguments).map_err(|error| {
            format!("The arguments have no URI: {error}. Correct them and call it again.")
        })?;
        Ok(ToolPlan {
            label: "Reading a resource".into(),
            detail: Some(first_line(&parsed.uri, MAX_DETAIL_BYTES)),
            needs_approval: self.server.settings.approval == Some(ApprovalPolicy::Ask),
            is_idempotent: self.is_idempotent(),
            input: ToolInput::new(arguments, parsed),
        })
    }

    async fn run(&self, input: ToolInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let Arguments { uri } = input.into_parsed().ok_or_else(ToolError::foreign_input)?;
        let connection = self.server.connection().await.map_err(ToolError)?;
        match connection.read_resource(&uri, call.progress).await {
            Ok(contents) => Ok(result::convert_contents(NAME, contents)),
            Err(CallError { message, .. }) => Err(ToolError(self.server.redact(message))),
        }
    }
}
