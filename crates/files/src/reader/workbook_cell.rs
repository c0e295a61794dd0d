//! The values of a workbook's cells, as text.

use calamine::{Data, DataRef, ExcelDateTime};

use super::table::CellKind;

/// Returns a reference to the value of a cell that was read as a whole.
pub(super) fn as_ref(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(date) => DataRef::DateTime(*date),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

/// Returns the kind and the text of a cell.
pub(super) fn read_value(value: &DataRef<'_>) -> (CellKind, String) {
    match value {
        DataRef::Empty => (CellKind::Empty, String::new()),
        DataRef::String(text) => read_text(text),
        DataRef::SharedString(text) => read_text(text),
        DataRef::Int(number) => (CellKind::Number, number.to_string()),
        DataRef::Float(number) => (CellKind::Number, format_float(*number)),
        DataRef::Bool(value) => (CellKind::Boolean, value.to_string()),
        DataRef::DateTime(date) => (CellKind::Date, format_date(*date)),
        DataRef::DateTimeIso(text) => (CellKind::Date, text.clone()),
        DataRef::DurationIso(text) => (CellKind::Text, text.clone()),
        DataRef::Error(error) => (CellKind::Error, error.to_string()),
    }
}

/// Returns a number with its digits. One that is too large to be exact gets an exponent, so that it is not taken for an exact one.
fn format_float(number: f64) -> String {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    match number.abs() <= MAX_EXACT {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

fn read_text(text: &str) -> (CellKind, String) {
    match text.trim().is_empty() {
        true => (CellKind::Empty, String::new()),
        // A line of the preview is a row.
        false => (CellKind::Text, text.replace(['\r', '\n'], " ")),
    }
}

/// Returns a date as ISO 8601, without a time at midnight.
fn format_date(date: ExcelDateTime) -> String {
    if date.is_duration() {
        let seconds = (date.as_f64() * 86_400.0).round().abs() as u64;
        let sign = if date.as_f64() < 0.0 { "-" } else { "" };
        return format!(
            "{sign}{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    // Less than a day is a time.
    if (0.0..1.0).contains(&date.as_f64()) {
        return format!("{hour:02}:{minute:02}:{second:02}");
    }
    match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_floats_have_an_exponent() {
        for (number, text) in [
            (3.0, "3"),
            (1e15, "1000000000000000"),
            (1e22, "1e22"),
            (0.5, "0.5"),
        ] {
            assert_eq!(format_float(number), text);
        }
    }
}
