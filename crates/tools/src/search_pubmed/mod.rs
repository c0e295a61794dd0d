//! Searches PubMed, the database of biomedical articles, and reports its progress.

#[cfg(test)]
mod tests;

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{NewPayload, Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_base::text;
use parlor_protocol::{Fraction, RawJson, tool_kind};
use parlor_web::services::{
    ServiceError,
    pubmed::{MAX_QUERY_BYTES, PubmedArticle, PubmedClient, PubmedSort},
};

/// The default and the maximum number of articles.
const DEFAULT_ARTICLES: usize = 10;
const MAX_ARTICLES: usize = 50;

/// The number of abstracts fetched per request.
const ABSTRACTS_PER_REQUEST: usize = 5;

/// Maximum length of the abstracts for the model, in characters: of one, and of all together.
const MAX_MODEL_ABSTRACT_CHARS: usize = 1500;
const MAX_TOTAL_ABSTRACT_CHARS: usize = 24_000;

pub struct SearchPubmed {
    client: Arc<PubmedClient>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[allow(
        rustdoc::broken_intra_doc_links,
        reason = "a text for the model, not Markdown"
    )]
    /// What to search for: words, or PubMed's own syntax, such as asthma[mesh] AND 2024[pdat].
    query: String,
    /// How many articles, from 1 to 50. 10 without it.
    count: Option<usize>,
    /// Which come first: the best matches (without it) or the newest.
    sort: Option<PubmedSort>,
}

impl SearchPubmed {
    /// Creates the tool with a client that is shared with others.
    pub fn new(eutils: Arc<PubmedClient>) -> Self {
        Self { client: eutils }
    }
}

impl Tool for SearchPubmed {
    type Input = Input;

    const KIND: ToolKind = tool_kind::SEARCH_PUBMED;
    const DESCRIPTION: &'static str = "Searches PubMed for biomedical and life science articles and gives their titles, authors, journals, dates, PMIDs, DOIs \
         and abstracts. Use it for questions of medicine and biology that should rest on published research, and name the \
         articles that you rely on by their PMIDs.";
    const LABEL: &'static str = "Searching PubMed";
    const DONE: &'static str = "Searched PubMed";
    const FINDS_SOURCES: bool = true;
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        Some(input.query.clone())
    }

    async fn run(&self, input: Input, call: ToolContext) -> Result<ToolResult, ToolError> {
        let query = input.query.trim();
        if query.is_empty() || query.len() > MAX_QUERY_BYTES {
            return Err(ToolError(format!(
                "The query must have 1 to {MAX_QUERY_BYTES} bytes. Search for fewer words."
            )));
        }
        let count = input.count.unwrap_or(DEFAULT_ARTICLES).clamp(1, MAX_ARTICLES);
        let nothing_yet = Fraction::from_ratio(0, 1);
        call.progress
            .report("searching", "Searching PubMed", Some(nothing_yet));
        let found = self
            .client
            .search(query, 0, count, input.sort.unwrap_or_default())
            .await?;
        let mut articles = Vec::new();
        if !found.ids.is_empty() {
            let message = format!("Found {} articles…", found.total);
            let data = json!({ "total": found.total, "listed": found.ids.len() });
            report_progress(&call, "found", message, nothing_yet, &data);
            articles = self.client.summaries(&found.ids).await?;
        }
        let problem = self.read_abstracts(&mut articles, &call).await.err();
        let text = format_for_model(query, found.total, &articles, problem);
        let data = json!({ "query": query, "total": found.total, "articles": articles });
        let payload = Some(NewPayload {
            kind: "pubmed_search_results".into(),
            data,
        });
        Ok(ToolResult {
            text,
            payload,
            ..ToolResult::default()
        })
    }
}

impl SearchPubmed {
    /// Adds the abstracts, in batches. After an error, the abstracts fetched so far remain.
    async fn read_abstracts(
        &self,
        articles: &mut [PubmedArticle],
        call: &ToolContext,
    ) -> Result<(), ServiceError> {
        let all = articles.len();
        let mut read = 0;
        for some in articles.chunks_mut(ABSTRACTS_PER_REQUEST) {
            let message = format!("Reading {} of {all}…", read + some.len());
            let progress = Fraction::from_ratio(read as u64, all as u64);
            let data = json!({ "read": read, "listed": all });
            report_progress(call, "reading", message, progress, &data);
            let ids: Vec<&str> = some.iter().map(|article| article.pmid.as_str()).collect();
            let mut abstracts = self.client.abstracts(&ids).await?;
            for article in some.iter_mut() {
                article.abstract_text = abstracts.remove(&article.pmid);
            }
            read += some.len();
        }
        Ok(())
    }
}

/// Reports progress, with the figures as data for pages that show them in their own way.
fn report_progress(call: &ToolContext, stage: &str, message: String, progress: Fraction, data: &Value) {
    let data = RawJson::parse_or_quote(&data.to_string());
    call.progress
        .report_with_data(stage, message, Some(progress), Some(data));
}

/// Formats the articles for the model.
fn format_for_model(
    query: &str,
    total: u64,
    articles: &[PubmedArticle],
    problem: Option<ServiceError>,
) -> String {
    if articles.is_empty() && total == 0 {
        return format!("PubMed has no articles for “{query}”. Try other or fewer words.");
    }
    if articles.is_empty() {
        return format!(
            "PubMed has {total} articles for “{query}”, but said nothing about them. Try again, or do without them."
        );
    }
    let longest = MAX_MODEL_ABSTRACT_CHARS.min(MAX_TOTAL_ABSTRACT_CHARS / articles.len());
    let mut text = format!(
        "PubMed has {total} articles for “{query}”. These are {}:\n",
        articles.len()
    );
    if let Some(problem) = problem {
        text.push_str(&format!("(Abstracts are missing: {problem})\n"));
    }
    for (index, article) in articles.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{}. {}", index + 1, format_article(article));
        if let Some(abstract_text) = &article.abstract_text {
            let _ = write!(text, "\n   {}", text::truncate_chars(abstract_text, longest));
        }
    }
    text
}

/// Formats an article in one line, with its URL, so that it can be cited.
fn format_article(article: &PubmedArticle) -> String {
    let authors = match &article.authors[..] {
        [] => String::new(),
        few if few.len() <= 3 => format!("{}. ", few.join(", ")),
        [first, ..] => format!("{first} et al. "),
    };
    let doi = article
        .doi
        .as_ref()
        .map_or(String::new(), |doi| format!(" DOI {doi}."));
    let PubmedArticle {
        pmid,
        title,
        journal,
        date,
        ..
    } = article;
    // With its URL, so that it can be cited.
    format!("{title} {authors}{journal}, {date}. PMID {pmid}.{doi} https://pubmed.ncbi.nlm.nih.gov/{pmid}/")
}
