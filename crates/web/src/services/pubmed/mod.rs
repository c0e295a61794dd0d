//! NCBI's E-utilities: searches, summaries of articles, abstracts, and open full texts.
//!
//! <https://www.ncbi.nlm.nih.gov/books/NBK25499/>. Rate limits: <https://www.ncbi.nlm.nih.gov/books/NBK25497/>.

mod abstracts;
mod full_text;
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

use crate::services::{Service, ServiceError, ServiceErrorKind, SharedTurns, rate_limiter::RateLimiter};
use parlor_base::{
    settings::{PubmedSettings, Secret, Settings},
    text,
};
use parlor_protocol::literature::is_pmid;

/// The time between two requests: NCBI allows three a second, and ten with a key. A little more
/// than that, because of variations in the network.
const REQUEST_INTERVAL: Duration = Duration::from_millis(350);
const REQUEST_INTERVAL_WITH_KEY: Duration = Duration::from_millis(110);

/// Maximum lengths of the parts of a summary, in characters, and maximum number of authors.
const MAX_LINE_CHARS: usize = 500;
const MAX_SHORT_CHARS: usize = 200;
const MAX_AUTHORS: usize = 100;

/// The type of a retracted article among those of its publication.
const RETRACTED: &str = "Retracted Publication";

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
    /// True if the article was retracted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retracted: bool,
    /// The id of its full text in PubMed Central.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<String>,
}

