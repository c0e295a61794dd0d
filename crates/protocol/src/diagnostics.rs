//! The diagnostics of an answer as the page shows them: prepared by the server, ready to be rendered.

use serde::{Deserialize, Serialize};

/// The diagnostics of one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsView {
    /// The run is active: more will follow.
    pub at_work: bool,
    /// Short facts: model, tokens, times.
    pub summary: Vec<DiagnosticsFact>,
    pub sections: Vec<DiagnosticsSection>,
    /// Everything, as JSON for the clipboard.
    pub json: String,
}

/// A name and its value, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsFact {
    pub name: String,
    pub value: String,
}

/// A section that can be expanded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsSection {
    pub title: String,
    /// The amount of its content, as text: "3 messages".
    pub count: String,
    /// True if the texts are single lines.
    pub lines: bool,
    pub blocks: Vec<DiagnosticsBlock>,
}

/// A text and its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsBlock {
    /// The role or the time of the text. Empty if there is only one.
    pub label: String,
    pub text: String,
}
