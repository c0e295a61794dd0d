//! Columns and cells as the page shows them. Passages are loaded with a single cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Column, Correction};
use crate::{ColumnId, Dollars, Passage, Position, job::Job, panel::TableColumn};

/// The rows of a table that has columns. The key of a row is its number, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceTable {
    pub title: String,
    /// The columns of the table itself.
    pub columns: Vec<TableColumn>,
    /// Each has one text for each column. Long ones are cut.
    pub rows: Vec<Vec<String>>,
    /// The number of rows beyond the limit.
    pub left_out: usize,
}

/// An estimate of the questions that filling the columns of a source asks a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FillEstimate {
    /// The number of cells.
    pub cells: usize,
    /// The number of cells that a model would be asked for. The others are answered already, or have no text.
    pub questions: usize,
    /// The estimated cost; missing if the prices of the model are not known.
    pub cost: Option<Dollars>,
}

/// The columns of a source with their cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnsView {
    /// A position of the log that this state includes. Later events may be included, too.
    #[serde(default)]
    pub as_of: Position,
    /// Oldest first.
    pub columns: Vec<Column>,
    /// One for each column, in their order.
    pub cells: Vec<ColumnCells>,
    /// The last job that fills or has filled them.
    pub job: Option<Job>,
    /// The maximum number of columns.
    pub limit: usize,
}

/// The cells of a column that have something to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnCells {
    pub column_id: ColumnId,
    pub cells: Vec<ShownCell>,
}

/// A cell with something to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownCell {
    /// The key of the row.
    pub row: String,
    pub state: CellState,
    /// The person's answer, which is shown instead; empty if they say that the row has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

/// The state of a cell, corrections apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellState {
    /// It was not asked yet, or for an earlier question only.
    #[default]
    Empty,
    Answered {
        value: String,
        /// True if the text of the row has the passage that the model quotes.
        has_passage: bool,
    },
    /// The text of the row has no answer.
    NoAnswer,
    /// The row has no text to read, such as an article without an abstract.
    NoText,
    Failed {
        reason: String,
    },
}

/// A cell with all that is known about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellDetails {
    pub state: CellState,
    /// The passage that the model quotes; missing without an answer.
    pub passage: Option<Passage>,
    /// The model that has answered, as `endpoint/model`; empty without an answer.
    pub model: String,
    pub correction: Option<Correction>,
}
