//! Previews: what an answer itself shows of a payload. A chart and a proposal for a draft are shown whole, of a table the first
//! rows, of a proposed version of a document the first changes.

use serde_json::Value;

use super::{chart, document, is_proposal_data, proposals, table};
use parlor_protocol::{
    Payload, PayloadRef,
    panel::{PREVIEW_LINES, PREVIEW_ROWS, PanelBody, PanelView},
};

/// Returns the reference to a new payload, with the size of its preview.
pub fn to_ref(payload: &Payload) -> PayloadRef {
    PayloadRef {
        preview_rows: preview_rows(payload),
        ..payload.to_ref()
    }
}

fn preview_rows(payload: &Payload) -> Option<usize> {
    let data: Value = serde_json::from_str(payload.data.as_str()).ok()?;
    match payload.kind.as_str() {
        "chart" => chart::read(&data).and_then(|body| count_rows(&body)),
        "table" => table::read(&data).and_then(|body| count_rows(&body)),
        "text_document" if is_proposal_data(&payload.kind, &data) => {
            document::read(&data).and_then(|body| count_rows(&body))
        }
        kind => proposals::read(kind, &data).and_then(|body| count_rows(&body)),
    }
}

fn count_rows(body: &PanelBody) -> Option<usize> {
    let rows = match body {
        PanelBody::Chart(_) => return Some(0),
        PanelBody::Table(table) => {
            let stored = table.stored_rows.and_then(|count| usize::try_from(count).ok());
            stored.unwrap_or(table.rows.len())
        }
        PanelBody::Document(document) => document.versions.last()?.changes.len(),
        PanelBody::Proposal(proposal) => proposal.fields.len(),
        _ => return None,
    };
    (rows > 0).then_some(rows)
}

/// Shortens a view to its preview.
pub fn to_preview(mut view: PanelView) -> PanelView {
    match &mut view.body {
        PanelBody::Table(table) => table.rows.truncate(PREVIEW_ROWS),
        PanelBody::Document(document) => {
            let last = document.versions.pop();
            document.versions = last
                .into_iter()
                .map(|mut version| {
                    version.text.clear();
                    version.changes.truncate(PREVIEW_LINES);
                    version
                })
                .collect();
        }
        _ => {}
    }
    view
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::payloads::view;
    use parlor_protocol::RawJson;

    fn payload(kind: &str, data: &Value) -> Payload {
        Payload {
            payload_id: "abc12345".into(),
            kind: kind.into(),
            summary: String::new(),
            data: RawJson::parse_or_quote(&data.to_string()),
        }
    }

    #[test]
    fn previews_state_their_size() {
        let versions = json!([{"text": "a\nb\nc"}, {"text": "a\nB\nc"}]);
        for (kind, data, rows) in [
            (
                "table",
                json!({"columns": ["a"], "rows": vec![[1]; 120]}),
                Some(120),
            ),
            ("table", json!({"columns": ["a"], "rows": []}), None),
            (
                "table",
                json!({"columns": ["a"], "rows": [[1]], "stored": {"file": "x", "rows": 7}}),
                Some(7),
            ),
            (
                "chart",
                json!({"kind": "bar", "x": ["a"], "series": [{"values": [1]}]}),
                Some(0),
            ),
            // Shown as a table.
            (
                "chart",
                json!({"kind": "bar", "x": ["a"], "series": vec![json!({"values": [1]}); 7]}),
                Some(1),
            ),
            ("text_document", json!({"text": "a"}), None),
            ("text_document", json!({"versions": versions}), None),
            (
                "text_document",
                json!({"of": "abc", "versions": versions}),
                Some(4),
            ),
            ("table", json!(1), None),
            ("other", json!({}), None),
        ] {
            assert_eq!(to_ref(&payload(kind, &data)).preview_rows, rows, "{kind} {data}");
        }
    }

    #[test]
    fn preview_has_first_rows_and_last_changes() {
        let long = payload("table", &json!({"columns": ["a"], "rows": vec![[1]; 120]}));
        let PanelBody::Table(table) = to_preview(view(&long)).body else {
            panic!("no table")
        };
        assert_eq!(table.rows.len(), PREVIEW_ROWS);
        let versions = json!([{"text": "a"}, {"text": "b"}, {"text": "c"}]);
        let document = payload("text_document", &json!({"of": "abc", "versions": versions}));
        let PanelBody::Document(document) = to_preview(view(&document)).body else {
            panic!("no document")
        };
        let [version] = &document.versions[..] else {
            panic!("{document:?}")
        };
        let lines: Vec<&str> = version.changes.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((version.text.as_str(), lines), ("", vec!["b", "c"]));
    }
}
