//! A finished call as a cell of a notebook: its code, and its output by kinds.

use super::tools::{NO_OUTPUT, code_of_call};
use parlor_base::text::single_line;
use parlor_protocol::{
    ToolCall,
    attachment::files_note,
    tool::{SESSION_ENDED, TRACEBACK},
};
use parlor_tools::FinishedCall;

/// The maximum length of an exception's message, in characters. Its traceback has the whole of it.
const MAX_MESSAGE_CHARS: usize = 500;

/// The name of an error that no exception of the code was.
const OTHER_ERROR: &str = "Error";

/// A finished call of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub code: String,
    /// The text and the tables that it shows, as in the output for the model.
    pub text: String,
    pub error: Option<CellError>,
}

/// The error that ended a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellError {
    pub name: String,
    pub message: String,
    pub traceback: String,
}

impl Cell {
    /// Returns a call as a cell; `None` for calls of other tools, and for one that has not ended by itself.
    pub fn from_call(call: &ToolCall) -> Option<Self> {
        let code = code_of_call(&call.tool, call.input.as_str())?;
        let FinishedCall {
            has_failed, output, ..
        } = FinishedCall::from_call(call)?;
        let output = without_notes(&output, call);
        if !has_failed {
            let text = match output {
                NO_OUTPUT => String::new(),
                text => text.to_owned(),
            };
            return Some(Self {
                code,
                text,
                error: None,
            });
        }
        if output.starts_with(SESSION_ENDED) {
            // What the call had shown follows, with any traceback that it has printed.
            let (ended, text) = output.split_once("\n\n").unwrap_or((output, ""));
            return Some(Self {
                code,
                text: text.to_owned(),
                error: Some(CellError::other(ended)),
            });
        }
        let (text, traceback) = match find_traceback(output) {
            Some(start) => output.split_at(start),
            None => ("", output),
        };
        Some(Self {
            code,
            text: text.trim_end().to_owned(),
            error: Some(CellError::from_traceback(traceback)),
        })
    }
}

impl CellError {
    /// Returns an error that was no exception of the code.
    fn other(message: &str) -> Self {
        Self {
            name: OTHER_ERROR.into(),
            message: single_line(message, MAX_MESSAGE_CHARS),
            traceback: message.to_owned(),
        }
    }

    /// Returns an error with its name and message, as its last line has them: `ValueError: no`.
    pub fn from_traceback(traceback: &str) -> Self {
        let named = traceback.lines().rev().find_map(|line| {
            let (name, message) = line.split_once(": ").unwrap_or((line, ""));
            let class = name.rsplit('.').next().unwrap_or_default();
            let is_class = class.starts_with(|first: char| first.is_ascii_uppercase())
                && name.split('.').all(super::is_valid_name);
            is_class.then_some((name, message))
        });
        let (name, message) = named.unwrap_or((OTHER_ERROR, traceback));
        Self {
            name: single_line(name, MAX_MESSAGE_CHARS),
            message: single_line(message, MAX_MESSAGE_CHARS),
            traceback: traceback.to_owned(),
        }
    }
}

/// Returns an output without the note about the call's pictures, which is for the model.
fn without_notes<'a>(output: &'a str, call: &ToolCall) -> &'a str {
    if call.attachments.is_empty() {
        return output;
    }
    let note = format!("({})", files_note(&call.attachments));
    let noted = output.strip_suffix(&*note).map(str::trim_end);
    noted.unwrap_or(output)
}

