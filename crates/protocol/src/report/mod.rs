//! Reports: what is in the articles that a research stream finds. The result of a job of the kind `report`.
//!
//! [`REPORTS_PAGE`] is the page that shows them, [`ReportLocation`] an address of it, [`ReportsFields`] its context; [`Comparison`] has the
//! differences between two reports.

mod comparison;
mod page;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    comparison::{Comparison, Gone, Moved},
    page::{
        ComparedReport, OpenReport, REPORT_ARTICLE_SUBTAB, REPORTS_PAGE, ReportList, ReportLocation,
        ReportTab, ReportView, ReportsFields, ReportsPageData,
    },
};
use super::{Passage, ResearchStreamId, literature::Article};

/// The name of the kind of job.
pub const REPORT: &str = "report";

/// The input of such a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportInput {
    pub stream_id: ResearchStreamId,
}

/// A report of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub stream_id: ResearchStreamId,
    /// The name and the query of the stream when the report was made.
    pub name: String,
    pub query: String,
    /// The number of articles that the search has found. Those beyond the limit (setting `jobs.articles`) are not in the report.
    pub found: u64,
    /// All articles that were looked at, in the order of the search: also those that are not relevant, and those that could not be read.
    pub articles: Vec<ReportArticle>,
    pub summary: Vec<Claim>,
    /// The reason why there is no summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_problem: Option<String>,
    /// The number of claims without a passage that their article has.
    pub unsupported: usize,
}

/// An article of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportArticle {
    pub article: Article,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retracted: bool,
    pub relevance: Relevance,
    /// The group that it belongs to, one of the stream's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The answers that it gives, in the order of the stream's schema.
    pub cells: Vec<Cell>,
    /// The reason why it was not read, or not in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The title and the paragraphs of the abstract, as the model has read them; empty where the page lists articles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}

impl ReportArticle {
    pub fn is_relevant(&self) -> bool {
        matches!(self.relevance, Relevance::Relevant { .. })
    }
}

impl Report {
    /// Returns the relevant articles, in the order of the search.
    pub fn relevant(&self) -> impl Iterator<Item = &ReportArticle> {
        self.articles.iter().filter(|article| article.is_relevant())
    }

    /// Returns an article by its PMID.
    pub fn article(&self, pmid: &str) -> Option<&ReportArticle> {
        self.articles.iter().find(|article| article.article.pmid == pmid)
    }

    /// Returns the names of the fields that were read out of the articles, in the order of the schema.
    pub fn fields(&self) -> Vec<&str> {
        let read = self.articles.iter().find(|article| !article.cells.is_empty());
        let cells = read.map(|article| article.cells.as_slice()).unwrap_or_default();
        cells.iter().map(|cell| cell.field.as_str()).collect()
    }

    /// Returns the relevant articles by category, those without one last.
    pub fn groups(&self) -> Vec<(Option<&str>, Vec<&ReportArticle>)> {
        let names = self.categories().into_iter().map(Some).chain([None]);
        let of_group = |name: Option<&str>| {
            let articles = self.relevant();
            articles
                .filter(|article| article.category.as_deref() == name)
                .collect::<Vec<_>>()
        };
        let groups = names.map(|name| (name, of_group(name)));
        groups.filter(|(_, articles)| !articles.is_empty()).collect()
    }

    /// Returns the names of the categories of the relevant articles, each once, in the order of their first articles.
    pub fn categories(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.relevant().filter_map(|article| article.category.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The relevance of an article for its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relevance {
    Relevant {
        reason: String,
    },
    NotRelevant {
        reason: String,
    },
    /// It could not be judged, for the reason in `problem`.
    Unknown,
}

/// The answer of an article to a field of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The name of the field.
    pub field: String,
    /// The answer; empty if the article has none.
    pub value: String,
    pub passage: Passage,
}

/// A sentence of the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub text: String,
    /// The article that it is from.
    pub pmid: String,
    pub passage: Passage,
}
