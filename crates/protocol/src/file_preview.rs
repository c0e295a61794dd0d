//! The content of a document as text or tables: as models get it, and as the page shows it.

use serde::{Deserialize, Serialize};

/// The beginning of a document. It has a text or tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePreview {
    /// The text, with a mark before each page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tables: the sheets of a workbook, or the only one of a CSV file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TablePreview>,
    /// The number of further sheets.
    #[serde(default)]
    pub omitted_tables: usize,
}

/// The beginning of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablePreview {
    /// The name of a sheet; empty for a CSV file.
    #[serde(default)]
    pub name: String,
    pub columns: Vec<ColumnPreview>,
    /// The first rows, without the heading.
    pub rows: Vec<Vec<String>>,
    /// The number of all rows, without the heading.
    pub row_count: usize,
    /// True if not all of them were counted.
    #[serde(default)]
    pub has_more: bool,
    /// The number of further columns.
    #[serde(default)]
    pub omitted_columns: usize,
    /// Notes about the table for its readers, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnPreview {
    /// The heading; empty if the table has none.
    pub name: String,
    /// The type of its values: `text`, `number`, `date`, `boolean` or `empty`.
    pub kind: String,
}

impl TablePreview {
    /// Returns the number of rows for people.
    pub fn counted_rows(&self) -> String {
        let unit = match self.row_count {
            1 if !self.has_more => " row",
            _ => " rows",
        };
        let more = if self.has_more { "more than " } else { "" };
        [more, &self.row_count.to_string(), unit].concat()
    }
}
