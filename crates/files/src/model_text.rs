//! The text of a document for models.

use std::fmt::Write;

use parlor_protocol::{
    FilePreview,
    file_preview::{ColumnPreview, TablePreview},
};

/// Returns the text of a document for a model, with its name and at most about `max_bytes`. Pages and tables have marks.
pub fn model_text(name: &str, preview: &FilePreview, max_bytes: usize) -> String {
    let mut text = preview.text.trim_end().to_owned();
    if let [table] = &*preview.tables
        && table.name.is_empty()
    {
        push_table(&mut text, "The table", table);
    } else {
        for table in &preview.tables {
            push_table(&mut text, &format!("Sheet “{}”", table.name), table);
        }
    }
    if preview.omitted_tables > 0 {
        let _ = write!(text, "[{} more sheets are not shown.]", preview.omitted_tables);
    }
    if text.len() > max_bytes {
        cut_with_note(&mut text, max_bytes);
    }
    format!("[File: {name}]\n{text}")
}

/// Cuts a text to `max_bytes` and notes that: at the end of a line, unless half of it would be lost.
fn cut_with_note(text: &mut String, max_bytes: usize) {
    text.truncate(text.floor_char_boundary(max_bytes));
    let last_line = text.rfind('\n').filter(|end| *end >= max_bytes / 2);
    if let Some(end) = last_line {
        text.truncate(end);
    }
    text.truncate(text.trim_end().len());
    text.push_str("\n[The rest is not shown.]");
}

fn push_table(text: &mut String, what: &str, table: &TablePreview) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let columns = table.columns.len() + table.omitted_columns;
    let _ = writeln!(text, "{what}: {}, {columns} columns.", table.counted_rows());
    for note in &table.notes {
        let _ = writeln!(text, "[{note}]");
    }
    if table.columns.is_empty() {
        return;
    }
    let describe = |(index, column): (usize, &ColumnPreview)| match &*column.name {
        "" => format!("column {} ({})", index + 1, column.kind),
        name => format!("{name} ({})", column.kind),
    };
    let described: Vec<String> = table.columns.iter().enumerate().map(describe).collect();
    let _ = writeln!(text, "Columns: {}", described.join(", "));
    if table.omitted_columns > 0 {
        let _ = writeln!(text, "[{} more columns are not shown.]", table.omitted_columns);
    }
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| quote(cell)).collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    let hidden = table.row_count.saturating_sub(table.rows.len());
    if hidden > 0 {
        let _ = writeln!(
            text,
            "[{hidden} more rows are not shown: these are the first {}.]",
            table.rows.len()
        );
    }
}

/// Returns a cell as CSV.
fn quote(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_says_what_is_not_shown() {
        let column = |name: &str, kind: &str| ColumnPreview {
            name: name.into(),
            kind: kind.into(),
        };
        let preview = FilePreview {
            tables: vec![TablePreview {
                name: "Q1".into(),
                columns: vec![column("place", "text"), column("", "number")],
                rows: vec![vec!["Köln, Bonn".into(), "3".into()]],
                row_count: 12,
                has_more: false,
                omitted_columns: 1,
                notes: vec!["2 formulas have no value.".into()],
            }],
            omitted_tables: 2,
            ..FilePreview::default()
        };
        assert_eq!(
            model_text("a.xlsx", &preview, 1000),
            "[File: a.xlsx]\nSheet “Q1”: 12 rows, 3 columns.\n[2 formulas have no value.]\nColumns: place (text), column 2 (number)\n\
             [1 more columns are not shown.]\n\"Köln, Bonn\",3\n[11 more rows are not shown: these are the first 1.]\n\
             [2 more sheets are not shown.]"
        );
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let preview = FilePreview {
            text: "äöü".into(),
            ..FilePreview::default()
        };
        assert_eq!(
            model_text("a", &preview, 5),
            "[File: a]\näö\n[The rest is not shown.]"
        );
        assert_eq!(model_text("a", &preview, 6), "[File: a]\näöü");
    }

    #[test]
    fn long_table_is_cut_at_a_line() {
        let row = |number: usize| vec![format!("row {number}"), "\"".repeat(20)];
        let preview = FilePreview {
            tables: vec![TablePreview {
                columns: vec![ColumnPreview::default(), ColumnPreview::default()],
                rows: (0..100).map(row).collect(),
                row_count: 100,
                ..TablePreview::default()
            }],
            ..FilePreview::default()
        };
        let text = model_text("a.csv", &preview, 300);
        let end = format!("\nrow 3,\"{}\"\n[The rest is not shown.]", "\"".repeat(40));
        assert!(text.ends_with(&end), "{text}");
    }
}
