//! `query_suggestion`: `{query, explanation?}`.

use serde::Deserialize;
use serde_json::Value;

use parlor_base::text::truncate_chars;
use parlor_protocol::panel::{PanelBody, QuerySuggestion};

/// The maximum length of a query and of an explanation, in characters.
const MAX_TEXT_CHARS: usize = 20_000;

#[derive(Deserialize)]
struct QueryData {
    query: String,
    explanation: Option<String>,
}

pub fn read(data: &Value) -> Option<PanelBody> {
    let QueryData { query, explanation } = QueryData::deserialize(data).ok()?;
    let query = query.trim();
    (!query.is_empty()).then(|| {
        PanelBody::Query(QuerySuggestion {
            query: truncate_chars(query, MAX_TEXT_CHARS),
            explanation: explanation
                .map(|text| truncate_chars(&text, MAX_TEXT_CHARS))
                .filter(|text| !text.trim().is_empty()),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_query_and_optional_explanation() {
        let expected = |explanation: Option<&str>| {
            Some(PanelBody::Query(QuerySuggestion {
                query: "asthma[mesh]\nAND 2024[pdat]".into(),
                explanation: explanation.map(Into::into),
            }))
        };
        let query = " asthma[mesh]\nAND 2024[pdat] ";
        assert_eq!(read(&json!({ "query": query })), expected(None));
        let why = json!({ "query": query, "explanation": "It is *narrower*." });
        assert_eq!(read(&why), expected(Some("It is *narrower*.")));
        assert_eq!(read(&json!({ "query": " " })), None);
    }
}
