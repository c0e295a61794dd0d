//! MCP servers that Parlor runs as processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

mod everything;
mod hostile;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parlor_base::settings::{
    McpServer, Secret,
    mcp::{McpTransport, SecretVariables},
};
use parlor_protocol::{ConversationId, MessageId, ToolProgress, UserId};
use parlor_tools as tools;
use parlor_tools::{
    AnyTool, CallOrigin, FileLimits, ToolError, ToolProvider, ToolResult, UsageMeter, mcp::Servers,
};
use tokio::time::{sleep, timeout};

/// Limits of files that no test reaches.
const FILE_LIMITS: FileLimits = FileLimits {
    max_count: 100,
    max_bytes: 1 << 20,
    count_setting: "",
    bytes_setting: "",
};

/// The timeout for events that must come at once.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval of polling for changes that send no notification.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A server with the name `x`.
struct TestServers(Servers);

/// Returns the settings of a server.
fn server_config(command: &str, args: &[&str]) -> McpServer {
    McpServer {
        name: "x".into(),
        transport: McpTransport::Command {
            command: command.into(),
            args: args.iter().map(|arg| (*arg).into()).collect(),
            env: SecretVariables::default(),
        },
        approval: None,
        timeout: TEST_TIMEOUT,
        disabled_tools: Vec::new(),
    }
}

impl TestServers {
    fn start(settings: McpServer) -> Self {
        Self(Servers::start(&[settings], &Arc::default()))
    }

    /// Returns the tool with this name as soon as it exists.
    async fn tool(&self, name: &str) -> Arc<dyn AnyTool> {
        let name = format!("x_{name}");
        let listed = async {
            // Not `settled`, which waits for the slowest of several servers.
            loop {
                let tools = self.0.tools();
                if let Some(tool) = tools.into_iter().find(|tool| tool.spec().name == name) {
                    return tool;
                }
                // There is no notification when a server has listed its tools, so poll.
                sleep(POLL_INTERVAL).await;
            }
        };
        timeout(TEST_TIMEOUT, listed).await.expect("the tool is listed")
    }

    /// Calls a tool. A result that has failed is its error.
    async fn call_tool(&self, name: &str, arguments: &str) -> Result<ToolResult, ToolError> {
        match call_with_progress(self.tool(name).await, arguments).await.0 {
            Ok(result) if result.has_failed => Err(ToolError(result.text)),
            called => called,
        }
    }

    /// Returns the text of a call that must succeed.
    async fn call_text(&self, name: &str, arguments: &str) -> String {
        let result = self.call_tool(name, arguments).await;
        result
            .unwrap_or_else(|error| panic!("{name} failed: {error}"))
            .text
    }
}

/// Calls a tool as a run does. Returns the progress messages as well.
async fn call_with_progress(
    tool: Arc<dyn AnyTool>,
    arguments: &str,
) -> (Result<ToolResult, ToolError>, Vec<ToolProgress>) {
    let mut heard = Vec::new();
    let input = match tool.plan(arguments, parlor_tools::OpenItems::default()) {
        Ok(plan) => plan.input,
        Err(fault) => return (Err(ToolError(fault)), heard),
    };
    let origin = CallOrigin {
        index: 0,
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        run: MessageId::new(),
        page: None,
        files: [].into(),
        usage: UsageMeter::default(),
    };
    let called = timeout(
        TEST_TIMEOUT,
        tools::execute(tool, input, origin, |said| heard.push(said)),
    );
    let result = called.await.expect("the call ends");
    (result, heard)
}

fn set_env(settings: &mut McpServer, values: &[(&str, &str)]) {
    let values = values
        .iter()
        .map(|(name, value)| ((*name).into(), Secret((*value).into())));
    if let McpTransport::Command { env, .. } = &mut settings.transport {
        env.values = BTreeMap::from_iter(values);
    }
}
