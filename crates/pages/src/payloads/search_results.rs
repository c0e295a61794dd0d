//! `web_search_results`: `{query, results: [{title, url, snippet}]}`.

use serde::Deserialize;
use serde_json::Value;

use super::formatting::Line;
use parlor_markup::web_link;
use parlor_protocol::panel::{PanelBody, WebResult, WebResults};

/// The maximum number of results that are shown.
const MAX_RESULTS: usize = 500;

#[derive(Deserialize)]
struct ResultsData {
    #[serde(default)]
    query: Line,
    results: Vec<ResultData>,
}

#[derive(Deserialize)]
struct ResultData {
    #[serde(default)]
    title: Line,
    url: Line,
    #[serde(default)]
    snippet: Line,
}

pub fn read(data: &Value) -> Option<PanelBody> {
    let ResultsData { query, results } = ResultsData::deserialize(data).ok()?;
    Some(PanelBody::Results(WebResults {
        query: query.0,
        results: results
            .into_iter()
            .take(MAX_RESULTS)
            .map(ResultData::into_result)
            .collect(),
    }))
}

impl ResultData {
    fn into_result(self) -> WebResult {
        let url = web_link::parse(self.url.0.trim());
        let host = url.as_ref().and_then(|url| url.host_str()).map(Into::into);
        let host: String = host.unwrap_or(self.url.0);
        WebResult {
            title: if self.title.0.is_empty() {
                host.clone()
            } else {
                self.title.0
            },
            url: url.map(Into::into),
            host,
            snippet: self.snippet.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn web_results_have_a_link_and_host() {
        let data = json!({"query": "q", "results": [
            {"title": "One", "url": "https://a.example/x", "snippet": "a\nb"},
            {"title": "", "url": "javascript:alert(1)", "snippet": null},
        ]});
        let expected = WebResults {
            query: "q".into(),
            results: vec![
                WebResult {
                    title: "One".into(),
                    url: Some("https://a.example/x".into()),
                    host: "a.example".into(),
                    snippet: "a b".into(),
                },
                WebResult {
                    title: "javascript:alert(1)".into(),
                    url: None,
                    host: "javascript:alert(1)".into(),
                    snippet: String::new(),
                },
            ],
        };
        assert_eq!(read(&data), Some(PanelBody::Results(expected)));
    }
}
