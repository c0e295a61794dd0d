//! The model's tools for Python, one file each. Both use the session of the conversation.

mod execute_code;
mod jupyter_notebook;

use serde::{Deserialize, Deserializer};

pub use self::{execute_code::ExecuteCode, jupyter_notebook::JupyterNotebook};
use super::Python;
use parlor_base::text::block_of_markdown;
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

/// Reads the code of a call. Models write it as a block of Markdown, and copy byte order marks.
fn read_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let code = String::deserialize(deserializer)?;
    Ok(without_fence(&code).to_owned())
}

/// Returns the content of a block of Markdown that the whole code is in.
fn without_fence(code: &str) -> &str {
    let code = code.trim_start_matches('\u{feff}');
    let is_language = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '-');
    let block = block_of_markdown(code);
    let only = block.filter(|(language, inside)| is_language(language) && !inside.contains("```"));
    only.map_or(code, |(_, inside)| inside)
}

/// Returns the first line of code that says something.
fn first_line(code: &str) -> Option<String> {
    let mut lines = code.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_loses_the_block_around_it() {
        for (code, expected) in [
            ("```python\nx = 1\n```", "x = 1\n"),
            ("\n```\nx = 1\n```\n", "x = 1\n"),
            ("```py\r\nx = 1\r\n```", "x = 1\r\n"),
            ("\u{feff}x = 1", "x = 1"),
            // Of two blocks, or of text, nothing is lost.
            ("```py\na\n```\nb\n```\nc\n```", "```py\na\n```\nb\n```\nc\n```"),
            ("x = '''\n```\n'''", "x = '''\n```\n'''"),
            ("```x```", "```x```"),
            (" x = 1", " x = 1"),
        ] {
            assert_eq!(without_fence(code), expected, "{code:?}");
            let arguments = serde_json::json!({ "code": code }).to_string();
            for tool in [ExecuteCode::NAME, JupyterNotebook::NAME] {
                assert_eq!(
                    code_of_call(tool, &arguments).as_deref(),
                    Some(expected),
                    "{code:?}"
                );
            }
        }
    }
}
