//! Views of payloads: converts the data of a tool or a model to a form that the panel can draw.
//!
//! Each type has one function, in one file. It accepts data that fit the type and limits their size. Other
//! data and unknown types are shown as a [`tree`]. Nothing is stored or drawn here.

mod articles;
mod chart;
mod document;
mod file;
mod formatting;
mod links;
mod query;
mod search_results;
mod table;
mod tree;

use serde_json::Value;

pub use self::file::{PayloadFile, to_file};
use crate::protocol::{
    Payload,
    panel::{PanelBody, PanelView},
};

/// Reads data of a type; `None` if they do not fit.
type ReadPayload = fn(&Value) -> Option<PanelBody>;

/// The known types.
const PAYLOAD_TYPES: [(&str, ReadPayload); 7] = [
    ("chart", chart::read),
    ("pubmed_article", articles::read_article),
    ("pubmed_search_results", articles::read_list),
    ("query_suggestion", query::read),
    ("table", table::read),
    ("text_document", document::read),
    ("web_search_results", search_results::read),
];

/// Returns true if data can be shown as a type.
pub fn is_valid(kind: &str, data: &Value) -> bool {
    let known = PAYLOAD_TYPES.iter().find(|(known, _)| *known == kind);
    let body = known.and_then(|(_, read)| read(data));
    body.is_some_and(|body| !matches!(body, PanelBody::Tree(_)))
}

/// Returns true if the user can accept or reject a payload.
pub fn is_proposal(payload: &Payload) -> bool {
    let data: Value = serde_json::from_str(payload.data.as_str()).unwrap_or_default();
    is_proposal_data(&payload.kind, &data)
}

fn is_proposal_data(kind: &str, data: &Value) -> bool {
    match kind {
        "query_suggestion" => query::read(data).is_some(),
        // A new version of another document.
        "text_document" => data["of"].is_string() && document::read(data).is_some(),
        _ => false,
    }
}

/// Returns the view of a payload. A comparison of long texts may take a second.
pub fn view(payload: &Payload) -> PanelView {
    let data = payload.data.as_str();
    // Data that are nested too deeply for the parser are shown as text.
    let data: Value = serde_json::from_str(data).unwrap_or_else(|_| data.into());
    let known = PAYLOAD_TYPES.iter().find(|(kind, _)| *kind == payload.kind);
    PanelView {
        summary: payload.summary.clone(),
        is_proposal: is_proposal_data(&payload.kind, &data),
        obstacle: None,
        body: known
            .and_then(|(_, read)| read(&data))
            .unwrap_or_else(|| PanelBody::Tree(tree::build(&data))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{RawJson, json};

    fn view_of(kind: &str, data: &Value) -> PanelView {
        view(&Payload {
            payload_id: "abc12345".into(),
            kind: kind.into(),
            summary: "A line".into(),
            data: RawJson::parse_or_quote(&data.to_string()),
        })
    }

    /// Returns data that fit each type.
    fn sample_payloads() -> [(&'static str, Value); 7] {
        [
            ("pubmed_article", json!({"title": "T"})),
            (
                "pubmed_search_results",
                json!({"query": "q", "articles": [{"title": "T"}]}),
            ),
            (
                "chart",
                json!({"kind": "bar", "x": ["a"], "series": [{"name": "s", "values": [1.5]}]}),
            ),
            ("query_suggestion", json!({"query": "asthma[mesh]"})),
            ("table", json!({"columns": ["a"], "rows": [[1]]})),
            (
                "text_document",
                json!({"versions": [{"text": "a"}, {"text": "b"}]}),
            ),
            (
                "web_search_results",
                json!({"query": "q", "results": [{"title": "T", "url": "https://a.b/"}]}),
            ),
        ]
    }

    #[test]
    fn valid_data_round_trips_to_the_page() {
        for (kind, data) in sample_payloads() {
            let view = view_of(kind, &data);
            assert!(!matches!(view.body, PanelBody::Tree(_)), "{kind}");
            let sent = serde_json::to_vec(&view).unwrap();
            assert_eq!(json::parse(&sent), Ok(view), "{kind}");
        }
    }

    #[test]
    fn mismatched_and_unknown_data_become_trees() {
        let odd = [
            json!(null),
            json!(1.5),
            json!("text"),
            json!([]),
            json!({}),
            json!([[[1]]]),
            json!({"articles": {}, "results": 1, "rows": "x", "series": null, "versions": [], "query": []}),
            json!({"title": ["x"], "query": "", "text": 1, "columns": {}, "rows": [1], "x": [], "series": []}),
        ];
        let kinds = PAYLOAD_TYPES.map(|(kind, _)| kind);
        for data in &odd {
            for kind in kinds.iter().chain(&["unheard_of", ""]) {
                let view = view_of(kind, data);
                assert!(matches!(view.body, PanelBody::Tree(_)), "{kind} {data}");
                let sent = serde_json::to_vec(&view).unwrap();
                assert_eq!(json::parse(&sent), Ok(view), "{kind} {data}");
            }
        }
    }

    #[test]
    fn queries_and_document_versions_are_proposals() {
        let is_proposal = |kind: &str, data: Value| {
            let view = view_of(kind, &data);
            let payload = Payload {
                payload_id: "abc12345".into(),
                kind: kind.into(),
                summary: String::new(),
                data: RawJson::parse_or_quote(&data.to_string()),
            };
            assert_eq!(view.is_proposal, super::is_proposal(&payload));
            view.is_proposal
        };
        for (kind, data) in sample_payloads() {
            assert_eq!(is_proposal(kind, data), kind == "query_suggestion", "{kind}");
        }
        let version = json!({"of": "abc12345", "versions": [{"text": "a"}, {"text": "b"}]});
        assert!(is_proposal("text_document", version.clone()));
        assert!(!is_proposal("table", version));
        assert!(!is_proposal("query_suggestion", json!({"of": "abc12345"})));
    }

    #[test]
    fn data_of_other_types_is_harmless() {
        for (_, data) in sample_payloads() {
            for (kind, _) in PAYLOAD_TYPES {
                view_of(kind, &data);
            }
        }
    }

    #[test]
    fn deeply_nested_data_becomes_text() {
        let data = ["[".repeat(10_000), "]".repeat(10_000)].concat();
        let view = view(&Payload {
            payload_id: "abc12345".into(),
            kind: "table".into(),
            summary: String::new(),
            data: RawJson::parse_or_quote(&data),
        });
        assert!(matches!(view.body, PanelBody::Tree(_)));
    }

    #[test]
    fn views_of_large_data_stay_bounded() {
        let many = 80_000;
        let hostile = [
            (
                "pubmed_search_results",
                json!({"query": "", "articles": vec![json!({"title": ""}); many]}),
            ),
            (
                "web_search_results",
                json!({"query": "", "results": vec![json!({"title": "", "url": ""}); many / 2]}),
            ),
            (
                "table",
                json!({"columns": vec![""; 10_000], "rows": vec![json!([]); many]}),
            ),
            ("table", json!({"rows": vec![json!({"a": 1}); many]})),
            (
                "chart",
                json!({"kind": "line", "x": vec!["x"; many], "series": [{"name": "", "values": vec![1; many]}]}),
            ),
            (
                "text_document",
                json!({"versions": vec![json!({"text": ""}); many]}),
            ),
            ("other", json!(vec![json!([[[[[]]]]]); many])),
            ("other", json!("é".repeat(500_000))),
        ];
        for (kind, data) in hostile {
            let sent = serde_json::to_vec(&view_of(kind, &data)).unwrap();
            assert!(sent.len() < 2 << 20, "{kind}: {}", sent.len());
        }
    }
}
