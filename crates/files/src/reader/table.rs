//! Previews of tables: their columns with types, their first rows and the number of all.

use super::{column_values::ColumnValues, document::PreviewLimits};
use parlor_base::text::truncate_chars;
use parlor_protocol::file_preview::{ColumnPreview, TablePreview};

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

    /// Adds a note about the table, for people and models.
    fn note(&mut self, _text: String) {}

    /// Ends the table, with the reason if it has rows that were not read.
    fn end_table(&mut self, cut: Option<CutReason>);

    /// Names a table of which nothing is read.
    fn omit_table(&mut self, _name: &str, _reason: CutReason) {}
}

/// The maximum number of cells of a row from which a heading is known.
const MAX_HEADING_CELLS: usize = 1000;

/// Returns `true` if a table's first row with content is its heading: all of its cells are texts.
pub fn is_heading(cells: &[(CellKind, &str)]) -> bool {
    cells[..cells.len().min(MAX_HEADING_CELLS)]
        .iter()
        .all(|(kind, _)| matches!(kind, CellKind::Text | CellKind::Empty | CellKind::Error))
}

/// Makes the preview of a table from its rows.
pub struct TableBuilder {
    name: String,
    limits: PreviewLimits,
    heading: Option<Vec<String>>,
    values: Vec<ColumnValues>,
    rows: Vec<Vec<String>>,
    row_count: usize,
    width: usize,
    /// The size of the rows so far, in bytes.
    bytes: usize,
    notes: Vec<String>,
}

impl TableBuilder {
    /// The preview of a table has at most the rows and bytes of the limits.
    pub fn new(name: &str, limits: PreviewLimits) -> Self {
        Self {
            name: truncate_chars(name, MAX_CELL_CHARS),
            limits,
            heading: None,
            values: Vec::new(),
            notes: Vec::new(),
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
            let is_heading = is_heading(cells);
            let heading = if is_heading { texts() } else { Vec::new() };
            self.bytes += heading.iter().map(String::len).sum::<usize>() + shown.len() * COLUMN_BYTES;
            self.heading = Some(heading);
            if is_heading {
                return;
            }
        }
        self.row_count += 1;
        if self.values.len() < shown.len() {
            self.values.resize(shown.len(), ColumnValues::default());
        }
        for (values, (kind, text)) in self.values.iter_mut().zip(shown) {
            values.add(*kind, text);
        }
        if self.rows.len() < self.limits.rows && self.bytes < self.limits.bytes {
            let row = texts();
            self.bytes += row.iter().map(|cell| cell.len() + 1).sum::<usize>();
            if self.bytes <= self.limits.bytes {
                self.rows.push(row);
            }
        }
    }

    /// Adds a note about the table.
    pub fn note(&mut self, text: String) {
        self.bytes += text.len();
        self.notes.push(text);
    }

    /// Returns the size of the preview so far, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the preview. `has_more` says that not all rows were added.
    pub fn build(mut self, has_more: bool) -> TablePreview {
        let heading = self.heading.unwrap_or_default();
        let count = self.width.min(MAX_COLUMNS);
        self.values.resize(count, ColumnValues::default());
        let columns = self
            .values
            .iter()
            .enumerate()
            .map(|(index, values)| ColumnPreview {
                name: heading.get(index).cloned().unwrap_or_default(),
                kind: values.kind().to_owned(),
            });
        TablePreview {
            name: self.name,
            columns: columns.collect(),
            rows: self.rows,
            row_count: self.row_count,
            has_more,
            omitted_columns: self.width - count,
            notes: self.notes,
        }
    }
}

/// The previews of the sheets so far, which share the limit of bytes.
pub struct SheetPreviews {
    limits: PreviewLimits,
    current: TableBuilder,
    tables: Vec<TablePreview>,
}

impl SheetPreviews {
    pub fn new(limits: PreviewLimits) -> Self {
        Self {
            limits,
            current: TableBuilder::new("", limits),
            tables: Vec::new(),
        }
    }

    /// Returns the previews.
    pub fn finish(self) -> Vec<TablePreview> {
        self.tables
    }
}

impl TableSink for SheetPreviews {
    fn start_table(&mut self, name: &str) {
        self.current = TableBuilder::new(name, self.limits);
    }

    fn push_row(&mut self, cells: &[(CellKind, &str)]) {
        self.current.push_row(cells);
    }

    fn note(&mut self, text: String) {
        self.current.note(text);
    }

    fn end_table(&mut self, cut: Option<CutReason>) {
        let table = std::mem::replace(&mut self.current, TableBuilder::new("", self.limits));
        self.limits.bytes = self.limits.bytes.saturating_sub(table.bytes());
        self.tables.push(table.build(cut.is_some()));
    }
}
