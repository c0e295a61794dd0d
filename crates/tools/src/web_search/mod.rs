//! Searches the web with the engine that the settings name.

mod engines;
#[cfg(test)]
mod tests;

use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::engines::Engine;
use super::{NewPayload, Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_base::{settings, text};
use parlor_protocol::tool_kind;
use parlor_web::services::Service;

/// The default and the maximum number of results.
const DEFAULT_RESULTS: usize = 8;
const MAX_RESULTS: usize = 20;

/// Maximum length of a query, in bytes; search engines accept no more.
const MAX_QUERY_BYTES: usize = 400;

/// Maximum lengths of the parts of a result, in characters. The engine itself gives no limits.
const MAX_TITLE_CHARS: usize = 300;
const MAX_SNIPPET_CHARS: usize = 1000;
const MAX_URL_CHARS: usize = 2000;

pub struct WebSearch {
    service: Service,
    engine: Engine,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What to search for, as one would type it into a search engine.
    query: String,
    /// How many results, from 1 to 20. 8 without it.
    count: Option<usize>,
    /// Only pages from the last day, week, month or year.
    time_range: Option<TimeRange>,
}

/// How old a page may be.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeRange {
    Day,
    Week,
    Month,
    Year,
}

/// A page that was found.
#[derive(Debug, PartialEq, Serialize)]
pub struct SearchResult {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

impl WebSearch {
    /// Creates the tool; `None` if the search can't work, for example without a key. The reason is logged.
    pub fn new(settings: &settings::WebSearchSettings) -> Option<Self> {
        let engine = Engine::new(settings)?;
        let service = Service::new("The search engine", engine.url())
            .inspect_err(|error| tracing::error!(%error, "the web can't be searched"))
            .ok()?;
        Some(Self { service, engine })
    }
}

impl Tool for WebSearch {
    type Input = Input;

    const KIND: ToolKind = tool_kind::WEB_SEARCH;
    const DESCRIPTION: &'static str = "Searches the web and gives titles, addresses and snippets of pages. Use it for what is new, what you are not sure of, \
         and when asked to look something up; name the addresses that you rely on. A snippet is not the page: read the page if \
         there is a tool for that.";
    const LABEL: &'static str = "Searching the web";
    const DONE: &'static str = "Searched";
    const FINDS_SOURCES: bool = true;
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        Some(input.query.clone())
    }

    async fn run(&self, input: Input, _: ToolContext) -> Result<ToolResult, ToolError> {
        let query = input.query.trim();
        if query.is_empty() || query.len() > MAX_QUERY_BYTES {
            return Err(ToolError(format!(
                "The query must have 1 to {MAX_QUERY_BYTES} bytes. Search for fewer words."
            )));
        }
        let count = input.count.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS);
        let request = self
            .engine
            .request(self.service.http(), query, count, input.time_range);
        let response: engines::EngineResponse = self.service.fetch_json(request).await?;
        let silent = response.silent_engines();
        let found: Vec<SearchResult> = response
            .into_results()
            .filter_map(clean_result)
            .take(count)
            .collect();
        if found.is_empty() && !silent.is_empty() {
            return Err(ToolError(format!(
                "The search did not work: the search engine got no response of {}. Whether there are pages is not known. Try \
                 again later, or do without it.",
                silent.join(", ")
            )));
        }
        let data = json!({ "query": query, "results": found });
        let text = if found.is_empty() {
            format!("Nothing was found for “{query}”. Try other or fewer words.")
        } else {
            data.to_string()
        };
        let payload = Some(NewPayload {
            kind: "web_search_results".into(),
            data,
        });
        Ok(ToolResult {
            text,
            payload,
            ..ToolResult::default()
        })
    }
}

/// Cleans a result; `None` if its URL is not usable.
fn clean_result(found: SearchResult) -> Option<SearchResult> {
    let url = Url::parse(found.url.trim()).ok()?;
    let is_usable = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_URL_CHARS;
    let url = is_usable.then(|| url.to_string())?;
    let title = text::plain_line(&found.title, MAX_TITLE_CHARS);
    Some(SearchResult {
        title: if title.is_empty() { url.clone() } else { title },
        snippet: text::plain_line(&found.snippet, MAX_SNIPPET_CHARS),
        url,
    })
}
