//! Tables as texts: their values are separated by commas, semicolons, tabs or bars.

use csv::{ByteRecord, ReaderBuilder};

use super::{
    document::{Document, PreviewLimits},
    table::{CellKind, CutReason, TableBuilder, TableSink},
    text,
};
use parlor_protocol::FilePreview;

/// The part of a table from which its separator is guessed, in bytes.
const GUESSED_BYTES: usize = 64 << 10;

/// The number of lines from which its separator is guessed.
const GUESSED_LINES: usize = 20;

/// The separators. Of two that fit equally well, the first one separates: commas are in texts and numbers too.
const SEPARATORS: [u8; 4] = [b'\t', b';', b',', b'|'];

/// Reads the preview of a table whose values are separated by a character.
pub fn read(data: &[u8], limits: PreviewLimits) -> Document {
    let Some(decoded) = text::decode(data) else {
        return Document::UNUSABLE;
    };
    let mut table = TableBuilder::new("", limits);
    let (separator, has_more) = for_each_row(&decoded, |cells| table.push_row(cells));
    let media_type = match separator {
        b'\t' => "text/tab-separated-values",
        _ => "text/csv",
    };
    Document::new(
        media_type,
        Ok(FilePreview {
            tables: vec![table.build(has_more)],
            ..FilePreview::default()
        }),
    )
}

/// Reads the rows of such a table. Returns `false` if the data is not text.
pub fn read_rows(data: &[u8], sink: &mut dyn TableSink) -> bool {
    let Some(decoded) = text::decode(data) else {
        return false;
    };
    sink.start_table("");
    let (_, has_more) = for_each_row(&decoded, |cells| sink.push_row(cells));
    sink.end_table(has_more.then_some(CutReason::Damaged));
    true
}

/// Passes on the rows. Returns the separator, and `true` if there are more rows, which can't be read.
fn for_each_row(text: &str, mut push: impl FnMut(&[(CellKind, &str)])) -> (u8, bool) {
    let (named, text) = named_separator(text);
    let separator = named.unwrap_or_else(|| guess_separator(text));
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut record = ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {
                let cells: Vec<(CellKind, &str)> = record
                    .iter()
                    .map(|cell| std::str::from_utf8(cell).unwrap_or_default())
                    .map(|cell| (detect_kind(cell, separator), cell))
                    .collect();
                push(&cells);
            }
            Ok(false) => return (separator, false),
            Err(_) => return (separator, true),
        }
    }
}

/// Returns the separator of Excel's first line `sep=;`, and the text after it.
fn named_separator(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or_default();
    let line = line.trim_end_matches('\r').trim_matches('"').as_bytes();
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] if SEPARATORS.contains(separator) => {
            (Some(*separator), rest)
        }
        _ => (None, text),
    }
}

/// Returns the separator that most of the first lines have the same number of times.
fn guess_separator(text: &str) -> u8 {
    let beginning = &text[..text.floor_char_boundary(GUESSED_BYTES)];
    let score = |separator: &u8| {
        let mut reader = ReaderBuilder::new()
            .delimiter(*separator)
            .flexible(true)
            .has_headers(false)
            .from_reader(beginning.as_bytes());
        let widths = reader
            .byte_records()
            .take(GUESSED_LINES)
            .flatten()
            .map(|record| record.len());
        let widths: Vec<usize> = widths.collect();
        let first = widths.first().copied().unwrap_or_default();
        let same = widths
            .iter()
            .filter(|width| **width == first && first > 1)
            .count();
        (same, first)
    };
    // Of equal ones the first is kept.
    let mut best = (b',', (0, 1));
    for separator in &SEPARATORS {
        let found = score(separator);
        if found > best.1 {
            best = (*separator, found);
        }
    }
    best.0
}

