//! The check of cited sources: a quote counts only if the source has these words, white space apart.

use super::Driver;
use parlor_files::split_pages;
use parlor_markup::web_link;
use parlor_model::Toolbox;
use parlor_protocol::{
    Attachment, CitedSource, Message, Passage, ToolCall, ToolStatus,
    passage::{find_passage, quoted_passage},
};
use parlor_storage::StorageError;

/// The maximum size of a file's text in which quotes are looked for, in bytes.
const MAX_FILE_TEXT_BYTES: usize = 4 << 20;

impl Driver<'_> {
    /// Looks for the quotes of the sources. A source of which Parlor has the text, and that is cited without a quote, has a
    /// passage that is not found.
    pub(super) async fn check_sources(&mut self, sources: Vec<CitedSource>) -> Vec<CitedSource> {
        let mut checked = Vec::with_capacity(sources.len());
        for source in sources {
            checked.push(match self.check_source(&source).await {
                Ok(checked) => checked,
                Err(error) => {
                    // It is shown as not found.
                    tracing::error!(%error, "the text of a source can't be read");
                    source
                }
            });
        }
        checked
    }

    async fn check_source(&mut self, source: &CitedSource) -> Result<CitedSource, StorageError> {
        let quote = match &source.passage {
            Some(Passage::NotFound { quote }) => quote.as_str(),
            Some(Passage::Found(_)) | None => "",
        };
        let (runs, user_id) = (self.runs, self.run.user_id);
        let mut source = source.clone();
        let permissions = runs.permissions(user_id).await?;
        let is_allowed = |tool: &str| permissions.allows_tool(tool);
        let stored = runs.pages.stored_text(user_id, &source.url, quote, is_allowed);
        if let Some((stored, url)) = stored.await? {
            let is_web_link = web_link::parse(&source.url).is_some();
            if quote.is_empty() && is_web_link {
                // As any page of the web.
                return Ok(source);
            }
            let parts = find_passage(&stored.paragraphs, quote);
            source.passage = Some(quoted_passage(quote, &stored.paragraphs, &parts, "paragraph"));
            if !parts.is_empty() {
                source.url = url;
            }
            if source.title.trim().is_empty() {
                source.title = stored.title;
            }
            return Ok(source);
        }
        if let Some((file, pages)) = self.cited_file(&source, quote).await? {
            source.title.clone_from(&file.name);
            let parts = find_passage(&pages, quote);
            let unit = if pages.len() > 1 { "page" } else { "" };
            source.passage = Some(quoted_passage(quote, &pages, &parts, unit));
            source.url = file.url();
            if let Some((page, _)) = parts.first().filter(|_| !unit.is_empty()) {
                source.url.push_str(&format!("#page={}", page + 1));
            }
            return Ok(source);
        }
        if source.passage.is_some() {
            let outputs = self.outputs_with(&source.url);
            if outputs.is_empty() {
                // Nobody has seen this page.
                source.url.clear();
            }
            let found = outputs.iter().find_map(|output| {
                let text = [*output];
                let parts = find_passage(&text, quote);
                (!parts.is_empty()).then(|| quoted_passage(quote, &text, &parts, ""))
            });
            source.passage = found.or(source.passage);
        }
        Ok(source)
    }

    /// Returns the file of the conversation or its project that a source names, with its pages. Of several with the name it is
    /// the one that has the quote, or else the newest of the conversation.
    async fn cited_file(
        &mut self,
        source: &CitedSource,
        quote: &str,
    ) -> Result<Option<(Attachment, Vec<String>)>, StorageError> {
        if web_link::parse(&source.url).is_some() {
            return Ok(None);
        }
        let files = self.attached.iter().rev().chain(&self.project_files);
        let named = files.filter(|file| [&source.title, &source.url].contains(&&file.name));
        let named: Vec<Attachment> = named.cloned().collect();
        let mut first = None;
        for file in named {
            let pages = self.file_pages(&file).await?;
            if !find_passage(&pages, quote).is_empty() {
                return Ok(Some((file, pages)));
            }
            first.get_or_insert((file, pages));
        }
        Ok(first)
    }

    /// Returns the text of a file by its pages; the whole text if it has none.
    async fn file_pages(&mut self, file: &Attachment) -> Result<Vec<String>, StorageError> {
        let Some(stored) = self.runs.storage.file(self.run.user_id, file.id).await? else {
            return Ok(Vec::new());
        };
        let text = self.runs.files.read_text(&stored, MAX_FILE_TEXT_BYTES).await;
        let text = text.unwrap_or_else(|error| {
            tracing::error!(%error, "a cited file can't be read");
            None
        });
        let text = text.unwrap_or_default();
        Ok(split_pages(&text).into_iter().map(str::to_owned).collect())
    }

    /// Returns the outputs of finished calls that name a URL, in this answer and those before it. Only tools that find sources
    /// count: any other could have been made to print the passage.
    fn outputs_with(&self, url: &str) -> Vec<&str> {
        let earlier = self.history.iter().filter_map(Message::assistant);
        let calls = earlier
            .chain([self.agent.message()])
            .flat_map(|answer| answer.tool_calls());
        calls
            .filter(|call: &&ToolCall| {
                call.status == ToolStatus::Complete && self.toolbox.finds_sources(&call.tool)
            })
            .filter_map(|call| call.output.as_deref())
            .filter(|output| !url.is_empty() && web_link::contains_url(url, output))
            .collect()
    }
}
