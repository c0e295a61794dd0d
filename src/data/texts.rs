//! Results and tables as Markdown for the model.

use crate::{
    databases::{Column, QueryResult, Subject, Table},
    text::{single_line, truncate_bytes},
};

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
            Some(value) => cell_text(&value),
            None => "NULL".into(),
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
    let mut text = format!("{} ({kind})\n", table.full_name());
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

/// Returns a text for a cell of a Markdown table.
pub fn cell_text(text: &str) -> String {
    single_line(text, MAX_VALUE_CHARS).replace('|', "\\|")
}