/// Returns the start of the first traceback, at the beginning of a line.
fn find_traceback(output: &str) -> Option<usize> {
    let mut found = output.match_indices(TRACEBACK).map(|(start, _)| start);
    found.find(|start| *start == 0 || output[..*start].ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use parlor_protocol::{Attachment, AttachmentId, RawJson, ToolStatus};

    fn call(tool: &str, arguments: &serde_json::Value, status: ToolStatus, output: &str) -> ToolCall {
        ToolCall {
            input: RawJson::parse_or_quote(&arguments.to_string()),
            output: Some(output.into()),
            ..ToolCall::for_test(tool, status)
        }
    }

    fn finished(output: &str, status: ToolStatus) -> Cell {
        let call = call("execute_code", &json!({ "code": "x" }), status, output);
        Cell::from_call(&call).unwrap()
    }

    #[test]
    fn code_is_what_ran() {
        let code = |tool: &str, arguments| {
            let call = call(tool, &arguments, ToolStatus::Complete, "1");
            Cell::from_call(&call).map(|cell| cell.code)
        };
        assert_eq!(code("execute_code", json!({ "code": "x" })).as_deref(), Some("x"));
        let shown = json!({ "code": "df = 1", "show": ["df"] });
        assert_eq!(
            code("jupyter_notebook", shown).as_deref(),
            Some("df = 1\ndisplay(df)")
        );
        let refused = json!({ "code": "df = 1", "show": ["df)"] });
        assert_eq!(code("jupyter_notebook", refused).as_deref(), Some("df = 1"));
        assert_eq!(code("execute_code", json!("x")), None);
        assert_eq!(code("calculate", json!({ "code": "x" })), None);
        for status in [ToolStatus::Running, ToolStatus::Denied, ToolStatus::Stopped] {
            let call = call("execute_code", &json!({ "code": "x" }), status, "");
            assert_eq!(Cell::from_call(&call), None, "{status:?}");
        }
    }

    #[test]
    fn notes_for_the_model_are_left_out() {
        assert_eq!(finished(NO_OUTPUT, ToolStatus::Complete).text, "");
        let mut call = call(
            "execute_code",
            &json!({ "code": "x" }),
            ToolStatus::Complete,
            "one\n\n(The person is shown plot-1.)",
        );
        // Without pictures, the code has written that.
        assert!(Cell::from_call(&call).unwrap().text.ends_with("plot-1.)"));
        call.attachments.push(Attachment {
            id: AttachmentId::new(),
            name: "plot-1".into(),
            media_type: "image/png".into(),
            bytes: 1,
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        });
        assert_eq!(Cell::from_call(&call).unwrap().text, "one");
    }

    #[test]
    fn end_of_the_session_precedes_its_text() {
        let ended = "The Python session has ended: the code ended it (SystemExit: 1). Lost.";
        let printed = "Traceback (most recent call last):\nValueError: no";
        let cell = finished(&format!("{ended}\n\n{printed}"), ToolStatus::Failed);
        assert_eq!(cell.text, printed);
        assert_eq!(cell.error, Some(CellError::other(ended)));
    }

    #[test]
    fn exception_follows_the_text_before_it() {
        let traceback = "Traceback (most recent call last):\n  Cell In[1], line 2\n    1 / 0\nZeroDivisionError: division by zero";
        let cell = finished(&format!("before\n\n{traceback}"), ToolStatus::Failed);
        assert_eq!(cell.text, "before");
        assert_eq!(
            cell.error,
            Some(CellError {
                name: "ZeroDivisionError".into(),
                message: "division by zero".into(),
                traceback: traceback.into(),
            })
        );
        let named = |output: &str| {
            let error = finished(output, ToolStatus::Failed).error.unwrap();
            (error.name, error.message)
        };
        let pair = |name: &str, message: &str| (name.to_owned(), message.to_owned());
        assert_eq!(
            named("  Cell In[1], line 1\n    x ==\n        ^\nSyntaxError: invalid syntax"),
            pair("SyntaxError", "invalid syntax")
        );
        assert_eq!(
            named("Traceback (most recent call last)\nKeyboardInterrupt"),
            pair("KeyboardInterrupt", "")
        );
        assert_eq!(
            named("The call took too long."),
            pair(OTHER_ERROR, "The call took too long.")
        );
    }
}