/// Returns the type of a cell of a text.
pub(super) fn detect_kind(cell: &str, separator: u8) -> CellKind {
    let cell = cell.trim();
    if cell.is_empty() {
        return CellKind::Empty;
    }
    if matches!(cell, "true" | "false" | "True" | "False" | "TRUE" | "FALSE") {
        return CellKind::Boolean;
    }
    let is_number = |text: &str| {
        text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte))
            && text.parse::<f64>().is_ok_and(f64::is_finite)
    };
    // Where a comma does not separate, it is the decimal one of many languages.
    if is_number(cell) || (separator != b',' && is_number(&cell.replacen(',', ".", 1))) {
        return CellKind::Number;
    }
    if is_date(cell) {
        return CellKind::Date;
    }
    CellKind::Text
}

/// Returns true for a date such as 2026-11-25, 25.11.2026 or 11/25/2026, perhaps with a time.
fn is_date(cell: &str) -> bool {
    let date = cell.split([' ', 'T']).next().unwrap_or_default();
    ['-', '.', '/'].iter().any(|separator| {
        let parts: Vec<&str> = date.split(*separator).collect();
        let is_number =
            |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.len() == 3 && parts.iter().all(is_number) && (parts[0].len() == 4) != (parts[2].len() == 4)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::table::{MAX_CELL_CHARS, MAX_COLUMNS};
    use parlor_protocol::file_preview::TablePreview;

    const LIMITS: PreviewLimits = PreviewLimits {
        bytes: 10_000,
        rows: 2,
    };

    fn table(text: &str) -> TablePreview {
        let document = read(text.as_bytes(), LIMITS);
        let mut preview = document.content.unwrap();
        preview.tables.remove(0)
    }

    fn columns(table: &TablePreview) -> Vec<(&str, &str)> {
        let columns = table.columns.iter();
        columns.map(|column| (&*column.name, &*column.kind)).collect()
    }

    #[test]
    fn shows_types_first_rows_and_count() {
        let found = table(
            "name,size,day,ok\nmap,3,2026-01-02,true\n\"a, b\",1e3,2026-02-03 10:00,false\n,,,\nx,-4.5,,\n",
        );
        assert_eq!(
            columns(&found),
            [
                ("name", "text"),
                ("size", "number"),
                ("day", "date"),
                ("ok", "boolean")
            ]
        );
        assert_eq!(
            found.rows,
            [
                ["map", "3", "2026-01-02", "true"],
                ["a, b", "1e3", "2026-02-03 10:00", "false"]
            ]
        );
        assert_eq!((found.row_count, found.has_more), (4, false));
    }

    #[test]
    fn guesses_the_separator() {
        let german = table("Ort;Betrag\nKöln;3,14\nBonn;2,5\n");
        assert_eq!(columns(&german), [("Ort", "text"), ("Betrag", "number")]);
        assert_eq!(
            columns(&table("a\tb, c\n1\tx, y\n")),
            [("a", "number"), ("b, c", "text")]
        );
        assert_eq!(
            columns(&table("sep=,\na,b;c\n1,2\n")),
            [("a", "number"), ("b;c", "number")]
        );
        assert_eq!(columns(&table("just text\nand more\n")), [("just text", "text")]);
    }

    #[test]
    fn table_without_heading_has_all_rows() {
        let found = table("1,2\n3,4\n");
        assert_eq!(columns(&found), [("", "number"), ("", "number")]);
        assert_eq!(found.row_count, 2);
    }

    #[test]
    fn long_tables_stay_small() {
        let wide = vec!["x"; 3000].join(",");
        let found = table(&format!("{wide}\n{}\n", "y".repeat(5000)));
        assert_eq!((found.columns.len(), found.omitted_columns), (MAX_COLUMNS, 2900));
        assert_eq!(found.rows[0][0].chars().count(), MAX_CELL_CHARS + 1);
        let cells = vec!["z".repeat(90); 99].join(",");
        let document = read(format!("{cells}\n{cells}\n{cells}\n").as_bytes(), LIMITS);
        assert_eq!(
            document.content.unwrap().tables[0].rows.len(),
            0,
            "{}",
            LIMITS.bytes
        );
    }
}
