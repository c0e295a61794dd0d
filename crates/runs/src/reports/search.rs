//! The steps that ask storage and PubMed. All of them only read.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::jobs::{Step, StepContext, StepError};
use parlor_pages::literature::{Literature, LiteratureError, from_pubmed};
use parlor_protocol::{
    literature::{Article, ResearchStream},
    report::ReportInput,
};
use parlor_web::services::pubmed::{PubmedClient, PubmedSort, PubmedUnavailable};

/// The number of articles whose summaries are requested at once.
const SUMMARIES_AT_ONCE: usize = 100;

const KEPT: &str = "The finished steps are kept. Continue the job later.";

/// PubMed, if it can be asked.
pub(super) type Pubmed<'a> = Result<&'a PubmedClient, &'a PubmedUnavailable>;

/// Reads the stream as it is now.
pub(super) struct StreamNow<'a>(pub &'a Literature);

/// Searches PubMed, newest articles first.
pub(super) struct Search<'a> {
    pub pubmed: Pubmed<'a>,
    /// The maximum number of articles. No part of the input: jobs go on after it was changed.
    pub limit: usize,
}

/// Reads the abstracts of articles, by their PMIDs. One without an abstract has no paragraphs.
pub(super) struct Abstracts<'a>(pub Pubmed<'a>);

#[derive(Serialize)]
pub(super) struct SearchInput {
    pub query: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Found {
    /// All hits, also those beyond the limit.
    pub total: u64,
    pub articles: Vec<FoundArticle>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FoundArticle {
    pub article: Article,
    pub retracted: bool,
}

impl Step for StreamNow<'_> {
    type Input = ReportInput;
    type Output = ResearchStream;

    const KIND: &'static str = "report_stream";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, context: &StepContext<'_>, input: ReportInput) -> Result<ResearchStream, StepError> {
        let stream = self.0.stream(context.user_id(), input.stream_id).await;
        stream.map_err(|error| match error {
            LiteratureError::StreamNotFound => StepError::of_step(
                "stream_not_found",
                "The stream of this report was deleted.",
                "Make a report of another one.",
            ),
            error => StepError::of_job("storage", error.user_message(), KEPT),
        })
    }
}

impl Step for Search<'_> {
    type Input = SearchInput;
    type Output = Found;

    const KIND: &'static str = "report_search";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, _: &StepContext<'_>, input: SearchInput) -> Result<Found, StepError> {
        let pubmed = client(self.pubmed)?;
        let mut hits = pubmed
            .search(&input.query, 0, self.limit, PubmedSort::Date)
            .await
            .map_err(pubmed_error)?;
        // The steps of an article are named by its PMID.
        let mut known = HashSet::new();
        hits.ids.retain(|id| known.insert(id.clone()));
        let mut articles = Vec::with_capacity(hits.ids.len());
        for ids in hits.ids.chunks(SUMMARIES_AT_ONCE) {
            let read = pubmed.summaries(ids).await.map_err(pubmed_error)?;
            articles.extend(read.iter().map(|found| FoundArticle {
                article: from_pubmed(found),
                retracted: found.retracted,
            }));
        }
        Ok(Found {
            total: hits.total,
            articles,
        })
    }
}

impl Step for Abstracts<'_> {
    type Input = Vec<String>;
    type Output = BTreeMap<String, Vec<String>>;

    const KIND: &'static str = "report_abstracts";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, _: &StepContext<'_>, pmids: Vec<String>) -> Result<Self::Output, StepError> {
        let ids: Vec<&str> = pmids.iter().map(String::as_str).collect();
        let read = client(self.0)?.abstracts(&ids).await.map_err(pubmed_error)?;
        let paragraphs = |text: String| text.lines().map(str::to_owned).collect();
        Ok(read
            .into_iter()
            .map(|(pmid, text)| (pmid, paragraphs(text)))
            .collect())
    }
}

fn client<'a>(pubmed: Pubmed<'a>) -> Result<&'a PubmedClient, StepError> {
    pubmed.map_err(|reason| StepError::of_job("pubmed_unavailable", reason.to_string(), KEPT))
}

fn pubmed_error(error: impl Into<LiteratureError>) -> StepError {
    StepError::of_job("pubmed", error.into().user_message(), KEPT)
}
