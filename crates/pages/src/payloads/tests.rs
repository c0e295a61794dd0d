use serde_json::json;

use super::*;
use parlor_protocol::{RawJson, json};

fn view_of(kind: &str, data: &Value) -> PanelView {
    PayloadViews::built_in().view(&Payload {
        payload_id: "abc12345".into(),
        kind: kind.into(),
        summary: "A line".into(),
        data: RawJson::parse_or_quote(&data.to_string()),
    })
}

/// Returns data that fit each type.
fn sample_payloads() -> [(&'static str, Value); 11] {
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
        (
            "stream_suggestions",
            json!({"name": "Tides", "base": {"name": ""}}),
        ),
        (
            "schema_proposal",
            json!({"fields": [{"name": "n", "question": "How many?", "type": "number"}]}),
        ),
        (
            "ai_column_suggestion",
            json!({"name": "n", "question": "How many?"}),
        ),
        ("presentation_categories", json!({"remove": ["Other"]})),
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
        assert_eq!(view.is_proposal, PayloadViews::built_in().is_proposal(&payload));
        view.is_proposal
    };
    for (kind, data) in sample_payloads() {
        let is_for_draft = matches!(view_of(kind, &data).body, PanelBody::Proposal(_));
        assert_eq!(is_proposal(kind, data), is_for_draft, "{kind}");
        let is_named_so =
            kind.contains("suggestion") || kind.contains("proposal") || kind.contains("categories");
        assert_eq!(is_for_draft, is_named_so, "{kind}");
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
    let view = PayloadViews::default().view(&Payload {
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
