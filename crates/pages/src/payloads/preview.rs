//! Previews: what an answer itself shows of a payload. A chart and a proposal for a draft are shown whole, of a table the first
//! rows, of a proposed version of a document the first changes.

use serde_json::Value;

use super::{PayloadViews, chart, document, table};
use parlor_protocol::{
    Payload,
    panel::{PREVIEW_LINES, PREVIEW_ROWS, PanelBody, PanelView},
};

impl PayloadViews {
    /// Returns the number of rows of a payload's preview; `None` if it has none.
    pub(super) fn preview_rows(&self, payload: &Payload) -> Option<usize> {
        let data: Value = serde_json::from_str(payload.data.as_str()).ok()?;
        match payload.kind.as_str() {
            "chart" => chart::read(&data).and_then(|body| count_rows(&body)),
            "table" => table::read(&data).and_then(|body| count_rows(&body)),
            "text_document" if self.is_proposal_data(&payload.kind, &data) => {
                document::read(&data).and_then(|body| count_rows(&body))
            }
            kind => self.read_proposal(kind, &data).and_then(|body| count_rows(&body)),
        }
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
            assert_eq!(
                PayloadViews::default().to_ref(&payload(kind, &data)).preview_rows,
                rows,
                "{kind} {data}"
            );
        }
    }

    #[test]
    fn preview_has_first_rows_and_last_changes() {
        let long = payload("table", &json!({"columns": ["a"], "rows": vec![[1]; 120]}));
        let PanelBody::Table(table) = to_preview(PayloadViews::default().view(&long)).body else {
            panic!("no table")
        };
        assert_eq!(table.rows.len(), PREVIEW_ROWS);
        let versions = json!([{"text": "a"}, {"text": "b"}, {"text": "c"}]);
        let document = payload("text_document", &json!({"of": "abc", "versions": versions}));
        let PanelBody::Document(document) = to_preview(PayloadViews::default().view(&document)).body else {
            panic!("no document")
        };
        let [version] = &document.versions[..] else {
            panic!("{document:?}")
        };
        let lines: Vec<&str> = version.changes.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((version.text.as_str(), lines), ("", vec!["b", "c"]));
    }
}