/// Creates the client of PubMed. There must be only one in a process, because of the rate limit, which several processes share by
/// their turns.
///
/// # Errors
///
/// If PubMed is disabled, or not usable.
pub fn connect(
    settings: &Settings,
    turns: Option<Arc<dyn SharedTurns>>,
) -> Result<Arc<PubmedClient>, PubmedUnavailable> {
    if !settings.tools.pubmed.enabled {
        return Err(PubmedUnavailable::Disabled);
    }
    let pubmed = PubmedClient::new(&settings.tools.pubmed).ok_or(PubmedUnavailable::NoCertificates)?;
    Ok(Arc::new(pubmed.sharing(turns)))
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

    fn sharing(mut self, turns: Option<Arc<dyn SharedTurns>>) -> Self {
        self.service = self.service.sharing(turns);
        self
    }

    /// Limits the wait for a response and retries at once. For tests.
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
        let response = self.fetch(url).await?;
        let found = &response["esearchresult"];
        // Without a count, it is not known that there are no articles.
        let total = text_of(&found["count"]).parse();
        let ids = found["idlist"].as_array().into_iter().flatten().map(text_of);
        Ok(SearchHits {
            total: total.map_err(|error| self.service.error(self.service.unreadable(error)))?,
            ids: ids.filter(|id| is_pmid(id)).collect(),
        })
    }

    /// Returns the summaries of articles, in the order of `ids`, without invalid ones.
    pub async fn summaries(&self, ids: &[String]) -> Result<Vec<PubmedArticle>, ServiceError> {
        let url = self.url("esummary.fcgi", &[("retmode", "json"), ("id", &ids.join(","))])?;
        let response = self.fetch(url).await?;
        let articles = ids.iter().filter_map(|id| {
            let summary = response["result"].get(id).filter(|summary| summary.is_object())?;
            // For an unknown PMID, PubMed returns only an error.
            let is_unknown = !text_of(&summary["error"]).is_empty();
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
        let request = self.service.http().get(url);
        let xml = self.service.fetch_checked_text(request, xml_error).await?;
        let read = abstracts::parse_abstracts(&xml);
        let mut read = read.map_err(|error| self.service.error(self.service.unreadable(error)))?;
        if let Some(listener) = self.listener.get() {
            // Nothing is known of an article that is missing in the response.
            for (id, text) in &read {
                listener.abstract_read(id, text);
            }
        }
        read.retain(|_, text| !text.is_empty());
        Ok(read)
    }

    /// Returns the paragraphs of an article's full text in PubMed Central, with at most about `max_bytes`; none if it is not open.
    pub async fn full_text(&self, pmcid: &str, max_bytes: usize) -> Result<Vec<String>, ServiceError> {
        let id = pmcid.trim_start_matches("PMC");
        let url = self.url_in("pmc", "efetch.fcgi", &[("retmode", "xml"), ("id", id)])?;
        let request = self.service.http().get(url);
        let xml = self.service.fetch_checked_text(request, xml_error).await?;
        let read = full_text::parse_paragraphs(&xml, max_bytes);
        read.map_err(|error| self.service.error(self.service.unreadable(error)))
    }

    /// Returns a response in JSON, unless it says that there is an error.
    async fn fetch(&self, url: Url) -> Result<Value, ServiceError> {
        let request = self.service.http().get(url);
        self.service.fetch_checked_json(request, response_error).await
    }

    fn url(&self, program: &str, parameters: &[(&str, &str)]) -> Result<Url, ServiceError> {
        self.url_in("pubmed", program, parameters)
    }

    fn url_in(
        &self,
        database: &str,
        program: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Url, ServiceError> {
        let mut url = self.base_url.clone();
        url.path_segments_mut()
            .map_err(|()| self.service.error(ServiceErrorKind::Unreachable))?
            .push(program);
        url.query_pairs_mut()
            .append_pair("db", database)
            .extend_pairs(parameters)
            .append_pair("tool", "parlor")
            .extend_pairs(self.email.iter().map(|email| ("email", email)))
            .extend_pairs(self.key.iter().map(|key| ("api_key", &key.0)));
        Ok(url)
    }
}

/// Words of errors that are about the query, even if they come as a failure of the search: `parse`, and the limit on the number
/// of the first hit.
const REJECTION_WORDS: [&str; 2] = ["parse", "cannot be larger"];

/// Words of errors that are about the query, unless they have one of [`FAULT_WORDS`].
const QUERY_WORDS: [&str; 5] = ["empty term", "query", "field", "invalid", "syntax"];

/// Words of errors of PubMed's own parts, such as "Search Backend failed". Any query can meet them.
const FAULT_WORDS: [&str; 6] = [
    "failed",
    "executor",
    "timed out",
    "timeout",
    "unavailable",
    "try again",
];

/// Words of errors about too many requests.
const RATE_LIMIT_WORDS: &str = "rate limit";

/// Returns the error that a response in JSON is about. PubMed reports many with the status 200.
fn response_error(response: &Value) -> Option<ServiceErrorKind> {
    let places = [
        &response["esearchresult"]["ERROR"],
        &response["error"],
        &response["ERROR"],
    ];
    let error = places
        .into_iter()
        .map(text_of)
        .find(|error| !error.trim().is_empty())?;
    Some(error_kind(&error))
}

/// Returns the error that a response in XML is about: `<eFetchResult><ERROR>…</ERROR></eFetchResult>`.
fn xml_error(xml: &str) -> Option<ServiceErrorKind> {
    let (before, rest) = xml.split_once("<ERROR>")?;
    let (error, _) = rest.split_once("</ERROR>")?;
    let is_article = before.contains("<PubmedArticle") || before.contains("<article");
    (!is_article && !error.trim().is_empty()).then(|| error_kind(error))
}

/// Returns the kind of error that PubMed describes.
fn error_kind(error: &str) -> ServiceErrorKind {
    let error = text::plain_line(error, MAX_LINE_CHARS);
    let words = error.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    let is_about_query = has(&REJECTION_WORDS) || (has(&QUERY_WORDS) && !has(&FAULT_WORDS));
    if words.contains(RATE_LIMIT_WORDS) {
        ServiceErrorKind::Busy(None)
    } else if is_about_query {
        ServiceErrorKind::InvalidQuery(error)
    } else {
        ServiceErrorKind::Failed(error)
    }
}

/// Returns a text or a number as a text. Anything else is empty: PubMed leaves any field of an article `null`.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Makes an article of its summary, with what can be read of it.
fn make_article(pmid: &str, summary: &Value) -> PubmedArticle {
    let line = |value: &Value| text::plain_line(&text_of(value), MAX_SHORT_CHARS);
    let list = |field: &str| summary[field].as_array().into_iter().flatten();
    let journals = ["source", "fulljournalname"].map(|field| line(&summary[field]));
    let authors = list("authors").map(|author| line(&author["name"]));
    let doi = list("articleids").find(|id| id["idtype"] == "doi");
    let pmcid = list("articleids").find(|id| id["idtype"] == "pmc");
    let pmcid = pmcid.map(|id| line(&id["value"]));
    // The title has its tags as entities.
    let title = text_of(&summary["title"]);
    let title = html_escape::decode_html_entities(&title);
    PubmedArticle {
        pmid: pmid.into(),
        title: text::plain_line(&title, MAX_LINE_CHARS),
        authors: authors
            .filter(|author| !author.is_empty())
            .take(MAX_AUTHORS)
            .collect(),
        journal: journals
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default(),
        date: line(&summary["pubdate"]),
        doi: doi.map(|doi| line(&doi["value"])).filter(|doi| !doi.is_empty()),
        abstract_text: None,
        retracted: list("pubtype").any(|kind| kind == RETRACTED),
        pmcid: pmcid.filter(|id| is_pmcid(id)),
    }
}

/// Returns true for an id of PubMed Central.
fn is_pmcid(id: &str) -> bool {
    id.strip_prefix("PMC").is_some_and(is_pmid)
}
