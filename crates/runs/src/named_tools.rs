//! Tools that are offered in a conversation although its page does not name them.

use parlor_python::{ExecuteCode, JupyterNotebook};
use parlor_tools::Tool;

/// Adds the tool that runs code. The page *Data* has its own tool for the same session.
pub(super) fn with_code_tool(mut named: Vec<&'static str>) -> Vec<&'static str> {
    if !named.contains(&JupyterNotebook::NAME) {
        named.push(ExecuteCode::NAME);
    }
    named
}
