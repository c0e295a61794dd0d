//! The literature's drafts stand for all.

use super::*;
use crate::literature::{SchemaField, SchemaFieldType, SchemaProposal, StreamDraft, StreamSuggestions};

fn changes<P: Proposal>(json: &str) -> Result<ProposedChanges, String> {
    let proposal: P = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let changes = proposal.into_changes();
    changes.check().map(|()| changes)
}

#[test]
fn accepted_fields_change_the_draft() {
    let mut draft = StreamDraft {
        name: "Tides".into(),
        query: "tides[ti]".into(),
        ..StreamDraft::default()
    };
    let proposed = changes::<StreamSuggestions>(
        r#"{"query": " tide*[ti] ", "purpose": "Coasts", "explanation": "Wider."}"#,
    )
    .unwrap();
    let names: Vec<&str> = proposed.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["purpose", "query"]);
    assert_eq!(proposed.explanation.as_deref(), Some("Wider."));
    assert!(draft.apply(&proposed.fields[1]));
    assert_eq!(draft.text("query").as_deref(), Some("tide*[ti]"));
    assert_eq!((draft.name.as_str(), draft.purpose.as_str()), ("Tides", ""));
    assert_eq!(draft.text("colour"), None);
}

#[test]
fn accepted_items_change_the_list() {
    let field = |name: &str, question: &str| SchemaField {
        name: name.into(),
        question: question.into(),
        kind: SchemaFieldType::Number,
    };
    let mut schema = DraftList(vec![field("dose", "How much?"), field("age", "How old?")]);
    let proposed = changes::<SchemaProposal>(
        r#"{"fields": [{"name": "dose", "question": "How much a day?", "type": "number"},
            {"name": "n", "question": "How many?", "type": "number"}], "remove": ["age"]}"#,
    )
    .unwrap();
    assert_eq!(schema.text("dose").as_deref(), Some("How much? (number)"));
    assert!(proposed.fields.iter().all(|change| schema.apply(change)));
    assert_eq!(
        schema.0,
        [field("dose", "How much a day?"), field("n", "How many?")]
    );
}

#[test]
fn invalid_proposals_are_explained() {
    let long = format!(r#"{{"name": "{}"}}"#, "x".repeat(1 << 20));
    for (json, reason) in [
        (r#"{"colour": "red"}"#, "unknown field `colour`"),
        (r#"{"name": 1}"#, "expected a string"),
        (r#"{"explanation": "Why"}"#, "it proposes nothing"),
        (&long, "`name` is too long; at most 20000 bytes are allowed"),
    ] {
        let error = changes::<StreamSuggestions>(json).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let twice = r#"{"fields": [{"name": "n", "question": "?", "type": "text"}], "remove": ["n"]}"#;
    assert_eq!(changes::<SchemaProposal>(twice), Err("`n` is there twice".into()));
    let kind = r#"{"fields": [{"name": "n", "question": "?", "type": "colour"}]}"#;
    let error = changes::<SchemaProposal>(kind).unwrap_err();
    assert!(error.contains("unknown variant `colour`"), "{error}");
}

#[test]
fn examples_follow_their_types() {
    use crate::literature::{AiColumnSuggestion, PresentationCategories, QueryProposal};
    fn example<P: Proposal>() {
        let kind = P::KIND;
        assert!(
            changes::<P>(kind.example).is_ok(),
            "{}: {:?}",
            kind.marker,
            changes::<P>(kind.example)
        );
    }
    example::<StreamSuggestions>();
    example::<SchemaProposal>();
    example::<PresentationCategories>();
    example::<AiColumnSuggestion>();
    example::<QueryProposal>();
}
