//! The names and types of the columns of tables.

use std::collections::HashSet;

use super::super::table::{CellKind, CutReason, TableSink, is_heading};

/// The maximum number of columns of a table. Further ones are left out.
pub const MAX_COLUMNS: usize = 1000;

/// The maximum length of a column's name, in characters.
const MAX_NAME_CHARS: usize = 100;

/// The words for a missing number.
const MISSING_WORDS: [&str; 7] = ["NA", "N/A", "#N/A", "NULL", "null", "NaN", "-"];

/// The largest integer up to which a float holds all of them.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Integer,
    Real,
    Boolean,
    Text,
}

impl ColumnType {
    /// The type in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Boolean => "BOOLEAN",
            Self::Text => "TEXT",
        }
    }
}

/// The kinds of values that a column has.
#[derive(Clone, Copy, Debug, Default)]
struct ColumnValues {
    integers: bool,
    /// Integers that a float can't hold.
    large_integers: bool,
    reals: bool,
    booleans: bool,
    missing_words: bool,
    texts: bool,
    /// Numbers with a point.
    points: bool,
    /// Numbers with a comma that groups three digits, such as 12,345.
    grouping_commas: bool,
    /// Numbers with another comma.
    decimal_commas: bool,
}

impl ColumnValues {
    /// Adds a value. A number that would be changed by reading it is a text: an identifier such as 0042, or one with too
    /// many digits.
    fn add(&mut self, kind: CellKind, text: &str) {
        let text = text.trim();
        match kind {
            CellKind::Empty | CellKind::Error => {}
            CellKind::Boolean => self.booleans = true,
            CellKind::Text if MISSING_WORDS.contains(&text) => self.missing_words = true,
            CellKind::Text | CellKind::Date => self.texts = true,
            CellKind::Number => self.add_number(text),
        }
    }

    fn add_number(&mut self, text: &str) {
        let digits = text.trim_start_matches('-').as_bytes();
        let is_identifier =
            digits.starts_with(b"+") || digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
        if is_identifier {
            self.texts = true;
        } else if digits.iter().all(u8::is_ascii_digit) {
            match text.parse::<i64>() {
                Ok(number) => {
                    self.integers = true;
                    self.large_integers |= number.unsigned_abs() > MAX_EXACT_INTEGER;
                }
                Err(_) => self.texts = true,
            }
        } else {
            let is_finite = text
                .replacen(',', ".", 1)
                .parse::<f64>()
                .is_ok_and(f64::is_finite);
            self.reals |= is_finite;
            self.texts |= !is_finite;
            self.points |= digits.contains(&b'.');
            if digits.contains(&b',') {
                let is_grouping = groups_digits(digits);
                self.grouping_commas |= is_grouping;
                self.decimal_commas |= !is_grouping;
            }
        }
    }

    fn column_type(self) -> ColumnType {
        let has_numbers = self.integers || self.reals;
        let commas_are_unclear = match self.decimal_commas {
            true => self.points,
            false => self.grouping_commas,
        };
        if self.texts || commas_are_unclear || self.reals && self.large_integers {
            return ColumnType::Text;
        }
        match (has_numbers, self.booleans) {
            (true, false) if self.reals => ColumnType::Real,
            (true, false) => ColumnType::Integer,
            (false, true) if !self.missing_words => ColumnType::Boolean,
            _ => ColumnType::Text,
        }
    }
}

/// Returns `true` if commas of a number may group its digits by three.
fn groups_digits(digits: &[u8]) -> bool {
    let mut groups = digits.split(|byte| *byte == b',');
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && first[0] != b'0'
        && first.iter().all(u8::is_ascii_digit)
        && groups.all(|group| group.len() == 3 && group.iter().all(u8::is_ascii_digit))
}

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
