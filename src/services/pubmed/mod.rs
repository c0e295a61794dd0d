//! NCBI's E-utilities: searches, summaries of articles, and abstracts.
//!
//! <https://www.ncbi.nlm.nih.gov/books/NBK25499/>. Rate limits: <https://www.ncbi.nlm.nih.gov/books/NBK25497/>.

mod abstracts;
#[cfg(test)]
pub mod tests;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    protocol::literature::is_pmid,
    services::{Service, ServiceError, ServiceErrorKind, rate_limiter::RateLimiter},
    settings::{PubmedSettings, Secret, Settings},
    text,
};

/// The time between two requests: NCBI allows three a second, and ten with a key. A little more
/// than that, because of variations in the network.
const REQUEST_INTERVAL: Duration = Duration::from_millis(350);
const REQUEST_INTERVAL_WITH_KEY: Duration = Duration::from_millis(110);

/// Maximum lengths of the parts of a summary, in characters, and maximum number of authors.
const MAX_LINE_CHARS: usize = 500;
const MAX_SHORT_CHARS: usize = 200;
const MAX_AUTHORS: usize = 100;

/// The client of NCBI. The process has only one, because of the rate limit.
#[derive(Debug)]
pub struct PubmedClient {
    service: Service,
    base_url: Url,
    email: Option<String>,
    key: Option<Secret>,
    listener: OnceLock<Arc<dyn PubmedListener>>,
}

/// Receives all data that are read, so that they need not be fetched again.
pub trait PubmedListener: fmt::Debug + Send + Sync {
    fn article_read(&self, article: &PubmedArticle);

    /// Receives the abstract of an article; empty if it has none.
    fn abstract_read(&self, pmid: &str, text: &str);
}

/// The reason why PubMed is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PubmedUnavailable {
    #[error("PubMed is switched off on this server (setting tools.pubmed.enabled).")]
    Disabled,
    #[error(
        "PubMed is not available: this machine has no CA certificates. Whoever runs this server can install \
         them (package ca-certificates) and restart Parlor."
    )]
    NoCertificates,
}

/// The hits of a search.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchHits {
    pub total: u64,
    /// The PMIDs on the requested page.
    pub ids: Vec<String>,
}

/// Maximum length of a query, in bytes.
pub const MAX_QUERY_BYTES: usize = 2000;

/// The order of what a search finds.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PubmedSort {
    #[default]
    Relevance,
    Date,
}

/// An article in PubMed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PubmedArticle {
    pub pmid: String,
    pub title: String,
    pub authors: Vec<String>,
    pub journal: String,
    pub date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    #[serde(rename = "abstract", skip_serializing_if = "Option::is_none")]
    pub abstract_text: Option<String>,
}

/// Creates the client of PubMed. There must be only one, because of the rate limit.
///
/// # Errors
///
/// If PubMed is disabled, or not usable.
pub fn connect(settings: &Settings) -> Result<Arc<PubmedClient>, PubmedUnavailable> {
    if !settings.tools.pubmed.enabled {
        return Err(PubmedUnavailable::Disabled);
    }
    let pubmed = PubmedClient::new(&settings.tools.pubmed).ok_or(PubmedUnavailable::NoCertificates)?;
    Ok(Arc::new(pubmed))
}

impl PubmedClient {
    /// Creates the client; `None` if its URL is invalid or this machine can't make safe connections. The latter is logged.
    pub fn new(settings: &PubmedSettings) -> Option<Self> {
        // The settings have been validated.
        let mut base_url = Url::parse(&settings.base_url).ok()?;
        base_url.path_segments_mut().ok()?.pop_if_empty();
        let key = settings.api_key.clone();
        let between = if key.is_some() {
            REQUEST_INTERVAL_WITH_KEY
        } else {
            REQUEST_INTERVAL
        };
        let service = Service::new("PubMed", &base_url)
            .inspect_err(|error| tracing::error!(%error, "PubMed can't be searched"))
            .ok()?
            .with_rate_limiter(RateLimiter::new(between));
        Some(Self {
            service,
            base_url,
            email: settings.email.clone(),
            key,
            listener: OnceLock::new(),
        })
    }

    /// Limits the wait for a response and retries at once. For tests.
    #[cfg(test)]
    pub fn with_test_timeout(mut self, timeout: Duration) -> Self {
        self.service = self.service.with_test_timeout(timeout);
        self
    }

    /// Sets the listener for all data read from now on. There is only one.
    pub fn set_listener(&self, listener: Arc<dyn PubmedListener>) {
        // The first listener stays.
        let _ = self.listener.set(listener);
    }

