//! The names and types of the columns of tables.

use std::collections::HashSet;

use super::super::table::{CellKind, TableSink, is_heading};

/// The maximum number of columns of a table. Further ones are left out.
const MAX_COLUMNS: usize = 1000;

/// The maximum length of a column's name, in characters.
const MAX_NAME_CHARS: usize = 100;

/// The type of a column, or of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Integer,
    Real,
    Text,
}

impl ColumnType {
    /// The type in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
        }
    }

    /// Returns the type of a value; `None` for an empty one. A number that would be changed by reading it is a text: an
    /// identifier such as 0042, or one with too many digits.
    fn of_cell(kind: CellKind, text: &str) -> Option<Self> {
        let digits = text.trim().trim_start_matches('-').as_bytes();
        match kind {
            CellKind::Empty => None,
            CellKind::Number if digits.starts_with(b"+") => Some(Self::Text),
            CellKind::Number if digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit() => {
                Some(Self::Text)
            }
            CellKind::Number if digits.iter().all(u8::is_ascii_digit) => {
                Some(match text.trim().parse::<i64>() {
                    Ok(_) => Self::Integer,
                    Err(_) => Self::Text,
                })
            }
            CellKind::Number => Some(Self::Real),
            CellKind::Text | CellKind::Date | CellKind::Boolean => Some(Self::Text),
        }
    }

    /// Returns the type of a column that has values of both.
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer, Self::Integer) => Self::Integer,
            (Self::Text, _) | (_, Self::Text) => Self::Text,
            _ => Self::Real,
        }
    }
}

/// A table whose columns are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedTable {
    pub name: String,
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
    name: String,
    /// The heading, once there is a row.
    heading: Option<Vec<String>>,
    has_heading: bool,
    types: Vec<Option<ColumnType>>,
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
        let columns = self.types.iter().enumerate().map(|(index, known)| {
            let name = heading.get(index).map(String::as_str).unwrap_or_default();
            let name = match name {
                "" => format!("column_{}", index + 1),
                name => name.chars().take(MAX_NAME_CHARS).collect(),
            };
            (unique_name(&name, &mut taken), known.unwrap_or(ColumnType::Text))
        });
        ScannedTable {
            columns: columns.collect(),
            name: self.name,
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
    fn start_table(&mut self, name: &str) {
        self.tables.push(Table {
            name: name.to_owned(),
            ..Table::default()
        });
    }

    fn push_row(&mut self, cells: &[(CellKind, &str)]) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        let cells = &cells[..cells.len().min(MAX_COLUMNS)];
        if table.types.len() < cells.len() {
            table.types.resize(cells.len(), None);
        }
        if table.heading.is_none() {
            if cells.iter().all(|(kind, _)| *kind == CellKind::Empty) {
                table.types.clear();
                return;
            }
            table.has_heading = is_heading(cells);
            if table.has_heading {
                table.heading = Some(cells.iter().map(|(_, text)| text.trim().to_owned()).collect());
                return;
            }
            table.heading = Some(Vec::new());
        }
        for (known, (kind, text)) in table.types.iter_mut().zip(cells) {
            *known = match (*known, ColumnType::of_cell(*kind, text)) {
                (Some(known), Some(other)) => Some(known.merge(other)),
                (known, other) => known.or(other),
            };
        }
    }

    fn end_table(&mut self, _has_more: bool) {}
}
