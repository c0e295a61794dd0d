//! Columns and cells as the page shows them. Passages are loaded with a single cell.

use serde::{Deserialize, Serialize};

use super::{Column, Correction};
use crate::{ColumnId, Passage, job::Job};

/// The columns of a source with their cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnsView {
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnCells {
    pub column_id: ColumnId,
    pub cells: Vec<ShownCell>,
}

/// A cell with something to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownCell {
    /// The key of the row.
    pub row: String,
    pub state: CellState,
    /// The person's answer, which is shown instead; empty if they say that the row has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

/// The state of a cell, corrections apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    Failed {
        reason: String,
    },
}

/// A cell with all that is known about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellDetails {
    pub state: CellState,
    /// The passage that the model quotes; missing without an answer.
    pub passage: Option<Passage>,
    /// The model that has answered, as `endpoint/model`; empty without an answer.
    pub model: String,
    pub correction: Option<Correction>,
}
