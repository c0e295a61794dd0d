//! A query for PubMed that the model proposes.

use schemars::JsonSchema;
use serde_json::Value;

use crate::payload_config::{PayloadConfig, require_viewable, unchanged};
use parlor_tools::schema;

/// A query, and perhaps why.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for its schema")]
struct WrittenQuery {
    /// As it is typed into the search.
    query: String,
    /// Why it is better, in a sentence or two, as Markdown.
    explanation: Option<String>,
}

/// A query for the page's search that the user accepts or rejects.
pub const QUERY_SUGGESTION: PayloadConfig = PayloadConfig {
    payload_type: "query_suggestion",
    marker: "QUERY_SUGGESTION:",
    instructions: "A query for the search of this page, which the person may accept or reject:\n\
                   QUERY_SUGGESTION: {\"query\": \"asthma[mesh] AND 2024[pdat]\", \"explanation\": \"Only articles of this year.\"}",
    progress_text: "Writing a query...",
    parse: |data: &Value| require_viewable("query_suggestion", data),
    schema: schema::for_type::<WrittenQuery>,
    revise: None,
    to_model_input: unchanged,
};
