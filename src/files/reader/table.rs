//! Previews of tables: their columns with types, their first rows and the number of all.

use super::document::PreviewLimits;
use crate::{
    protocol::file_preview::{ColumnPreview, TablePreview},
    text::truncate_chars,
};

/// The maximum number of columns in a preview.
pub(super) const MAX_COLUMNS: usize = 100;

/// The maximum length of a cell in a preview, in characters.
pub(super) const MAX_CELL_CHARS: usize = 300;

/// The size of a column's description for models besides its name: its number and type.
const COLUMN_BYTES: usize = 20;

/// The type of a cell or column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Empty,
    Text,
    Number,
    Date,
    Boolean,
    /// An error of a workbook, such as `#N/A`.
    Error,
}

impl CellKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Text | Self::Error => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::Boolean => "boolean",
        }
    }

    /// Returns the type of a column that has cells of both. Empty cells have no type.
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty | Self::Error, other) => other,
            (this, Self::Empty | Self::Error) => this,
            (this, other) if this == other => this,
            _ => Self::Text,
        }
    }
}

/// The reason why a table has rows that were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutReason {
    /// The workbook has too many cells.
    Cells,
    /// The workbook has too many sheets.
    Sheets,
    Damaged,
}

impl CutReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cells => "the file has more cells than are read",
            Self::Sheets => "the file has more sheets than are read",
            Self::Damaged => "the rest is damaged",
        }
    }
}

/// Receives the rows of tables, one table after the other.
pub trait TableSink {
    fn start_table(&mut self, name: &str);

    fn push_row(&mut self, cells: &[(CellKind, &str)]);

    /// Ends the table, with the reason if it has rows that were not read.
    fn end_table(&mut self, cut: Option<CutReason>);

    /// Names a table of which nothing is read.
    fn omit_table(&mut self, _name: &str, _reason: CutReason) {}
}

/// Returns `true` if a table's first row with content is its heading: all of its cells are texts.
pub fn is_heading(cells: &[(CellKind, &str)]) -> bool {
    cells
        .iter()
        .all(|(kind, _)| matches!(kind, CellKind::Text | CellKind::Empty | CellKind::Error))
}

/// Makes the preview of a table from its rows.
pub struct TableBuilder {
    name: String,
    limits: PreviewLimits,
    heading: Option<Vec<String>>,
    kinds: Vec<CellKind>,
    rows: Vec<Vec<String>>,
    row_count: usize,
    width: usize,
    /// The size of the rows so far, in bytes.
    bytes: usize,
}

impl TableBuilder {
    /// The preview of a table has at most the rows and bytes of the limits.
    pub fn new(name: &str, limits: PreviewLimits) -> Self {
        Self {
            name: truncate_chars(name, MAX_CELL_CHARS),
            limits,
            heading: None,
            kinds: Vec::new(),
            rows: Vec::new(),
            row_count: 0,
            width: 0,
            bytes: 0,
        }
    }

    /// Adds a row. The first one is the heading if all of its cells are texts. Empty rows before it are left out.
    pub fn push_row(&mut self, cells: &[(CellKind, &str)]) {
        let is_empty = cells.iter().all(|(kind, _)| *kind == CellKind::Empty);
        if is_empty && self.heading.is_none() {
            return;
        }
        self.width = self.width.max(cells.len());
        let shown = &cells[..cells.len().min(MAX_COLUMNS)];
        let texts = || -> Vec<String> {
            let texts = shown
                .iter()
                .map(|(_, text)| truncate_chars(text.trim(), MAX_CELL_CHARS));
            texts.collect()
        };
        if self.heading.is_none() {
            let is_heading = is_heading(shown);
            let heading = if is_heading { texts() } else { Vec::new() };
            self.bytes += heading.iter().map(String::len).sum::<usize>() + shown.len() * COLUMN_BYTES;
            self.heading = Some(heading);
            if is_heading {
                return;
            }
        }
        self.row_count += 1;
        if self.kinds.len() < shown.len() {
            self.kinds.resize(shown.len(), CellKind::Empty);
        }
        for (known, (kind, _)) in self.kinds.iter_mut().zip(shown) {
            *known = known.merge(*kind);
        }
        if self.rows.len() < self.limits.rows && self.bytes < self.limits.bytes {
            let row = texts();
            self.bytes += row.iter().map(|cell| cell.len() + 1).sum::<usize>();
            if self.bytes <= self.limits.bytes {
                self.rows.push(row);
            }
        }
    }

    /// Returns the size of the preview so far, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the preview. `has_more` says that not all rows were added.
    pub fn build(mut self, has_more: bool) -> TablePreview {
        let heading = self.heading.unwrap_or_default();
        let count = self.width.min(MAX_COLUMNS);
        self.kinds.resize(count, CellKind::Empty);
        let columns = self.kinds.iter().enumerate().map(|(index, kind)| ColumnPreview {
            name: heading.get(index).cloned().unwrap_or_default(),
            kind: kind.as_str().to_owned(),
        });
        TablePreview {
            name: self.name,
            columns: columns.collect(),
            rows: self.rows,
            row_count: self.row_count,
            has_more,
            omitted_columns: self.width - count,
        }
    }
}
