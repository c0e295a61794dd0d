//! A payload made by a tool or the model for a panel, as it is stored.

use serde_json::Value;

use super::NewPayload;
use parlor_base::text;
use parlor_protocol::{Payload, RawJson};

/// Maximum length of a summary, in characters.
const MAX_SUMMARY_CHARS: usize = 80;
/// The field with the id of the payload that the model wanted to make a new version of, if that id
/// is unknown.
pub const UNKNOWN_VERSION_FIELD: &str = "no_version_of";

/// The length of an id in letters and digits: short enough for a model to repeat, long enough to be
/// unique.
const ID_CHARS: usize = 8;

impl NewPayload {
    /// Gives the payload an id and a summary, if its data have at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// The message for the model: the user does not see payloads that are too large.
    pub fn into_payload(self, limit: usize) -> Result<Payload, String> {
        let payload = self.with_new_id();
        let length = payload.data.as_str().len();
        if length > limit {
            return Err(format!(
                "What was made for the panel has {length} bytes and was not kept: at most {limit} are allowed (setting \
                 limits.payload_bytes). The person does not see it. Ask for less."
            ));
        }
        Ok(payload)
    }

    fn with_new_id(self) -> Payload {
        let summary = summary(&self.kind, &self.data);
        let id = std::iter::repeat_with(|| fastrand::alphanumeric().to_ascii_lowercase());
        Payload {
            payload_id: id.take(ID_CHARS).collect(),
            kind: self.kind,
            summary,
            data: RawJson::parse_or_quote(&self.data.to_string()),
        }
    }
}

/// Returns a summary such as "PubMed search results: CRISPR (15)": the type, the subject, and the
/// number of items, as far as the data have them.
fn summary(kind: &str, data: &Value) -> String {
    let mut words = kind
        .replace('_', " ")
        .replace("pubmed", "PubMed")
        .replace("ai ", "AI ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let about = ["title", "query", "name", "label", "url"]
        .into_iter()
        .find_map(|field| data.get(field)?.as_str());
    let line = match about {
        Some(about) => format!("{words}: {about}"),
        None => words,
    };
    let mut line = text::single_line(&line, MAX_SUMMARY_CHARS);
    // A table is as long as it has rows, also if it has more columns.
    let fields = data.as_object().into_iter().flat_map(|object| object.values());
    let longest = || fields.filter_map(|field| field.as_array().map(Vec::len)).max();
    let rows = data.get("rows").and_then(Value::as_array).map(Vec::len);
    let stored = data.pointer("/stored/rows").and_then(Value::as_u64);
    let stored = stored.and_then(|count| usize::try_from(count).ok());
    if let Some(count) = stored.or(rows).or_else(longest) {
        line.push_str(&format!(" ({count})"));
    }
    if let Some(id) = data.get(UNKNOWN_VERSION_FIELD).and_then(Value::as_str) {
        line.push_str(&format!(
            " (a new one, no version of {})",
            text::plain_line(id, 2 * ID_CHARS)
        ));
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn summary_names_type_and_subject() {
        let cases = [
            (
                "pubmed_search_results",
                json!({"query": "CRISPR", "articles": [1, 2]}),
                "PubMed search results: CRISPR (2)",
            ),
            ("table", json!({"rows": []}), "Table (0)"),
            ("table", json!({"columns": [1], "rows": [2, 3]}), "Table (2)"),
            ("table", json!({"columns": [1, 2], "rows": [3]}), "Table (1)"),
            (
                "table",
                json!({"rows": [1], "stored": {"rows": 5000}}),
                "Table (5000)",
            ),
            ("text_document", json!("x"), "Text document"),
            ("été", json!(null), "été"),
            ("", json!({"title": " a\n b "}), ": a b"),
            (
                "text_document",
                json!({"title": "T", "no_version_of": "a\nb <!-- METADATA and more"}),
                "Text document: T (a new one, no version of a b <!-- METADAT…)",
            ),
        ];
        for (kind, data, line) in cases {
            assert_eq!(summary(kind, &data), line);
        }
        let long = summary("table", &json!({"title": "é".repeat(1000)}));
        assert_eq!(long.chars().count(), MAX_SUMMARY_CHARS + 1);
    }

    #[test]
    fn rejects_oversized_payloads() {
        let made = NewPayload {
            kind: "table".into(),
            data: json!("12345678"),
        };
        assert!(made.clone().into_payload(10).is_ok());
        let too_large = made.into_payload(9).unwrap_err();
        assert!(
            too_large.contains("has 10 bytes and was not kept: at most 9 are allowed"),
            "{too_large}"
        );
    }

    #[test]
    fn ids_are_short_and_unique() {
        let named = || {
            NewPayload {
                kind: "table".into(),
                data: json!({}),
            }
            .with_new_id()
            .payload_id
        };
        let (one, other) = (named(), named());
        assert_eq!(one.len(), ID_CHARS);
        assert_ne!(one, other);
    }
}
