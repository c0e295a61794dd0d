//! Payloads as files in common formats: a document as Markdown, a table and a chart's numbers as CSV, and
//! everything else as JSON.

use serde_json::Value;

use super::{chart, document, table};
use parlor_protocol::{Payload, json};

/// The maximum length of a file name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// A file for download.
#[derive(Debug, PartialEq, Eq)]
pub struct PayloadFile {
    pub name: String,
    pub media_type: &'static str,
    pub content: String,
}

/// Converts a whole payload to a file, including the data that the panel omits.
pub fn to_file(payload: &Payload) -> PayloadFile {
    let raw = payload.data.as_str();
    let data: Value = serde_json::from_str(raw).unwrap_or_default();
    let known = match payload.kind.as_str() {
        "text_document" => {
            document::latest_text(&data).map(|text| ("md", "text/markdown; charset=utf-8", text))
        }
        "table" => table::rows(&data).map(|rows| ("csv", CSV_MEDIA_TYPE, to_csv(&rows))),
        "chart" => chart::rows(&data).map(|rows| ("csv", CSV_MEDIA_TYPE, to_csv(&rows))),
        _ => None,
    };
    let (extension, media_type, content) =
        known.unwrap_or_else(|| ("json", "application/json", json::pretty_print(raw)));
    PayloadFile {
        name: titled_name(data["title"].as_str().unwrap_or_default(), payload, extension),
        media_type,
        content,
    }
}

/// The media type of CSV files.
pub const CSV_MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// Returns the name of the file of a payload: its title, or its id.
pub fn titled_name(title: &str, payload: &Payload, extension: &str) -> String {
    let title = file_name(title);
    let title = match title.is_empty() {
        true => &payload.payload_id,
        false => &title,
    };
    format!("{title}.{extension}")
}

/// Returns a file name that is valid on all systems.
pub fn file_name(title: &str) -> String {
    let letters = |c: char| {
        if c.is_alphanumeric() || "-_,()".contains(c) {
            c
        } else {
            ' '
        }
    };
    let words: String = title.chars().map(letters).collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    let name: String = words.join(" ").chars().take(MAX_NAME_CHARS).collect();
    name.trim().to_owned()
}

/// The first characters of a formula, including full-width ones.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns rows as CSV (RFC 4180). The first row has the names of the columns. The byte order mark tells
/// Excel that the file is UTF-8.
fn to_csv(rows: &[Vec<Value>]) -> String {
    CSV_START.to_owned() + &csv_lines(rows)
}

/// The beginning of a CSV file: a byte order mark.
pub const CSV_START: &str = "\u{feff}";

/// Returns rows as lines of a CSV file.
pub fn csv_lines(rows: &[Vec<Value>]) -> String {
    let mut csv = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().map(csv_cell).collect();
        csv.push_str(&cells.join(","));
        csv.push_str("\r\n");
    }
    csv
}

fn csv_cell(value: &Value) -> String {
    let mut text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // A spreadsheet would evaluate such a text as a formula, and the text comes from outside
    // (https://owasp.org/www-community/attacks/CSV_Injection). Numbers are not changed.
    if value.is_string() && text.starts_with(FORMULA_STARTS) && text.parse::<f64>().is_err() {
        text.insert(0, '\'');
    }
    // Some spreadsheets also split cells at a semicolon or a tab.
    if text.contains(['"', ',', ';', '\t', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use parlor_protocol::RawJson;

    fn file_of(kind: &str, data: &Value) -> PayloadFile {
        to_file(&Payload {
            payload_id: "abc12345".into(),
            kind: kind.into(),
            summary: String::new(),
            data: RawJson::parse_or_quote(&data.to_string()),
        })
    }

    #[test]
    fn document_file_is_its_newest_text() {
        let file = file_of(
            "text_document",
            &json!({"title": "Brief / an \"Ann\"", "versions": [{"text": "a"}, {"text": "# b\n"}]}),
        );
        assert_eq!((&*file.name, &*file.content), ("Brief an Ann.md", "# b\n"));
        assert_eq!(
            file_of("text_document", &json!({"text": "a"})).name,
            "abc12345.md"
        );
    }

    #[test]
    fn table_file_has_all_rows() {
        let table = json!({"columns": ["Name", "Told, \"so\""], "rows": [["=HYPERLINK(1)", "-1.5"], [null, -2.5], ["a\nb", {"c": [1]}, true]]});
        let expected = "\u{feff}Name,\"Told, \"\"so\"\"\",\r\n'=HYPERLINK(1),-1.5,\r\n,-2.5,\r\n\"a\nb\",\"{\"\"c\"\":[1]}\",true\r\n";
        assert_eq!(file_of("table", &table).content, expected);
        let cells = json!({"columns": ["", "-", "；"], "rows": [["a;=B1", "＝B1", "\n=B1"]]});
        assert_eq!(
            file_of("table", &cells).content,
            "\u{feff},'-,；\r\n\"a;=B1\",'＝B1,\"'\n=B1\"\r\n"
        );
        let many = json!({"rows": vec![json!({"a": 1}); 30_000]});
        assert_eq!(file_of("table", &many).content.lines().count(), 30_001);
    }

    #[test]
    fn huge_sparse_table_becomes_json() {
        let mut rows = vec![json!([]); 10_000];
        rows.push(vec![1; 16_000].into());
        let sparse: Vec<_> = (0..2000).map(|n| json!({ format!("c{n}"): n })).collect();
        for table in [json!({"columns": ["a"], "rows": rows}), json!({ "rows": sparse })] {
            let file = file_of("table", &table);
            assert_eq!(file.media_type, "application/json");
            assert!(file.content.len() < 1 << 20);
        }
    }

    #[test]
    fn chart_file_lists_its_numbers() {
        let chart = json!({"kind": "bar", "x": ["2024", "2025"], "series": [{"name": "A", "values": [1.5, null]}, {"name": "B", "values": [2]}]});
        assert_eq!(
            file_of("chart", &chart).content,
            "\u{feff},A,B\r\n2024,1.5,2\r\n2025,,\r\n"
        );
    }

    #[test]
    fn other_payloads_become_json() {
        for (kind, data) in [
            ("table", json!({"rows": 1})),
            ("pubmed_article", json!({"title": "T"})),
            ("chart", json!(null)),
        ] {
            let file = file_of(kind, &data);
            assert_eq!(
                (file.media_type, file.content),
                ("application/json", json::pretty_print(&data.to_string())),
                "{kind}"
            );
        }
    }
}
