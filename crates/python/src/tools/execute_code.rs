//! `execute_code`: runs Python in the session of the conversation.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Python, first_line, is_replayed, read_code, replay_code, run_code};
use parlor_protocol::tool_kind;
use parlor_tools::{FinishedCall, ReplayedCall, Tool, ToolContext, ToolError, ToolKind, ToolResult};

pub struct ExecuteCode(pub Python);

#[derive(Deserialize, JsonSchema)]
pub struct ExecuteCodeInput {
    /// The Python code. The value of its last line is shown, as are printed text, data frames and plots of matplotlib.
    #[serde(deserialize_with = "read_code")]
    code: String,
}

/// Returns the code of a call.
pub fn code(arguments: &str) -> Option<String> {
    let input: ExecuteCodeInput = serde_json::from_str(arguments).ok()?;
    Some(input.code)
}

impl Tool for ExecuteCode {
    type Input = ExecuteCodeInput;

    const KIND: ToolKind = tool_kind::EXECUTE_CODE;
    const DESCRIPTION: &'static str = "Runs Python code and returns what it prints and shows; the person sees plots as pictures, and charts of plotly interactively. Variables are kept for later \
         calls of this conversation. Files that the person attached are in the working folder. pandas (pd), numpy (np), matplotlib (plt) and plotly.express (px) are imported; there is no network. Use it for every calculation \
         that you could get wrong.";
    const LABEL: &'static str = "Running code";
    const DONE: &'static str = "Ran code";

    fn timeout(&self) -> Duration {
        self.0.call_timeout()
    }

    fn needs_approval(&self) -> bool {
        !self.0.is_sandboxed()
    }

    fn detail(&self, input: &ExecuteCodeInput) -> Option<String> {
        first_line(&input.code)
    }

    fn uses_session(&self, _input: &ExecuteCodeInput) -> bool {
        true
    }

    fn is_replayed(&self, finished: &FinishedCall) -> bool {
        is_replayed(finished)
    }

    async fn run(&self, input: ExecuteCodeInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        run_code(&self.0, &input.code, &call).await
    }

    async fn replay(
        &self,
        input: ExecuteCodeInput,
        finished: FinishedCall,
        call: ToolContext,
    ) -> Result<ReplayedCall, ToolError> {
        replay_code(&self.0, &input.code, &finished, &call).await
    }
}
