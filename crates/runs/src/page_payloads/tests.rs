use serde_json::json;

use super::*;
use parlor_model::ToolPlan;
use parlor_pages::payload_config::proposal;
use parlor_pages::{literature::QUERY_SUGGESTION, payload_config::COMMON_PAYLOADS};
use parlor_protocol::literature::StreamSuggestions;
use parlor_protocol::{CitedSource, MessageBody, MessageId, Node, Timestamp};

fn page_payloads(limit: usize) -> PagePayloads {
    PagePayloads::new(
        COMMON_PAYLOADS.to_vec(),
        COMMON_PAYLOADS.to_vec(),
        limit,
        Vec::new(),
        Arc::new([]),
    )
}

fn data(payload: &Payload) -> Value {
    serde_json::from_str(payload.data.as_str()).unwrap()
}

#[test]
fn new_version_includes_earlier_versions() {
    let page_payloads = page_payloads(1000);
    let first = page_payloads
        .create_payload("text_document", json!({"title": "T", "text": "a"}))
        .unwrap();
    let written = json!({"id": first.payload_id, "text": "b"});
    let second = page_payloads.create_payload("text_document", written).unwrap();
    assert_ne!(first.payload_id, second.payload_id);
    assert_eq!(data(&first), json!({"title": "T", "text": "a"}));
    let expected = json!({"title": "T", "of": first.payload_id, "versions": [{"text": "a"}, {"text": "b"}]});
    assert_eq!(data(&second), expected);
    let again = format!(
        r#"DOCUMENT: {{"id":"{}","text":"b","title":"T"}}"#,
        first.payload_id
    );
    assert_eq!(page_payloads.source_text(&second.payload_id), Some(again));
}

#[test]
fn finds_payloads_of_another_page() {
    let data = json!({"query": "asthma[mesh]"});
    let proposal = NewPayload {
        kind: "query_suggestion".into(),
        data,
    };
    let proposal = proposal.into_payload(1000).unwrap();
    let id = proposal.payload_id.clone();
    let page_payloads = PagePayloads::new(
        COMMON_PAYLOADS.to_vec(),
        vec![&QUERY_SUGGESTION],
        1000,
        vec![proposal],
        [].into(),
    );
    assert_eq!(
        page_payloads.source_text(&id).as_deref(),
        Some(r#"QUERY_SUGGESTION: {"query":"asthma[mesh]"}"#)
    );
}

#[test]
fn version_of_another_type_is_a_new_document() {
    let page_payloads = page_payloads(1000);
    let table = page_payloads
        .create_payload("table", json!({"columns": ["a"], "rows": []}))
        .unwrap();
    for id in ["unknown1", &table.payload_id] {
        let written = json!({"id": id, "text": "b"});
        let made = page_payloads.create_payload("text_document", written).unwrap();
        assert_eq!(data(&made), json!({"text": "b"}));
    }
}

#[test]
fn oversized_versions_stay_separate() {
    let page_payloads = page_payloads(50);
    let text = "x".repeat(30);
    let first = page_payloads
        .create_payload("text_document", json!({ "text": text }))
        .unwrap();
    let written = json!({"id": first.payload_id, "text": text});
    let second = page_payloads.create_payload("text_document", written).unwrap();
    assert_eq!(data(&second), json!({ "text": text }));
    assert!(
        page_payloads
            .create_payload("text_document", json!({"text": "x".repeat(60)}))
            .is_err()
    );
}

/// A toolbox in which one tool finds sources.
#[derive(Debug)]
struct OnlySearch;

impl Toolbox for OnlySearch {
    fn plan(&self, tool: &str, _: &str) -> Result<ToolPlan, String> {
        Err(format!("There is no tool {tool}."))
    }

    fn finds_sources(&self, tool: &str) -> bool {
        tool == "web_search"
    }
}

#[test]
fn accepts_urls_of_earlier_turns() {
    let call = |tool: &str, output: &str| {
        Part::ToolCall(Box::new(ToolCall {
            output: Some(output.into()),
            ..ToolCall::for_test(tool, ToolStatus::Complete)
        }))
    };
    let mut answer = AssistantMessage::new("x/m");
    answer.nodes.push(Node {
        parts: vec![
            call("web_search", "See https://found.example/page."),
            call("jupyter_notebook", "https://printed.example/"),
        ],
    });
    answer.sources.push(CitedSource {
        number: 1,
        title: String::new(),
        url: "https://cited.example".into(),
        passage: None,
    });
    let message = Message {
        id: MessageId::new(),
        parent_id: None,
        created_at: Timestamp(0),
        body: MessageBody::Assistant(answer),
    };
    let page_payloads = PagePayloads::new(Vec::new(), Vec::new(), 0, Vec::new(), Arc::new([message]));
    for (url, given) in [
        ("https://found.example/page", true),
        ("https://cited.example", true),
        ("https://found.example", false),
        // Code prints whatever the model wants.
        ("https://printed.example/", false),
    ] {
        assert_eq!(page_payloads.is_known_url(url, &OnlySearch), given, "{url}");
    }
}

#[test]
fn proposal_has_the_texts_on_the_screen() {
    const PROPOSAL: PayloadConfig = proposal::<StreamSuggestions>();
    let context: PageContext = serde_json::from_str(
        r#"{"current_page": "edit_stream", "draft": {"stream": {"name": "Tides", "query": "tides"}}}"#,
    )
    .unwrap();
    let page_payloads = PagePayloads::new(vec![&PROPOSAL], Vec::new(), 1000, Vec::new(), [].into());
    let written = json!({"query": "tides[ti]", "purpose": "P", "base": {"query": "forged"}});
    let without_draft = page_payloads.create_payload("stream_suggestions", written.clone());
    assert_eq!(
        data(&without_draft.unwrap()),
        json!({"query": "tides[ti]", "purpose": "P"})
    );
    let page_payloads = page_payloads.with_drafts(Some(&context));
    let made = page_payloads.create_payload(
        "stream_suggestions",
        json!({"query": "tides[ti]", "purpose": "P"}),
    );
    assert_eq!(
        data(&made.unwrap()),
        json!({"query": "tides[ti]", "purpose": "P", "base": {"query": "tides", "purpose": ""}})
    );
}
