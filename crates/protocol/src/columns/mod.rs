//! Columns: questions that a person asks about each row of something, such as their saved articles. A job of the kind `columns` fills
//! their cells, one step each; the person can correct them.
//!
//! - [`source`]: what has rows
//! - [`value`]: the check of answers against the type of their column
//! - [`view`]: columns and cells as the page shows them

mod source;
mod value;
mod view;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    source::{ColumnSource, InvalidSource},
    view::{CellDetails, CellState, ColumnCells, ColumnsView, FillEstimate, ShownCell, SourceTable},
};
use super::{ColumnId, Passage, Timestamp};

/// The name of the kind of job.
pub const COLUMNS: &str = "columns";

/// The maximum length of the key of a row, in bytes.
pub const MAX_ROW_KEY_BYTES: usize = 100;

/// The input of such a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnsInput {
    pub source: ColumnSource,
}

/// A column: a question about each row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    pub id: ColumnId,
    /// A short name, the column's heading.
    pub name: String,
    #[serde(flatten)]
    pub question: ColumnQuestion,
}

/// The part of a column that its answers depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnQuestion {
    pub question: String,
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// The answers to choose from, if the type is `choice`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// A number that grows when the person asks the same question again.
    #[serde(default)]
    pub revision: u32,
}

/// The type of the answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    #[default]
    Text,
    Number,
    YesNo,
    /// One of a list.
    Choice,
}

/// A cell that a person has corrected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Correction {
    pub column_id: ColumnId,
    /// The key of the row, such as a PMID.
    pub row: String,
    /// The person's answer; empty if the row has none.
    pub value: String,
    pub corrected_at: Timestamp,
}

/// The answer of a model for a cell: the output of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellAnswer {
    /// The answer, of its column's type; empty if the text of the row has none.
    pub value: String,
    pub passage: Passage,
    /// True if the row has no text to read, so that no model was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_text: bool,
}
