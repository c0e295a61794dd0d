//! The page context of a message: the page that the person looks at, and what is open there.
//!
//! It has the page's place (tab, query, result page) and the ids of open items, and no data of them. The server loads those
//! itself and checks to whom they belong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamId, flat_json::Fields};

/// The page that the user has open and the items on it, by id. The server loads their content itself. Unknown fields are
/// ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct PageContext {
    /// The page: `chat` or `literature`. Unknown pages are rejected (422, `invalid_context`).
    pub current_page: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_tab: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_subtab: Option<String>,
    /// The search query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The page of the search results, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
    /// The PMIDs of the articles on the screen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub results: Vec<String>,
    /// The PMID of the open article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article_id: Option<String>,
    /// The open research stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<StreamId>,
}

impl PageContext {
    /// Creates the context of a page with nothing open.
    pub fn for_page(page: &str) -> Self {
        Self {
            current_page: page.into(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_ignores_unknown_fields() {
        let context = PageContext {
            active_tab: Some("search".into()),
            query: Some("asthma".into()),
            page: Some(2),
            results: vec!["11".into()],
            article_id: Some("11".into()),
            stream_id: Some(StreamId::new()),
            ..PageContext::for_page("literature")
        };
        let json = serde_json::to_string(&context).unwrap();
        assert_eq!(serde_json::from_str::<PageContext>(&json).unwrap(), context);
        let foreign =
            r#"{"current_page": "literature", "current_article": {"title": "Forged"}, "report_id": 7}"#;
        let context: PageContext = serde_json::from_str(foreign).unwrap();
        assert_eq!(context, PageContext::for_page("literature"));
        assert!(serde_json::from_str::<PageContext>(r#"{"active_tab": "search"}"#).is_err());
    }
}
