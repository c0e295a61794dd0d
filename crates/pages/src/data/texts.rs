//! Results and tables as Markdown for the model.

use parlor_base::text::{single_line, truncate_bytes};
use parlor_databases::{Column, QueryResult, Subject, Table};

/// A missing value.
pub const NULL: &str = "NULL";

/// The maximum length of a note of a result, in characters.
const MAX_NOTE_CHARS: usize = 300;

/// The maximum length of a value in a row for the model, in characters.
const MAX_VALUE_CHARS: usize = 200;
/// The maximum length of a text about a table or a subject, in bytes.
const MAX_ABOUT_BYTES: usize = 8000;
/// The number of columns of a table that are described.
const MAX_DESCRIBED_COLUMNS: usize = 300;

/// Returns the first rows of a result as a Markdown table.
pub fn rows_table(result: &QueryResult, count: usize) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = result.columns.iter().map(|column| cell_text(&column.name));
    let mut text = line(names.collect());
    let rules = (0..result.columns.len()).map(|index| match result.is_numeric(index) {
        true => "---:",
        false => "---",
    });
    text.push_str(&line(rules.map(str::to_owned).collect()));
    for row in result.rows.iter().take(count) {
        let cells = row.iter().map(|cell| match cell.to_text() {
            Some(value) => value_text(&value),
            None => NULL.into(),
        });
        text.push_str(&line(cells.collect()));
    }
    text.trim_end().to_owned()
}

/// Returns the number of rows and the types of a result, and what is not shown.
pub fn result_note(result: &QueryResult, shown: usize) -> String {
    let count = result.row_count;
    let rows = match result.cut_by {
        Some(setting) => format!(
            "More than {count} rows: only the first {count} were read (setting {setting}). Aggregate, or filter, for the rest."
        ),
        None if count == 1 => "1 row.".into(),
        None => format!("{count} rows."),
    };
    let shown = if shown < count {
        format!(" The first {shown} are above; the person sees all {count} in a table.")
    } else {
        String::new()
    };
    let types = result.columns.iter().map(|column| match &*column.data_type {
        "" => cell_text(&column.name),
        data_type => format!("{} {data_type}", cell_text(&column.name)),
    });
    let notes = result
        .notes
        .iter()
        .map(|note| format!("\n{}", single_line(note, MAX_NOTE_CHARS)));
    let notes: String = notes.collect();
    format!(
        "{rows}{shown}\nTypes: {}{notes}",
        types.collect::<Vec<_>>().join(", ")
    )
}

/// Describes a table with its columns, and with example values if there are any.
pub fn describe_table(table: &Table, examples: &QueryResult) -> String {
    let kind = if table.is_view { "view" } else { "table" };
    let mut text = format!("{} ({kind}{})\n", table.full_name(), quoted_note(table));
    if !table.about.is_empty() {
        text.push_str(&truncate_bytes(&table.about, MAX_ABOUT_BYTES));
        text.push('\n');
    }
    text.push_str("\nColumns:\n");
    for column in table.columns.iter().take(MAX_DESCRIBED_COLUMNS) {
        text.push_str(&format!("- {}\n", column_line(column)));
    }
    if table.columns.len() > MAX_DESCRIBED_COLUMNS {
        text.push_str(&format!(
            "… {} more\n",
            table.columns.len() - MAX_DESCRIBED_COLUMNS
        ));
    }
    if !examples.rows.is_empty() {
        text.push_str(&format!("\nFirst rows:\n\n{}", rows_table(examples, usize::MAX)));
    }
    text
}

/// Returns a note about a name that must be quoted in SQL; nothing about others.
fn quoted_note(table: &Table) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c);
    match table.full_name().chars().all(is_plain) {
        true => String::new(),
        false => format!(", in SQL: {}", table.quoted_name()),
    }
}

/// Returns a line about a column: `rate (REAL, key, → pay.id): percent`.
pub fn column_line(column: &Column) -> String {
    let mut notes = Vec::new();
    if !column.data_type.is_empty() {
        notes.push(column.data_type.clone());
    }
    if column.is_key {
        notes.push("key".into());
    }
    if !column.is_nullable && !column.is_key {
        notes.push("not null".into());
    }
    notes.extend(column.references.iter().map(|to| format!("→ {to}")));
    let about = match &*column.about {
        "" => String::new(),
        about => format!(": {}", single_line(about, 1000)),
    };
    let notes = match &notes[..] {
        [] => String::new(),
        notes => format!(" ({})", notes.join(", ")),
    };
    format!("{}{notes}{about}", column.name)
}

/// Describes a subject with a line for each table.
pub fn describe_subject(subject: &Subject, max_tables: usize) -> String {
    let mut text = format!("{}\n", subject.name);
    if !subject.about.is_empty() {
        text.push_str(&truncate_bytes(&subject.about, MAX_ABOUT_BYTES));
        text.push('\n');
    }
    for table in subject.tables.iter().take(max_tables) {
        let about = table.about.lines().next().unwrap_or_default();
        let about = match about {
            "" => {
                let names = table.columns.iter().map(|column| column.name.as_str());
                format!(" ({})", single_line(&names.collect::<Vec<_>>().join(", "), 200))
            }
            about => format!(": {}", single_line(about, 300)),
        };
        text.push_str(&format!("- {}{about}\n", table.full_name()));
    }
    if subject.tables.len() > max_tables {
        let more = subject.tables.len() - max_tables;
        text.push_str(&format!("… {more} more tables: name the subject to list more.\n"));
    }
    text
}

/// Returns a value for a cell of a Markdown table: an empty text and the text NULL are in quotes, since neither is a missing value.
pub fn value_text(text: &str) -> String {
    match text {
        "" | NULL => format!("'{text}'"),
        text => cell_text(text),
    }
}

/// Returns a text for a cell of a Markdown table.
pub fn cell_text(text: &str) -> String {
    single_line(text, MAX_VALUE_CHARS).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_databases::{Cell, ResultColumn};

    #[test]
    fn missing_and_empty_values_differ() {
        let mut result = QueryResult::default();
        result.columns.push(ResultColumn {
            name: "a|b".into(),
            data_type: String::new(),
        });
        let texts = ["", "NULL", "x|y"].map(|text| vec![Cell::Text(text.into())]);
        result.rows.extend(texts);
        result.rows.push(vec![Cell::Null]);
        assert_eq!(
            rows_table(&result, 9),
            "| a\\|b |\n| --- |\n| '' |\n| 'NULL' |\n| x\\|y |\n| NULL |"
        );
    }

    #[test]
    fn odd_names_come_with_their_quotes() {
        let describe = |schema: Option<&str>, name: &str| {
            let table = Table {
                schema: schema.map(str::to_owned),
                name: name.into(),
                ..Table::default()
            };
            describe_table(&table, &QueryResult::default())
        };
        assert!(describe(Some("pay"), "best_2").starts_with("pay.best_2 (table)\n"));
        assert!(
            describe(None, "odd \"name").starts_with("\"odd \"\"name\" (table, in SQL: \"odd \"\"name\")\n")
        );
        assert!(
            describe(Some("pay"), "All jobs")
                .starts_with("pay.All jobs (table, in SQL: \"pay\".\"All jobs\")\n")
        );
    }
}
