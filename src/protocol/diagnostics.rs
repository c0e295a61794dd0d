//! How an answer was made, as the page shows it: prepared by the server, ready to be drawn.

use serde::{Deserialize, Serialize};

/// What is known of how an answer was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsView {
    /// The run is at work: there will be more.
    pub at_work: bool,
    /// The short facts: model, tokens, times.
    pub summary: Vec<DiagnosticsFact>,
    pub sections: Vec<DiagnosticsSection>,
    /// All of it, for the clipboard.
    pub json: String,
}

/// A name and what it stands for, as words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsFact {
    pub name: String,
    pub value: String,
}

/// A part that opens and closes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsSection {
    pub title: String,
    /// How much is in it: "3 messages".
    pub count: String,
    /// Whether the texts are single lines.
    pub lines: bool,
    pub blocks: Vec<DiagnosticsBlock>,
}

/// A text and what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsBlock {
    /// Who says it, or when it happened. Empty if there is only one.
    pub label: String,
    pub text: String,
}
