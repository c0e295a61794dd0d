//! Tools of the page *Literature*: saving an article, which needs approval, and listing the saved ones.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Literature,
    context::article_line,
    read_article::ReadArticle,
    stream_tools::{ChangeStream, DeleteStream, ListStreams, SaveStream},
};
use parlor_protocol::{literature::LiteratureFields, report::ReportsFields};
use parlor_tools::{AnyTool, OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult, any_tool};

/// The maximum number of saved articles in one tool result.
const MAX_LISTED_ARTICLES: usize = 50;

/// Returns the tools of the page. Its [definition](super::LITERATURE) says where each is offered.
pub(super) fn all_tools(literature: &Literature) -> Vec<Arc<dyn AnyTool>> {
    vec![
        any_tool(SaveArticle(literature.clone())),
        any_tool(ReadArticle(literature.clone())),
        any_tool(WriteNote(literature.clone())),
        any_tool(ListSavedArticles(literature.clone())),
        any_tool(ListStreams(literature.clone())),
        any_tool(SaveStream(literature.clone())),
        any_tool(ChangeStream(literature.clone())),
        any_tool(DeleteStream(literature.clone())),
    ]
}

pub struct SaveArticle(Literature);

#[derive(Deserialize, JsonSchema)]
pub struct SaveArticleInput {
    /// The article's PMID, a number. Leave it out for the open one.
    #[serde(default)]
    pmid: String,
    /// Why it matters, in a sentence or two, for the person to read later. Leave it out if there is nothing to say.
    note: Option<String>,
}

impl Tool for SaveArticle {
    type Input = SaveArticleInput;

    const KIND: ToolKind = ToolKind::plain("save_article");
    const DESCRIPTION: &'static str = "Puts an article of PubMed among the person's saved articles: the open one, or one by its PMID. The person is asked before it \
         happens. Use it when they want an article kept. An article that is saved already keeps the note that it has.";
    const LABEL: &'static str = "Saving an article";
    const DONE: &'static str = "Saved an article";
    const IS_IDEMPOTENT: bool = true;
    const NEEDS_APPROVAL: bool = true;

    fn complete(&self, input: &mut SaveArticleInput, open: OpenItems<'_>) -> Result<(), String> {
        open_article(&mut input.pmid, open)
    }

    /// Returns the article's title (if cached) and PMID, with the note.
    fn detail(&self, input: &SaveArticleInput) -> Option<String> {
        let article = self.0.name_article(&input.pmid);
        let note = input.note.as_deref().filter(|note| !note.trim().is_empty());
        Some(note.map_or(article.clone(), |note| format!("{article}. Note: {note}")))
    }

    async fn run(&self, input: SaveArticleInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let note = input.note.unwrap_or_default();
        let saved = self.0.save(call.user_id, &input.pmid, &note, None).await?;
        let article = article_line(&saved.article);
        Ok(if saved.has_note_conflict {
            format!(
                "It is among the saved articles already, with another note, which stays as it is: {article}"
            )
        } else {
            format!("It is among the saved articles now: {article}")
        }
        .into())
    }
}

/// Sets the PMID of a call that names none: the open article's, on a page that has articles.
pub(super) fn open_article(pmid: &mut String, open: OpenItems<'_>) -> Result<(), String> {
    if pmid.trim().is_empty() {
        let of_literature = || open.on_page::<LiteratureFields>()?.article_id;
        let of_report = || open.on_page::<ReportsFields>()?.article_id;
        *pmid = of_literature()
            .or_else(of_report)
            .ok_or("No article is open. Name one by its PMID.")?;
    }
    Ok(())
}

impl Literature {
    /// Returns an article's title, if it is known already, and its PMID.
    pub(super) fn name_article(&self, pmid: &str) -> String {
        match self.0.cache.article(pmid) {
            Some(article) => format!("{} (PMID {pmid})", article.title),
            None => format!("PMID {pmid}"),
        }
    }
}

/// Sets the note of a saved article.
pub struct WriteNote(Literature);

#[derive(Deserialize, JsonSchema)]
pub struct WriteNoteInput {
    /// The new note, in place of the present one.
    note: String,
    /// The article's PMID. Leave it out for the open one.
    #[serde(default)]
    pmid: String,
}

impl Tool for WriteNote {
    type Input = WriteNoteInput;

    const KIND: ToolKind = ToolKind::plain("write_note");
    const DESCRIPTION: &'static str = "Replaces the person's note about a saved article: the open one, or one by its PMID. The person is asked before it happens.";
    const LABEL: &'static str = "Writing a note";
    const DONE: &'static str = "Wrote a note";
    const IS_IDEMPOTENT: bool = true;
    const NEEDS_APPROVAL: bool = true;

    fn complete(&self, input: &mut WriteNoteInput, open: OpenItems<'_>) -> Result<(), String> {
        open_article(&mut input.pmid, open)
    }

    fn detail(&self, input: &WriteNoteInput) -> Option<String> {
        Some(format!(
            "{}. Note: {}",
            self.0.name_article(&input.pmid),
            input.note
        ))
    }

    async fn run(&self, input: WriteNoteInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let WriteNoteInput { note, pmid } = input;
        let saved = self.0.saved_note(call.user_id, &pmid).await?;
        let Some(before) = saved else {
            return Err(ToolError::new(
                "The article is not among the saved ones, so it has no note. Save it with the note.",
            ));
        };
        self.0.set_note(call.user_id, pmid, &note, vec![before]).await?;
        Ok("The note is written.".to_owned().into())
    }
}

pub struct ListSavedArticles(Literature);

#[derive(Deserialize, JsonSchema)]
pub struct ListArticlesInput {
    /// Words that must all be in the article (title, authors, journal, date, PMID) or in its note. Without it, all are listed.
    filter: Option<String>,
}

impl Tool for ListSavedArticles {
    type Input = ListArticlesInput;

    const KIND: ToolKind = ToolKind::plain("list_saved_articles");
    const DESCRIPTION: &'static str =
        "Lists the articles that the person has saved, newest first, with their notes.";
    const LABEL: &'static str = "Looking at the saved articles";
    const DONE: &'static str = "Looked at the saved articles";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &ListArticlesInput) -> Option<String> {
        input.filter.clone()
    }

    async fn run(&self, input: ListArticlesInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let library = self.0.library(call.user_id).await?;
        let words = input.filter.unwrap_or_default();
        let found: Vec<_> = library
            .articles
            .iter()
            .filter(|saved| saved.matches(&words))
            .collect();
        let mut lines: Vec<String> = found
            .iter()
            .take(MAX_LISTED_ARTICLES)
            .map(|saved| match saved.note.as_str() {
                "" => article_line(&saved.article),
                note => format!("{} Note: {note}", article_line(&saved.article)),
            })
            .collect();
        match found.len() {
            0 => lines.push("There are none.".into()),
            many if many > MAX_LISTED_ARTICLES => {
                lines.push(format!(
                    "{} more are not listed: use the filter.",
                    many - MAX_LISTED_ARTICLES
                ));
            }
            _ => {}
        }
        Ok(lines.join("\n").into())
    }
}
