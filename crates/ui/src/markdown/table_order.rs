//! The order of a table's rows: that of the text, or by a column, numbers as numbers. The code that sorts is loaded when a
//! table is first sorted.

use std::cmp::Ordering;

use leptos::wasm_split::wasm_split;

use super::{node::TableRow, table_export::cell_text};
use crate::runtime::lazy::LoadError;

/// Rows sorted by a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    column: usize,
    is_descending: bool,
}

impl Order {
    /// The order after a press on a column: ascending, descending, that of the text.
    pub fn next(before: Option<Self>, column: usize) -> Option<Self> {
        match before.filter(|before| before.column == column) {
            None => Some(Self {
                column,
                is_descending: false,
            }),
            Some(before) if !before.is_descending => Some(Self {
                is_descending: true,
                ..before
            }),
            Some(_) => None,
        }
    }

    /// The index of the column.
    pub fn column(self) -> usize {
        self.column
    }

    pub fn is_descending(self) -> bool {
        self.is_descending
    }

    /// The value of `aria-sort` for a column.
    pub fn direction_of(self, column: usize) -> Option<&'static str> {
        (self.column == column).then_some(if self.is_descending {
            "descending"
        } else {
            "ascending"
        })
    }
}

/// An order, with the code that sorts.
#[derive(Clone, Copy, Debug)]
pub struct Sorting {
    pub order: Order,
    pub sort: Sorter,
}

/// Sorts rows. Equal ones keep their order; empty cells are last in both directions.
pub type Sorter = fn(Vec<TableRow>, Order) -> Vec<TableRow>;

impl Sorting {
    pub fn sorted(self, rows: Vec<TableRow>) -> Vec<TableRow> {
        (self.sort)(rows, self.order)
    }
}

/// Loads the code that sorts.
#[wasm_split(tables, wasm_split_path = leptos::wasm_split, fallible)]
pub fn sorter() -> Result<Sorter, LoadError> {
    Ok(sort)
}

fn sort(rows: Vec<TableRow>, order: Order) -> Vec<TableRow> {
    let texts: Vec<String> = rows
        .iter()
        .map(|row| {
            row.cells
                .get(order.column)
                .map_or(String::new(), |cell| cell_text(cell))
        })
        .collect();
    sort_by_texts(rows, &texts, order)
}

/// Sorts rows by the texts of a column, in the same order as the rows; equal ones keep their order.
pub fn sort_by_texts<T>(rows: Vec<T>, texts: &[impl AsRef<str>], order: Order) -> Vec<T> {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let keys = sort_keys(&texts);
    let mut rows: Vec<_> = keys.into_iter().zip(rows).collect();
    rows.sort_by(|(a, _), (b, _)| compare(a, b, order.is_descending));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The value by which a cell is sorted.
#[derive(Clone, Debug, PartialEq)]
enum SortKey {
    Number(f64),
    Text(String),
    Empty,
}

/// The keys of a column: numbers, if each cell that is not empty begins with one.
fn sort_keys(texts: &[&str]) -> Vec<SortKey> {
    let mut keys = Vec::with_capacity(texts.len());
    for text in texts {
        keys.push(match is_empty(text) {
            true => SortKey::Empty,
            false => match parse_number(text) {
                Some(number) => SortKey::Number(number),
                // None of them is a number, then.
                None => return texts.iter().map(|text| text_key(text)).collect(),
            },
        });
    }
    keys
}

fn text_key(text: &str) -> SortKey {
    match is_empty(text) {
        true => SortKey::Empty,
        false => SortKey::Text(text.trim().to_lowercase()),
    }
}

fn is_empty(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric) || is_not_available(text)
}

fn is_not_available(text: &str) -> bool {
    let text = text.trim();
    let words = ["n/a", "na", "none", "null", "nan"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn compare(a: &SortKey, b: &SortKey, is_descending: bool) -> Ordering {
    let ascending = match (a, b) {
        (SortKey::Number(a), SortKey::Number(b)) => a.total_cmp(b),
        (SortKey::Text(a), SortKey::Text(b)) => a.cmp(b),
        (a, b) => return (*a == SortKey::Empty).cmp(&(*b == SortKey::Empty)),
    };
    if is_descending {
        ascending.reverse()
    } else {
        ascending
    }
}

/// Reads a number as people write it: `$1,200.50`, `−5 %`, `~3.2M`, `1.5e-3`, `12 km`, `1 000`. Dates, times, ranges
/// and fractions are none.
fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Most numbers are plain. Longer ones may be groups of digits.
    if text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok();
    }
    let start = text.find(|c: char| c.is_ascii_digit() || c == '.')?;
    let (before, rest) = text.split_at(start);
    let is_sign_or_unit = |c: char| " ~≈<>≤≥+±-−–($€£¥₹%".contains(c) || c.is_alphabetic();
    if !before.chars().all(is_sign_or_unit) || before.chars().filter(|c| c.is_alphabetic()).count() > 3 {
        return None;
    }
    let is_negative = before.contains(['-', '−', '–', '(']);
    let is_part = |c: char| c.is_ascii_digit() || ".,'’ \u{a0}\u{202f}".contains(c);
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let digits = rest[..end].trim_end_matches(|c: char| !c.is_ascii_digit());
    let after = &rest[digits.len()..];
    let number: f64 = plain_digits(digits)?.parse().ok()?;
    let (exponent, after) = split_exponent(after);
    let factor = match after.chars().next() {
        Some('k' | 'K') => 1e3,
        Some('M') => 1e6,
        Some('B' | 'G') => 1e9,
        Some('T') => 1e12,
        _ => 1.0,
    };
    let is_multiplied = after.chars().nth(1).is_none_or(|c| !c.is_alphanumeric());
    let factor = if is_multiplied { factor } else { 1.0 };
    // What follows may be a unit, but no other number.
    let is_unit = !after.contains(|c: char| c.is_ascii_digit()) && !after.starts_with([':', '/']);
    let number = number * factor * 10_f64.powi(exponent);
    is_unit.then_some(if is_negative { -number } else { number })
}

