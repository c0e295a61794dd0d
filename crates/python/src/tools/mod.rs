//! The model's tools for Python, one file each. Both use the session of the conversation.

mod execute_code;
mod jupyter_notebook;

pub use self::{execute_code::ExecuteCode, jupyter_notebook::JupyterNotebook};
use super::Python;
use parlor_protocol::tool::{SESSION_ENDED, TRACEBACK};
use parlor_tools::{FinishedCall, ReplayedCall, Tool, ToolContext, ToolError, ToolResult};

/// The output of code that shows nothing, for the model.
pub const NO_OUTPUT: &str =
    "The code ran and showed nothing. Print what you want to see, or end with a value.";

/// Runs code for a call.
async fn run_code(python: &Python, code: &str, call: &ToolContext) -> Result<ToolResult, ToolError> {
    let output = python.execute(call, code).await?;
    let text = output.text();
    let attachments: Vec<_> = output.files().cloned().collect();
    let text = match text.is_empty() && attachments.is_empty() {
        true => NO_OUTPUT.into(),
        false => text,
    };
    Ok(ToolResult {
        text,
        has_failed: output.error.is_some(),
        attachments,
        ..ToolResult::default()
    })
}

/// Runs the code of a finished call again. An exception is an error only if there was none before.
async fn replay_code(
    python: &Python,
    code: &str,
    finished: &FinishedCall,
    call: &ToolContext,
) -> Result<ReplayedCall, ToolError> {
    let output = python.replay(call, code).await?;
    match output.error {
        Some(error) if !finished.has_failed => Err(ToolError(error.summary())),
        _ => Ok(ReplayedCall::default()),
    }
}

/// Returns `true` if a finished call has changed its session, and is replayed. One that ended its session has not, whatever it
/// showed before, nor one whose code was no Python.
fn is_replayed(finished: &FinishedCall) -> bool {
    let has_ended_session = finished.output.starts_with(SESSION_ENDED);
    !finished.has_failed || (finished.output.contains(TRACEBACK) && !has_ended_session)
}

/// Returns the code that a call of one of these tools ran; `None` for other tools, and if the arguments don't fit.
pub fn code_of_call(tool: &str, arguments: &str) -> Option<String> {
    match tool {
        ExecuteCode::NAME => execute_code::code(arguments),
        JupyterNotebook::NAME => jupyter_notebook::code(arguments),
        _ => None,
    }
}

/// Returns the first line of code that says something.
fn first_line(code: &str) -> Option<String> {
    let mut lines = code.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}