    /// Searches, and returns `count` hits from index `first` on, counted from 0.
    pub async fn search(
        &self,
        query: &str,
        first: usize,
        count: usize,
        sort: PubmedSort,
    ) -> Result<SearchHits, ServiceError> {
        let first = (first > 0).then(|| first.to_string());
        let count = count.to_string();
        let sort = match sort {
            PubmedSort::Relevance => "relevance",
            PubmedSort::Date => "pub_date",
        };
        let mut parameters = vec![
            ("retmode", "json"),
            ("term", query),
            ("retmax", &count),
            ("sort", sort),
        ];
        if let Some(first) = &first {
            parameters.push(("retstart", first));
        }
        let url = self.url("esearch.fcgi", &parameters)?;
        let response: SearchResponse = self.service.fetch_json(self.service.http().get(url)).await?;
        let found = response.esearchresult;
        if let Some(error) = found.error {
            let error = text::plain_line(&error, MAX_LINE_CHARS);
            return Err(self.service.error(ServiceErrorKind::InvalidQuery(error)));
        }
        // Without a count, it is not known that there are no articles.
        let total = found.count.parse();
        Ok(SearchHits {
            total: total.map_err(|error| self.service.error(self.service.unreadable(error)))?,
            ids: found.idlist.into_iter().filter(|id| is_pmid(id)).collect(),
        })
    }

    /// Returns the summaries of articles, in the order of `ids`, without invalid ones.
    pub async fn summaries(&self, ids: &[String]) -> Result<Vec<PubmedArticle>, ServiceError> {
        let url = self.url("esummary.fcgi", &[("retmode", "json"), ("id", &ids.join(","))])?;
        let mut response: SummaryResponse = self.service.fetch_json(self.service.http().get(url)).await?;
        let articles = ids.iter().filter_map(|id| {
            let summary: RawSummary = serde_json::from_value(response.result.remove(id)?).ok()?;
            // For an unknown PMID, PubMed returns only an error.
            let is_unknown = summary.error.as_deref().is_some_and(|error| !error.is_empty());
            (!is_unknown).then(|| make_article(id, summary))
        });
        let articles: Vec<PubmedArticle> = articles.collect();
        if let Some(listener) = self.listener.get() {
            articles.iter().for_each(|article| listener.article_read(article));
        }
        Ok(articles)
    }

    /// Returns the abstracts of articles, by their PMIDs.
    pub async fn abstracts(&self, ids: &[&str]) -> Result<HashMap<String, String>, ServiceError> {
        let url = self.url("efetch.fcgi", &[("retmode", "xml"), ("id", &ids.join(","))])?;
        let xml = self.service.fetch_text(self.service.http().get(url)).await?;
        let read = abstracts::parse_abstracts(&xml);
        let read = read.map_err(|error| self.service.error(self.service.unreadable(error)))?;
        if let Some(listener) = self.listener.get() {
            for id in ids {
                listener.abstract_read(id, read.get(*id).map_or("", String::as_str));
            }
        }
        Ok(read)
    }

    fn url(&self, program: &str, parameters: &[(&str, &str)]) -> Result<Url, ServiceError> {
        let mut url = self.base_url.clone();
        url.path_segments_mut()
            .map_err(|()| self.service.error(ServiceErrorKind::Unreachable))?
            .push(program);
        url.query_pairs_mut()
            .append_pair("db", "pubmed")
            .extend_pairs(parameters)
            .append_pair("tool", "parlor")
            .extend_pairs(self.email.iter().map(|email| ("email", email)))
            .extend_pairs(self.key.iter().map(|key| ("api_key", &key.0)));
        Ok(url)
    }
}

#[derive(Deserialize)]
struct SearchResponse {
    esearchresult: SearchResponseBody,
}

#[derive(Deserialize)]
struct SearchResponseBody {
    #[serde(default)]
    count: String,
    #[serde(default)]
    idlist: Vec<String>,
    #[serde(default, rename = "ERROR")]
    error: Option<String>,
}

#[derive(Deserialize)]
struct SummaryResponse {
    /// The summaries by PMID, and the list `uids`.
    #[serde(default)]
    result: HashMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct RawSummary {
    error: Option<String>,
    title: String,
    authors: Vec<Author>,
    fulljournalname: String,
    source: String,
    pubdate: String,
    articleids: Vec<ArticleId>,
}

#[derive(Deserialize)]
struct Author {
    name: String,
}

#[derive(Deserialize)]
struct ArticleId {
    idtype: String,
    value: String,
}

fn make_article(pmid: &str, summary: RawSummary) -> PubmedArticle {
    let journal = if summary.source.is_empty() {
        &summary.fulljournalname
    } else {
        &summary.source
    };
    let doi = summary.articleids.iter().find(|id| id.idtype == "doi");
    let authors = summary.authors.iter().take(MAX_AUTHORS);
    // The title has its tags as entities.
    let title = html_escape::decode_html_entities(&summary.title);
    PubmedArticle {
        pmid: pmid.into(),
        title: text::plain_line(&title, MAX_LINE_CHARS),
        authors: authors
            .map(|author| text::plain_line(&author.name, MAX_SHORT_CHARS))
            .collect(),
        journal: text::plain_line(journal, MAX_SHORT_CHARS),
        date: text::plain_line(&summary.pubdate, MAX_SHORT_CHARS),
        doi: doi.map(|doi| text::plain_line(&doi.value, MAX_SHORT_CHARS)),
        abstract_text: None,
    }
}