/// Splits `e-3` off.
fn split_exponent(text: &str) -> (i32, &str) {
    let Some(rest) = text.strip_prefix(['e', 'E']) else {
        return (0, text);
    };
    let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = rest.len() - digits.len() + count;
    match rest[..end].parse() {
        Ok(exponent) => (exponent, &rest[end..]),
        Err(_) => (0, text),
    }
}

/// Digits with at most a point: a separator that repeats, or is before exactly three digits, separates thousands.
fn plain_digits(digits: &str) -> Option<String> {
    let is_decimal = |c: char| {
        let count = digits.matches(c).count();
        let last = digits.rfind(c).map(|at| digits.len() - at - 1);
        let other = if c == '.' { ',' } else { '.' };
        let is_last = digits.rfind(c) > digits.rfind(other);
        count == 1
            && is_last
            && (c == '.' || last != Some(3) || digits.contains(other) || digits.starts_with("0,"))
    };
    let decimal = ['.', ','].into_iter().find(|c| is_decimal(*c));
    let (whole, fraction) = decimal.and_then(|c| digits.split_once(c)).unwrap_or((digits, ""));
    let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
    // Dates, versions and URLs have other groups. Indian numbers have groups of two before the last one.
    let is_grouped = match groups[..] {
        [_] => true,
        [first, ref middle @ .., last] => {
            (1..=3).contains(&first.len())
                && middle.iter().all(|group| matches!(group.len(), 2 | 3))
                && last.len() == 3
        }
        [] => false,
    };
    let is_plain_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit());
    (is_grouped && is_plain_fraction).then(|| [&groups.concat(), ".", fraction].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_as_written() {
        for (text, number) in [
            ("5", 5.0),
            ("-5", -5.0),
            ("−5 %", -5.0),
            ("$1,200.50", 1200.5),
            ("US$ 3", 3.0),
            ("1.234,5 €", 1234.5),
            ("1,234,567", 1_234_567.0),
            ("0,125", 0.125),
            ("12,5", 12.5),
            ("1 000", 1000.0),
            ("12,34,567", 1_234_567.0),
            ("~3.2M", 3_200_000.0),
            ("1.5e-3", 0.0015),
            ("12 km", 12.0),
            ("5 MB", 5.0),
            ("(7)", -7.0),
            ("1st", 1.0),
            (".5", 0.5),
        ] {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        for text in [
            "",
            "a",
            "2024-01-05",
            "10:30",
            "1/2",
            "10–20",
            "Chapter 5",
            "v",
            "05.01.2024",
            "1.10.0",
            "192.168.1.1",
            "1, 2, 3",
            ".",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    fn sorted_texts(texts: &[&str], is_descending: bool) -> Vec<String> {
        let mut pairs: Vec<_> = sort_keys(texts).into_iter().zip(texts).collect();
        pairs.sort_by(|(a, _), (b, _)| compare(a, b, is_descending));
        pairs.into_iter().map(|(_, text)| (*text).to_owned()).collect()
    }

    #[test]
    fn sorts_numbers_as_numbers() {
        let texts = ["10", "9", "—", "$1,000", "-1", "N/A"];
        assert_eq!(
            sorted_texts(&texts, false),
            ["-1", "9", "10", "$1,000", "—", "N/A"]
        );
        assert_eq!(
            sorted_texts(&texts, true),
            ["$1,000", "10", "9", "-1", "—", "N/A"]
        );
    }

    #[test]
    fn sorts_texts_without_case() {
        let texts = ["b", "", "A", "10", "c"];
        assert_eq!(sorted_texts(&texts, false), ["10", "A", "b", "c", ""]);
    }

    #[test]
    fn third_press_restores_the_order() {
        let first = Order::next(None, 1);
        let second = Order::next(first, 1);
        assert_eq!(first.and_then(|order| order.direction_of(1)), Some("ascending"));
        assert_eq!(second.and_then(|order| order.direction_of(1)), Some("descending"));
        assert_eq!(second.and_then(|order| order.direction_of(0)), None);
        assert_eq!(Order::next(second, 1), None);
        assert_eq!(
            Order::next(second, 0).and_then(|order| order.direction_of(0)),
            Some("ascending")
        );
    }
}
