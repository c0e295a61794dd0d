//! `jupyter_notebook`: runs Python in the session of the conversation, on the page *Data*.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Python, first_line, is_replayed, read_code, replay_code, run_code};
use parlor_protocol::tool_kind;
use parlor_tools::{FinishedCall, ReplayedCall, Tool, ToolContext, ToolError, ToolKind, ToolResult};

/// The maximum number of names that a call shows.
const MAX_SHOWN: usize = 20;

pub struct JupyterNotebook(pub Python);

#[derive(Deserialize, JsonSchema)]
pub struct JupyterNotebookInput {
    /// The Python code. It sees the data frames of sql_query and the variables of earlier calls.
    #[serde(deserialize_with = "read_code")]
    code: String,
    /// The names of variables to show after it, such as data frames and figures.
    #[serde(default)]
    show: Vec<String>,
}

impl JupyterNotebookInput {
    /// Returns the code with that which shows the names.
    fn cell(&self) -> Result<String, ToolError> {
        let mut cell = self.code.clone();
        for name in self.show.iter().take(MAX_SHOWN) {
            // A name with an attribute is fine; other code belongs into `code`.
            if !name.split('.').all(super::super::is_valid_name) {
                return Err(ToolError(format!(
                    "“{name}” in show is not the name of a variable. Nothing was run."
                )));
            }
            cell.push_str(&format!("\ndisplay({name})"));
        }
        Ok(cell)
    }
}

/// Returns the code of a call, with that which shows the names. One with a wrong name has run nothing.
pub fn code(arguments: &str) -> Option<String> {
    let input: JupyterNotebookInput = serde_json::from_str(arguments).ok()?;
    Some(input.cell().unwrap_or(input.code))
}

impl Tool for JupyterNotebook {
    type Input = JupyterNotebookInput;

    const KIND: ToolKind = tool_kind::JUPYTER_NOTEBOOK;
    const DESCRIPTION: &'static str = "Runs Python code in the notebook of this conversation and returns what it prints and shows; the person sees data frames as \
         tables, plots as pictures, and charts of plotly interactively. Variables and the data frames of sql_query (df_name) are kept for later calls. Files that the person attached are in the working folder. pandas (pd), numpy (np), matplotlib (plt) and plotly.express (px) are imported; there is no network.";
    const LABEL: &'static str = "Executing Python code...";
    const DONE: &'static str = "Executed Python code";

    fn timeout(&self) -> Duration {
        self.0.call_timeout()
    }

    fn needs_approval(&self) -> bool {
        !self.0.is_sandboxed()
    }

    fn detail(&self, input: &JupyterNotebookInput) -> Option<String> {
        first_line(&input.code)
    }

    fn uses_session(&self, _input: &JupyterNotebookInput) -> bool {
        true
    }

    fn is_replayed(&self, finished: &FinishedCall) -> bool {
        is_replayed(finished)
    }

    async fn run(&self, input: JupyterNotebookInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        run_code(&self.0, &input.cell()?, &call).await
    }

    async fn replay(
        &self,
        input: JupyterNotebookInput,
        finished: FinishedCall,
        call: ToolContext,
    ) -> Result<ReplayedCall, ToolError> {
        // A call with a wrong name has run nothing.
        let Ok(cell) = input.cell() else {
            return Ok(ReplayedCall::default());
        };
        replay_code(&self.0, &cell, &finished, &call).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_names_after_the_code() {
        let cell = |show: &[&str]| {
            let show = show.iter().map(|name| (*name).to_owned()).collect();
            let code = "df = 1".into();
            JupyterNotebookInput { code, show }.cell()
        };
        assert_eq!(cell(&[]).unwrap(), "df = 1");
        assert_eq!(
            cell(&["df", "fig.data"]).unwrap(),
            "df = 1\ndisplay(df)\ndisplay(fig.data)"
        );
        for name in ["", "df)", "1", "a b", "df."] {
            assert!(cell(&[name]).is_err(), "{name}");
        }
    }
}
