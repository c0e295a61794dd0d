//! The names and types of the columns of tables.

use std::collections::HashSet;

use super::super::{
    column_values::{ColumnType, ColumnValues},
    table::{CellKind, CutReason, TableSink, is_heading},
};

/// The maximum number of columns of a table. Further ones are left out.
pub const MAX_COLUMNS: usize = 1000;

/// The maximum length of a column's name, in characters.
const MAX_NAME_CHARS: usize = 100;

/// A table whose columns are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedTable {
    /// The number of columns in the file.
    pub width: usize,
    /// The names and types of the columns.
    pub columns: Vec<(String, ColumnType)>,
    /// `true` if the first row with content is the heading.
    pub has_heading: bool,
}

/// Finds the columns of all tables. Tables without rows are kept, so that the second reading finds the same ones.
#[derive(Debug, Default)]
pub struct ColumnScan {
    tables: Vec<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// The heading, once there is a row.
    heading: Option<Vec<String>>,
    has_heading: bool,
    values: Vec<ColumnValues>,
    /// The number of columns, also of those that are left out.
    width: usize,
}

impl ColumnScan {
    /// Returns the tables; none if all of them are empty.
    pub fn finish(self) -> Vec<ScannedTable> {
        if self.tables.iter().all(|table| table.heading.is_none()) {
            return Vec::new();
        }
        self.tables.into_iter().map(Table::finish).collect()
    }
}

impl Table {
    fn finish(self) -> ScannedTable {
        let heading = self.heading.unwrap_or_default();
        let mut taken = HashSet::new();
        let columns = self.values.iter().enumerate().map(|(index, values)| {
            let name = heading.get(index).map(String::as_str).unwrap_or_default();
            let name = name.replace('\0', "");
            let name = match &*name {
                "" => format!("column_{}", index + 1),
                name => name.chars().take(MAX_NAME_CHARS).collect(),
            };
            (unique_name(&name, &mut taken), values.column_type())
        });
        ScannedTable {
            columns: columns.collect(),
            width: self.width,
            has_heading: self.has_heading,
        }
    }
}

/// Returns a name that is not taken yet, in any case, and takes it.
pub fn unique_name(name: &str, taken: &mut HashSet<String>) -> String {
    let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}_{number}")));
    let mut free = names.filter(|name| taken.insert(name.to_lowercase()));
    free.next().unwrap_or_default()
}

impl TableSink for ColumnScan {
    fn start_table(&mut self, _name: &str) {
        self.tables.push(Table::default());
    }

    fn push_row(&mut self, cells: &[(CellKind, &str)]) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        let width = cells.len();
        let cells = &cells[..width.min(MAX_COLUMNS)];
        if table.heading.is_none() {
            if cells.iter().all(|(kind, _)| *kind == CellKind::Empty) {
                return;
            }
            table.width = width;
            table.values.resize(cells.len(), ColumnValues::default());
            table.has_heading = is_heading(cells);
            if table.has_heading {
                table.heading = Some(cells.iter().map(|(_, text)| text.trim().to_owned()).collect());
                return;
            }
            table.heading = Some(Vec::new());
        }
        table.width = table.width.max(width);
        if table.values.len() < cells.len() {
            table.values.resize(cells.len(), ColumnValues::default());
        }
        for (values, (kind, text)) in table.values.iter_mut().zip(cells) {
            values.add(*kind, text);
        }
    }

    fn end_table(&mut self, _cut: Option<CutReason>) {}
}
