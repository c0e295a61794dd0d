//! The requests and responses of each search engine.
//!
//! SearXNG: <https://docs.searxng.org/dev/search_api.html>. Brave: <https://api-dashboard.search.brave.com/app/documentation>.
//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use reqwest::{Client, RequestBuilder, Url, header};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{SearchResult, TimeRange};
use parlor_base::{
    settings::{SearchEngine, Secret, WebSearchSettings},
    text,
};

/// A search engine.
#[derive(Debug)]
pub struct Engine {
    provider: SearchEngine,
    url: Url,
    key: Option<Secret>,
}

impl Engine {
    /// Creates the engine; `None` if a required key or the URL is missing.
    pub fn new(settings: &WebSearchSettings) -> Option<Self> {
        let (provider, key) = (settings.provider, settings.api_key.clone());
        if key.is_none() && provider.needs_key() {
            let variable = settings.api_key_env.as_deref().unwrap_or_default();
            tracing::warn!(
                variable,
                "the web can't be searched: the environment variable for the key is empty"
            );
            return None;
        }
        // The settings have been validated.
        let url = settings.url.as_deref().or(provider.default_url())?;
        let mut url = Url::parse(url).ok()?;
        if provider == SearchEngine::Searxng && !url.path().ends_with("/search") {
            url.path_segments_mut().ok()?.pop_if_empty().push("search");
        }
        Some(Self { provider, url, key })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn request(
        &self,
        http: &Client,
        query: &str,
        count: usize,
        time_range: Option<TimeRange>,
    ) -> RequestBuilder {
        let key = self.key.as_ref().map(|key| key.0.as_str());
        match self.provider {
            SearchEngine::Searxng => {
                let mut url = self.url.clone();
                url.query_pairs_mut()
                    .append_pair("q", query)
                    .append_pair("format", "json")
                    .extend_pairs(time_range.map(|range| ("time_range", range.range_name())));
                let request = http.get(url);
                match key {
                    // SearXNG has no keys; a proxy in front of it may.
                    Some(key) => request.bearer_auth(key),
                    None => request,
                }
            }
            SearchEngine::Brave => {
                let mut url = self.url.clone();
                url.query_pairs_mut()
                    .append_pair("q", query)
                    .append_pair("count", &count.to_string())
                    .extend_pairs(time_range.map(|range| ("freshness", range.brave_freshness())));
                http.get(url)
                    .header(header::ACCEPT, "application/json")
                    .header("x-subscription-token", key.unwrap_or_default())
            }
            SearchEngine::Tavily => {
                let mut body = json!({ "query": query, "max_results": count });
                if let Some(range) = time_range {
                    body["time_range"] = range.range_name().into();
                }
                http.post(self.url.clone())
                    .bearer_auth(key.unwrap_or_default())
                    .header(header::CONTENT_TYPE, "application/json")
                    .body(body.to_string())
            }
        }
    }
}

impl TimeRange {
    fn range_name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// Returns Brave's name: past day, past week …
    fn brave_freshness(self) -> &'static str {
        match self {
            Self::Day => "pd",
            Self::Week => "pw",
            Self::Month => "pm",
            Self::Year => "py",
        }
    }
}

/// The response of any engine. Brave nests its results one level deeper.
#[derive(Deserialize)]
pub struct EngineResponse {
    #[serde(default, deserialize_with = "null_as_default")]
    results: Vec<Value>,
    #[serde(default, deserialize_with = "null_as_default")]
    web: BraveWeb,
    /// SearXNG's engines that gave nothing, each with the reason: `["google", "Suspended: too many requests"]`.
    #[serde(default)]
    unresponsive_engines: Value,
}

#[derive(Default, Deserialize)]
struct BraveWeb {
    #[serde(default, deserialize_with = "null_as_default")]
    results: Vec<Value>,
}

/// One result, with the field names of all engines.
#[derive(Deserialize)]
struct EngineResult {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default, alias = "description")]
    content: Option<String>,
}

/// Maximum number of silent engines that are named, and the maximum length of each in characters.
const MAX_NAMED_ENGINES: usize = 10;
const MAX_ENGINE_CHARS: usize = 120;

impl EngineResponse {
    /// Returns the engines behind the search engine that did not respond, with the reasons.
    pub fn silent_engines(&self) -> Vec<String> {
        let engines = self.unresponsive_engines.as_array().into_iter().flatten();
        let named = engines.filter_map(|engine| {
            let parts = match engine {
                Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect(),
                other => vec![other.as_str()?],
            };
            let line = |part: &&str| text::plain_line(part, MAX_ENGINE_CHARS);
            let name = parts.first().map(line).filter(|name| !name.is_empty())?;
            Some(match parts.get(1).map(line).filter(|reason| !reason.is_empty()) {
                Some(reason) => format!("{name} ({reason})"),
                None => name,
            })
        });
        named.take(MAX_NAMED_ENGINES).collect()
    }

    /// Returns the results, without invalid ones.
    pub fn into_results(self) -> impl Iterator<Item = SearchResult> {
        let results = self.results.into_iter().chain(self.web.results);
        results.filter_map(|result| {
            let result: EngineResult = serde_json::from_value(result).ok()?;
            Some(SearchResult {
                title: result.title.unwrap_or_default(),
                url: result.url,
                snippet: result.content.unwrap_or_default(),
            })
        })
    }
}

/// Deserialises `null` as the default value.
fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
