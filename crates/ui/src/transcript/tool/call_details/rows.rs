//! JSON as rows: the fields of an object, and a list of objects as a table. The JSON itself is behind a switch.

use leptos::prelude::*;

use super::{MAX_INITIAL_BYTES, argument_title, text_view};
use crate::{components::copy::CopyButton, runtime::erase::Erase, transcript::texts};
use parlor_protocol::{json, tool::object_entries};

/// The maximum number of columns that are read as a table.
const MAX_COLUMNS: usize = 12;

/// A part of an open call that is shown in another way than its JSON.
pub fn json_part(
    title: String,
    json: String,
    is_whole: bool,
    rows: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let is_json = RwSignal::new(false);
    view! {
        <section class="tool-part">
            <div class="tool-part-head">
                <h3>{title}</h3>
                <button
                    type="button"
                    class="tool-switch needs-script"
                    aria-pressed=move || is_json.get().to_string()
                    on:click=move |_| is_json.update(|is_json| *is_json = !*is_json)
                >
                    {texts::JSON}
                </button>
            </div>
            {move || match is_json.get() {
                true => text_view(json.clone(), "json".into(), is_whole),
                false => rows(),
            }}
        </section>
    }
    .erase()
}

/// Shows the fields of an object by name, with a button that copies `json`.
pub fn field_rows(fields: &[(String, String)], json: String) -> AnyView {
    let row = |(name, value): &(String, String)| {
        view! {
            <div>
                <dt>{argument_title(name)}</dt>
                <dd dir="auto">{value.clone()}</dd>
            </div>
        }
        .erase()
    };
    view! {
        <div class="tool-text">
            <dl class="tool-fields">{fields.iter().map(row).collect::<Vec<_>>()}</dl>
            <CopyButton name=texts::COPY text=move || json.clone()/>
        </div>
    }
    .erase()
}

/// Returns the fields of an object that can be shown as rows. A long one is not, unless nothing may be left out.
pub fn fields(json: &str, is_whole: bool) -> Option<Vec<(String, String)>> {
    let object = json::parse::<json::RawJson>(json.as_bytes()).ok()?;
    let entries = object_entries(&object)?;
    let fits = is_whole || json.len() <= MAX_INITIAL_BYTES;
    (fits && !entries.is_empty()).then(|| {
        let field = |(name, value): (String, json::RawJson)| (name, value_text(&value));
        entries.into_iter().map(field).collect()
    })
}

/// Returns a list of objects as a Markdown table.
pub fn table_of_objects(json: &str) -> Option<String> {
    let items = json::parse::<Vec<json::RawJson>>(json.as_bytes()).ok()?;
    let rows = items.iter().map(object_entries).collect::<Option<Vec<_>>>()?;
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return None;
    }
    let value = |row: &[(String, json::RawJson)], column: &str| {
        let found = row.iter().find(|(name, _)| name == column);
        found.map(|(_, value)| value_text(value)).unwrap_or_default()
    };
    let is_number = |column: &&str| {
        let mut values = rows.iter().map(|row| value(row, column));
        values.all(|value| !value.is_empty() && value.bytes().all(|byte| b"0123456789+-.eE".contains(&byte)))
    };
    let mut table = String::new();
    push_row(&mut table, columns.iter().map(|column| escape(column)));
    let rule = |column: &&str| if is_number(column) { "---:" } else { "---" }.to_owned();
    push_row(&mut table, columns.iter().map(rule));
    for row in &rows {
        push_row(
            &mut table,
            columns.iter().map(|column| escape(&value(row, column))),
        );
    }
    Some(table)
}

fn push_row(table: &mut String, cells: impl Iterator<Item = String>) {
    table.push('|');
    for cell in cells {
        table.push(' ');
        table.push_str(&cell);
        table.push_str(" |");
    }
    table.push('\n');
}

/// Escapes a text for a cell, in which it is a text and nothing else.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii_punctuation() => escaped.extend(['\\', c]),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A string without its quotes, and any other value as JSON.
fn value_text(value: &json::RawJson) -> String {
    let text = json::parse::<String>(value.as_str().as_bytes());
    text.unwrap_or_else(|_| match value.as_str() {
        "null" => String::new(),
        other => other.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_names_with_plain_values() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            fields(
                r#"{"time_zone":"Asia/Tokyo","limit":3,"deep":{"a":[1]},"none":null}"#,
                false
            ),
            Some(vec![
                pair("time_zone", "Asia/Tokyo"),
                pair("limit", "3"),
                pair("deep", r#"{"a":[1]}"#),
                pair("none", ""),
            ])
        );
        for odd in ["{}", "[1]", "7", "no JSON", ""] {
            assert_eq!(fields(odd, false), None, "{odd}");
        }
        let long = format!(r#"{{"a":"{}"}}"#, "w".repeat(MAX_INITIAL_BYTES));
        assert_eq!(fields(&long, false), None);
        assert!(fields(&long, true).is_some(), "what is decided about is whole");
    }

    #[test]
    fn objects_of_a_list_are_rows() {
        assert_eq!(
            table_of_objects(r#"[{"name":"A|*b*","n":1},{"n":2.5,"more":"two\nlines"}]"#).as_deref(),
            Some(
                "| name | n | more |\n| --- | ---: | --- |\n| A\\|\\*b\\* | 1 |  |\n|  | 2\\.5 | two lines |\n"
            )
        );
        for other in ["[]", "[1,2]", r#"[{"a":1},2]"#, "[{}]", r#"{"a":1}"#, "text"] {
            assert_eq!(table_of_objects(other), None, "{other}");
        }
        let wide: Vec<String> = (0..=MAX_COLUMNS).map(|n| format!(r#""c{n}":1"#)).collect();
        assert_eq!(table_of_objects(&format!("[{{{}}}]", wide.join(","))), None);
    }
}
