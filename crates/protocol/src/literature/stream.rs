//! A research stream, and the parts of it that are drafts: its own texts, what is read out of each article, and how articles are
//! grouped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ResearchStreamId, draft,
    draft::{DraftItem, DraftList},
};

/// A saved query, with what the assistant is to know about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchStream {
    pub id: ResearchStreamId,
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    pub query: String,
    /// The user's own instructions for this stream.
    pub instructions: String,
    #[serde(default, skip_serializing_if = "DraftList::is_empty")]
    pub schema: Schema,
    #[serde(default, skip_serializing_if = "DraftList::is_empty")]
    pub categories: Categories,
}

/// What is read out of each article.
pub type Schema = DraftList<SchemaField>;

/// The groups in which articles are presented.
pub type Categories = DraftList<Category>;

draft! {
    /// The texts of a stream.
    pub struct StreamDraft = "stream" {
        /// A short name.
        name: "Name",
        /// What it is for, in a sentence.
        purpose: "Purpose",
        /// What it searches PubMed for.
        query: "Query",
        /// What the assistant is to mind when it reads the articles.
        instructions: "Instructions for reading",
    }
    /// A new stream, or changes of the one that is open.
    pub struct StreamSuggestions {
        payload_type: "stream_suggestions",
        marker: "STREAM_SUGGESTIONS:",
        title: "Suggested stream",
        about: "A stream of research, or changes of the open one",
        example: r#"{"name": "Asthma in children", "purpose": "To follow new trials.", "query": "asthma[mesh] AND child[mesh]", "instructions": "Name the sample size.", "explanation": "Only what is new."}"#,
        progress_text: "Writing a stream...",
    }
}

/// One thing that is read out of each article.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemaField {
    /// A short name, by which it is known.
    pub name: String,
    /// The question that each article answers.
    pub question: String,
    #[serde(rename = "type")]
    pub kind: SchemaFieldType,
}

/// The type of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemaFieldType {
    #[default]
    Text,
    Number,
    YesNo,
    Date,
    List,
}

impl SchemaFieldType {
    pub const ALL: [Self; 5] = [Self::Text, Self::Number, Self::YesNo, Self::Date, Self::List];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::YesNo => "yes_no",
            Self::Date => "date",
            Self::List => "list",
        }
    }

    /// The name for the user.
    pub const fn label(self) -> &'static str {
        match self {
            Self::YesNo => "yes or no",
            other => other.name(),
        }
    }
}

impl DraftItem for SchemaField {
    const LIST: &'static str = "schema";

    fn name(&self) -> &str {
        &self.name
    }

    fn text(&self) -> String {
        [&self.question, " (", self.kind.label(), ")"].concat()
    }
}

/// A group of articles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Category {
    /// A short name, by which it is known.
    pub name: String,
    /// Which articles belong to it.
    pub description: String,
}

impl DraftItem for Category {
    const LIST: &'static str = "categories";

    fn name(&self) -> &str {
        &self.name
    }

    fn text(&self) -> String {
        self.description.clone()
    }
}

impl ResearchStream {
    /// A stream with an id and nothing else.
    pub fn new(id: ResearchStreamId) -> Self {
        Self {
            id,
            name: String::new(),
            purpose: String::new(),
            query: String::new(),
            instructions: String::new(),
            schema: Schema::default(),
            categories: Categories::default(),
        }
    }
}

/// A stream as it stands on the screen, perhaps unsaved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StreamForm {
    pub stream: StreamDraft,
    pub schema: Schema,
    pub categories: Categories,
}

impl From<ResearchStream> for StreamForm {
    fn from(stream: ResearchStream) -> Self {
        Self {
            stream: StreamDraft {
                name: stream.name,
                purpose: stream.purpose,
                query: stream.query,
                instructions: stream.instructions,
            },
            schema: stream.schema,
            categories: stream.categories,
        }
    }
}

impl StreamForm {
    /// Empties the largest part and returns its name; `None` if all are empty.
    pub(super) fn remove_largest(&mut self) -> Option<&'static str> {
        let Self {
            stream,
            schema,
            categories,
        } = self;
        let bytes = |value: &str| value.len();
        let list_bytes = |json: serde_json::Result<String>| json.map_or(0, |json| json.len());
        let parts = [
            ("name", bytes(&stream.name)),
            ("purpose", bytes(&stream.purpose)),
            ("query", bytes(&stream.query)),
            ("instructions", bytes(&stream.instructions)),
            (
                "schema",
                list_bytes(serde_json::to_string(&schema)).saturating_sub(2),
            ),
            (
                "categories",
                list_bytes(serde_json::to_string(&categories)).saturating_sub(2),
            ),
        ];
        let (name, size) = parts.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        if size == 0 {
            return None;
        }
        match name {
            "name" => stream.name.clear(),
            "purpose" => stream.purpose.clear(),
            "query" => stream.query.clear(),
            "instructions" => stream.instructions.clear(),
            "schema" => schema.0.clear(),
            _ => categories.0.clear(),
        }
        Some(name)
    }

    /// The stream with this content.
    pub fn into_stream(self, id: ResearchStreamId) -> ResearchStream {
        let Self {
            stream,
            schema,
            categories,
        } = self;
        ResearchStream {
            id,
            name: stream.name,
            purpose: stream.purpose,
            query: stream.query,
            instructions: stream.instructions,
            schema,
            categories,
        }
    }
}
