//! The type of a column from all of its values: one for previews and queries.

use super::table::CellKind;

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
pub struct ColumnValues {
    integers: bool,
    /// Integers that a float can't hold.
    large_integers: bool,
    reals: bool,
    booleans: bool,
    missing_words: bool,
    dates: bool,
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
    pub fn add(&mut self, kind: CellKind, text: &str) {
        let text = text.trim();
        match kind {
            CellKind::Empty | CellKind::Error => {}
            CellKind::Boolean => self.booleans = true,
            CellKind::Text if MISSING_WORDS.contains(&text) => self.missing_words = true,
            CellKind::Date => self.dates = true,
            CellKind::Text => self.texts = true,
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

    /// Returns the type of the column for queries.
    pub fn column_type(self) -> ColumnType {
        let has_numbers = self.integers || self.reals;
        let commas_are_unclear = match self.decimal_commas {
            true => self.points,
            false => self.grouping_commas,
        };
        if self.texts || self.dates || commas_are_unclear || self.reals && self.large_integers {
            return ColumnType::Text;
        }
        match (has_numbers, self.booleans) {
            (true, false) if self.reals => ColumnType::Real,
            (true, false) => ColumnType::Integer,
            (false, true) if !self.missing_words => ColumnType::Boolean,
            _ => ColumnType::Text,
        }
    }

    /// Returns the name of the type for a preview. Queries read dates as texts.
    pub fn kind(self) -> &'static str {
        let Self {
            integers,
            reals,
            booleans,
            missing_words,
            dates,
            texts,
            ..
        } = self;
        match self.column_type() {
            ColumnType::Integer | ColumnType::Real => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Text if !(integers || reals || booleans || missing_words || texts) => {
                if dates {
                    "date"
                } else {
                    "empty"
                }
            }
            ColumnType::Text => "text",
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
