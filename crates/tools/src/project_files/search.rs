//! The search.

use std::{
    collections::hash_map::{Entry, HashMap},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{
        Tool, ToolContext, ToolError, ToolKind, ToolResult,
        phrasings::{self, JoinedHits, searches},
    },
    project_of,
    read::text_of,
    unavailable,
};
use parlor_files::{Files, PagePart, parts_by_page};
use parlor_protocol::{AttachmentId, tool_kind};
use parlor_storage::{
    Storage,
    projects::FoundPassage,
    search::{SearchQuery, passages, snippet},
};

/// The most passages that are given.
const MAX_PASSAGES: usize = 8;

/// The length of the text around what was found, in bytes.
const TEXT_BYTES: usize = 1500;

/// The tool, which is offered in projects whose files are not given whole.
pub struct SearchProjectFiles {
    pub storage: Arc<dyn Storage>,
    pub files: Files,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What is looked for, in three to six phrasings of a few words each. All words of a phrasing are looked for in one passage, so
    /// use other words in each, and the languages of the files.
    phrasings: Vec<String>,
}

impl Tool for SearchProjectFiles {
    type Input = Input;

    const KIND: ToolKind = tool_kind::SEARCH_PROJECT_FILES;
    const DESCRIPTION: &'static str = "Searches the files of the person's project, and gives you passages with file and page. Give it several phrasings; if nothing \
         fits, try once more with other words.";
    const LABEL: &'static str = "Searching the project’s files";
    const DONE: &'static str = "Searched the project’s files";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        phrasings::detail(&input.phrasings)
    }

    async fn run(&self, input: Input, call: ToolContext) -> Result<ToolResult, ToolError> {
        let searches = searches(&input.phrasings)?;
        let project = project_of(&*self.storage, &call).await?;
        let mut found = JoinedHits::default();
        for (request, weight) in searches {
            let passages = self
                .storage
                .search_project_files(call.user_id, project.id, &request);
            let passages = passages.await.map_err(unavailable)?.into_iter();
            let with_query = passages.map(|mut found| {
                // One that has the name shows the beginning.
                found.passage = found.passage.max(1);
                ((found.file_id, found.passage), (found, request.query.clone()))
            });
            found.add(with_query, weight);
        }
        let place = |(found, _): &(FoundPassage, SearchQuery)| (found.file_id, found.passage);
        let found = found.best(MAX_PASSAGES, place);
        let unindexed = self.storage.unindexed_project_files(call.user_id, project.id);
        let unindexed = unindexed.await.map_err(unavailable)?;

        let mut texts: HashMap<AttachmentId, String> = HashMap::new();
        let mut shown = Vec::new();
        for (found, query) in &found {
            let Some(file) = project
                .files
                .iter()
                .find(|file| file.attachment.id == found.file_id)
            else {
                continue;
            };
            let text = match texts.entry(found.file_id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(text_of(&self.files, file).await?),
            };
            let PagePart { page, text } = best_part(text, found.passage, query);
            let text = snippet(text, query, TEXT_BYTES).text;
            shown.push(json!({ "file": file.attachment.name, "page": page, "text": text }));
        }
        let is_unindexed = |id| unindexed.contains(id);
        let names = project.files.iter().map(|file| &file.attachment);
        let unsearched: Vec<&str> = names
            .filter(|file| is_unindexed(&file.id))
            .map(|file| &*file.name)
            .collect();
        let mut result = json!({ "passages": shown });
        if !unsearched.is_empty() {
            result["not_searched_yet"] = unsearched.into();
        }
        Ok(result.to_string().into())
    }
}

/// Returns the part of a passage, on one page, that has most of what was looked for.
fn best_part<'a>(text: &'a str, passage: usize, query: &SearchQuery) -> PagePart<'a> {
    let ranges = passages::ranges(text, passages::MAX_FILE_BYTES);
    let range = ranges.get(passage.saturating_sub(1)).cloned().unwrap_or(0..0);
    let parts = parts_by_page(text, range);
    let marks = |part: &PagePart<'_>| snippet(part.text, query, TEXT_BYTES).marks.len();
    // The first of the best.
    let best = parts.into_iter().rev().max_by_key(marks);
    best.unwrap_or(PagePart { page: None, text: "" })
}
