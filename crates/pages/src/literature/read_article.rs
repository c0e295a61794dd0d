//! The tool that reads an article: its abstract, and its full text where PubMed Central has it open.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Literature, LiteratureError,
    articles::{Deadline, LoadedArticle, check_pmid},
    context::article_text,
    tools::open_article,
};
use parlor_tools::{NewPayload, OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_web::services::pubmed::PubmedArticle;

/// The first line of the output if the article was retracted.
const RETRACTED: &str = "THIS ARTICLE WAS RETRACTED. Say so when you use it.";

pub struct ReadArticle(pub(super) Literature);

#[derive(Deserialize, JsonSchema)]
pub struct ReadArticleInput {
    /// The article's PMID, a number. Leave it out for the open one.
    #[serde(default)]
    pmid: String,
    /// Also the full text, where it is open. It is long.
    #[serde(default)]
    full_text: bool,
}

/// An article as the tool reads it.
struct Reading {
    loaded: LoadedArticle,
    /// The summary that PubMed has now; its error if it did not respond.
    summary: Result<PubmedArticle, LiteratureError>,
    /// The paragraphs of the full text; empty if they were not asked for or are not open.
    full_text: Vec<String>,
}

impl Tool for ReadArticle {
    type Input = ReadArticleInput;

    const KIND: ToolKind = ToolKind::plain("read_article");
    const DESCRIPTION: &'static str = "Reads an article of PubMed: its abstract, or its full text where PubMed Central has it open. Says if the article \
         was retracted.";
    const LABEL: &'static str = "Reading an article";
    const DONE: &'static str = "Read an article";
    const IS_IDEMPOTENT: bool = true;
    const FINDS_SOURCES: bool = true;

    fn complete(&self, input: &mut ReadArticleInput, open: OpenItems<'_>) -> Result<(), String> {
        open_article(&mut input.pmid, open)
    }

    fn detail(&self, input: &ReadArticleInput) -> Option<String> {
        Some(self.0.name_article(&input.pmid))
    }

    async fn run(&self, input: ReadArticleInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let Reading {
            loaded,
            summary,
            full_text,
        } = self.0.read_article(&call, &input).await?;
        let is_retracted = summary.as_ref().is_ok_and(|summary| summary.retracted);
        let mut text = article_text(&loaded);
        if is_retracted {
            text = format!("{RETRACTED}\n\n{text}");
        }
        if let Err(error) = &summary {
            text.push_str(&format!(
                "\n\n(Whether it was retracted can't be had just now: {error})"
            ));
        }
        if !full_text.is_empty() {
            text.push_str(&format!("\n\nFull text:\n{}", full_text.join("\n")));
        } else if input.full_text {
            text.push_str("\n\n(Its full text is not open.)");
        }
        let article = &loaded.article;
        let data = serde_json::json!({
            "pmid": article.pmid, "title": article.title, "authors": article.authors, "journal": article.journal,
            "date": article.published, "doi": article.doi, "retracted": is_retracted,
            "abstract": loaded.abstract_text.unwrap_or_default().join("\n"), "full_text": full_text.join("\n"),
        });
        Ok(ToolResult {
            text,
            payload: Some(NewPayload {
                kind: "pubmed_article".into(),
                data,
            }),
            ..ToolResult::default()
        })
    }
}

impl Literature {
    async fn read_article(
        &self,
        call: &ToolContext,
        input: &ReadArticleInput,
    ) -> Result<Reading, LiteratureError> {
        let loaded = self.load_article(call.user_id, &input.pmid, None).await?;
        // Always the present one: a saved article may have been retracted since.
        let summary = self.summary_now(&input.pmid, None).await;
        let full_text = match (&summary, input.full_text) {
            (Ok(summary), true) => {
                call.progress.report("reading", "Reading the full text...", None);
                self.full_text_of(summary, None).await?
            }
            _ => Vec::new(),
        };
        Ok(Reading {
            loaded,
            summary,
            full_text,
        })
    }

    /// Returns the summary that PubMed has of an article now.
    pub(super) async fn summary_now(
        &self,
        pmid: &str,
        deadline: Option<Deadline>,
    ) -> Result<PubmedArticle, LiteratureError> {
        check_pmid(pmid)?;
        let asked = [pmid.to_owned()];
        let read = Deadline::wait(deadline, self.pubmed()?.summaries(&asked)).await?;
        let found = read.into_iter().next();
        found.ok_or_else(|| LiteratureError::ArticleNotFound(pmid.into()))
    }

    /// Returns the paragraphs of an article's full text, from the cache or from PubMed Central; none if it is not open.
    pub(super) async fn full_text_of(
        &self,
        summary: &PubmedArticle,
        deadline: Option<Deadline>,
    ) -> Result<Vec<String>, LiteratureError> {
        if let Some(known) = self.0.cache.full_text(&summary.pmid) {
            return Ok(known);
        }
        let Some(pmcid) = &summary.pmcid else {
            return Ok(Vec::new());
        };
        let limit = self.0.settings.full_text_bytes;
        let read = Deadline::wait(deadline, self.pubmed()?.full_text(pmcid, limit)).await?;
        self.0.cache.insert_full_text(&summary.pmid, read.clone());
        Ok(read)
    }

    /// Returns an article's full text for the page; none if it is not open or PubMed does not respond.
    pub(super) async fn open_full_text(&self, pmid: &str) -> Vec<String> {
        if let Some(known) = self.0.cache.full_text(pmid) {
            return known;
        }
        let Ok(summary) = self.summary_now(pmid, None).await else {
            return Vec::new();
        };
        self.full_text_of(&summary, None).await.unwrap_or_default()
    }
}
