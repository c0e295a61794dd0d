//! What the assistant may propose for a stream, besides its texts: its schema, its categories, and a query alone.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Categories, Category, Schema, SchemaField, SchemaFieldType, StreamDraft};
use crate::draft::{FieldChange, ListProposal, Proposal, ProposalKind, ProposedChanges};

/// Changes of the schema: what to read out of each article.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemaProposal {
    /// Fields to add, or to change by their names.
    #[serde(default)]
    fields: Vec<SchemaField>,
    /// Names of fields to remove.
    #[serde(default)]
    remove: Vec<String>,
    /// Why, in a sentence or two, as Markdown.
    explanation: Option<String>,
}

impl Proposal for SchemaProposal {
    type Draft = Schema;

    const KIND: ProposalKind = ProposalKind {
        payload_type: "schema_proposal",
        marker: "SCHEMA_PROPOSAL:",
        title: "Proposed schema",
        about: "What to read out of each article of the open stream (type: text, number, yes_no, date or list)",
        example: r#"{"fields": [{"name": "sample_size", "question": "How many people took part?", "type": "number"}], "remove": ["country"], "explanation": "Only what the trials report."}"#,
        progress_text: "Writing a schema...",
    };

    fn into_changes(self) -> ProposedChanges {
        ListProposal {
            items: self.fields,
            remove: self.remove,
            explanation: self.explanation,
        }
        .into_changes()
    }
}

/// One more field of the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AiColumnSuggestion {
    /// A short name, by which it is known.
    name: String,
    /// The question that each article answers.
    question: String,
    #[serde(rename = "type", default)]
    kind: SchemaFieldType,
    /// Why, in a sentence or two, as Markdown.
    explanation: Option<String>,
}

impl Proposal for AiColumnSuggestion {
    type Draft = Schema;

    const KIND: ProposalKind = ProposalKind {
        payload_type: "ai_column_suggestion",
        marker: "AI_COLUMN_SUGGESTION:",
        title: "Suggested column",
        about: "One more field of the schema",
        example: r#"{"name": "blinded", "question": "Was the trial blinded?", "type": "yes_no", "explanation": "It says how sound it is."}"#,
        progress_text: "Writing a column...",
    };

    fn into_changes(self) -> ProposedChanges {
        ListProposal {
            items: vec![SchemaField {
                name: self.name,
                question: self.question,
                kind: self.kind,
            }],
            remove: Vec::new(),
            explanation: self.explanation,
        }
        .into_changes()
    }
}

/// Changes of the groups in which articles are presented.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresentationCategories {
    /// Categories to add, or to change by their names.
    #[serde(default)]
    categories: Vec<Category>,
    /// Names of categories to remove.
    #[serde(default)]
    remove: Vec<String>,
    /// Why, in a sentence or two, as Markdown.
    explanation: Option<String>,
}

impl Proposal for PresentationCategories {
    type Draft = Categories;

    const KIND: ProposalKind = ProposalKind {
        payload_type: "presentation_categories",
        marker: "PRESENTATION_CATEGORIES:",
        title: "Proposed categories",
        about: "The groups in which the articles of the open stream are presented",
        example: r#"{"categories": [{"name": "Trials", "description": "Randomised trials."}], "remove": ["Other"], "explanation": "By kind of study."}"#,
        progress_text: "Writing categories...",
    };

    fn into_changes(self) -> ProposedChanges {
        ListProposal {
            items: self.categories,
            remove: self.remove,
            explanation: self.explanation,
        }
        .into_changes()
    }
}

/// A query for PubMed.
#[derive(Deserialize, JsonSchema)]
pub struct QueryProposal {
    /// As it is typed into the search.
    query: String,
    /// Why it is better, in a sentence or two, as Markdown.
    explanation: Option<String>,
}

impl Proposal for QueryProposal {
    type Draft = StreamDraft;

    const KIND: ProposalKind = ProposalKind {
        payload_type: "query_suggestion",
        marker: "QUERY_SUGGESTION:",
        title: "Suggested query",
        about: "A query for the search of this page",
        example: r#"{"query": "asthma[mesh] AND 2024[pdat]", "explanation": "Only articles of this year."}"#,
        progress_text: "Writing a query...",
    };

    fn into_changes(self) -> ProposedChanges {
        let query = self.query.trim();
        let fields = (!query.is_empty()).then(|| FieldChange::new("query", "Query", query.into(), &query));
        ProposedChanges {
            fields: fields.into_iter().collect(),
            explanation: self.explanation,
        }
    }
}
