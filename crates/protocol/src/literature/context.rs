//! The page *Literature* in the context of a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PageFields, ResearchStreamId};

/// The open items of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LiteratureFields {
    /// The search query, or the filter of the saved articles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The page of the search results, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
    /// The PMIDs of the articles on the screen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<String>,
    /// The PMID of the open article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article_id: Option<String>,
    /// The open research stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<ResearchStreamId>,
}

impl PageFields for LiteratureFields {
    const PAGE: &'static str = super::PAGE.name;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageContext;

    #[test]
    fn round_trips_and_ignores_unknown_fields() {
        let fields = LiteratureFields {
            query: Some("asthma".into()),
            page: Some(2),
            results: vec!["11".into()],
            article_id: Some("11".into()),
            stream_id: Some(ResearchStreamId::new()),
        };
        let context = PageContext::with_fields(Some("search"), &fields);
        let json = serde_json::to_string(&context).unwrap();
        let read = serde_json::from_str::<PageContext>(&json).unwrap();
        assert_eq!((read.fields(), read), (Ok(fields), context));
        let foreign =
            r#"{"current_page": "literature", "current_article": {"title": "Forged"}, "report_id": 7}"#;
        let context: PageContext = serde_json::from_str(foreign).unwrap();
        assert_eq!(
            context.normalized::<LiteratureFields>(),
            Ok(PageContext::for_page("literature"))
        );
    }

    #[test]
    fn stored_context_stays_readable() {
        let stored = r#"{"current_page":"literature","active_tab":"search","query":"tides","page":2,"results":["11"],"article_id":"11","stream_id":"0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000"}"#;
        let context: PageContext = serde_json::from_str(stored).unwrap();
        let fields: LiteratureFields = context.fields().unwrap();
        assert_eq!((fields.query.as_deref(), fields.page), (Some("tides"), Some(2)));
        let again = context.normalized::<LiteratureFields>().unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), stored);
    }
}
