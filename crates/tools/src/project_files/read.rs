//! The reading of a whole file, in parts.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{Tool, ToolContext, ToolError, ToolKind, ToolResult},
    project_of,
};
use parlor_files::{Files, is_image, page_ranges};
use parlor_protocol::tool_kind;
use parlor_storage::{Storage, StoredFile, search::passages};

/// The length of a part, in bytes: the output of a tool has room for it.
const PART_BYTES: usize = 40 << 10;

/// The tool, which is offered in projects with images, or with texts that the model is not given whole.
pub struct ReadProjectFile {
    pub storage: Arc<dyn Storage>,
    pub files: Files,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The name of the file.
    file: String,
    /// The page from which on it is read. Only for files with pages.
    #[serde(default)]
    page: Option<usize>,
    /// The number of the part, from 1: long texts are read in parts.
    #[serde(default)]
    part: Option<usize>,
}

impl Tool for ReadProjectFile {
    type Input = Input;

    const KIND: ToolKind = tool_kind::READ_PROJECT_FILE;
    const DESCRIPTION: &'static str =
        "Shows you a file of the person's project: an image, or the text of a document, a long one in parts.";
    const LABEL: &'static str = "Reading a file of the project";
    const DONE: &'static str = "Read a file of the project";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        Some(input.file.clone())
    }

    async fn run(&self, input: Input, call: ToolContext) -> Result<ToolResult, ToolError> {
        let project = project_of(&*self.storage, &call).await?;
        let name = input.file.trim();
        let same_name = |file: &&StoredFile| file.attachment.name == name;
        let similar = |file: &&StoredFile| file.attachment.name.eq_ignore_ascii_case(name);
        let files = || project.files.iter();
        let Some(stored) = files().find(same_name).or_else(|| files().find(similar)) else {
            let names: Vec<&str> = files().take(100).map(|file| &*file.attachment.name).collect();
            return Err(ToolError(format!(
                "The project has no file “{name}”. Its files: {}.",
                names.join(", ")
            )));
        };
        if is_image(&stored.attachment) {
            return Ok(ToolResult {
                text: format!("{} follows.", stored.attachment.name),
                known_files: vec![stored.attachment.clone()],
                ..ToolResult::default()
            });
        }
        let text = text_of(&self.files, stored).await?;
        if text.trim().is_empty() {
            let problem = stored.attachment.problem.map(|problem| problem.note());
            return Err(ToolError(format!(
                "{} has no text ({}). {}",
                stored.attachment.name,
                stored.attachment.media_type,
                problem.unwrap_or_default()
            )));
        }
        part_of(&text, &stored.attachment.name, &input).map(Into::into)
    }
}

/// Returns the text of a file, without its name; empty if it has none.
pub(super) async fn text_of(files: &Files, file: &StoredFile) -> Result<String, ToolError> {
    let read = files.read_text(file, passages::MAX_FILE_BYTES).await;
    let text = read.map_err(|error| {
        tracing::error!(%error, "a file of a project can't be read");
        ToolError::unavailable()
    })?;
    // The first line has the name. What is indexed begins after it, so the numbers of passages fit.
    let text = text.as_deref().and_then(|text| text.split_once('\n'));
    Ok(text.map_or(String::new(), |(_, text)| text.to_owned()))
}

/// Returns what is asked for of a text, with notes about the rest.
fn part_of(text: &str, name: &str, input: &Input) -> Result<String, ToolError> {
    let pages = page_ranges(text);
    let start = match input.page {
        None | Some(0..=1) => 0,
        Some(page) => match pages.get(page - 1) {
            Some(range) => range.start,
            None if pages.is_empty() => {
                return Err(ToolError(format!("{name} has no pages. Name a part instead.")));
            }
            None => {
                let count = pages.len();
                return Err(ToolError(format!("Of {name} pages 1 to {count} can be read.")));
            }
        },
    };
    let parts = passages::cut(text.get(start..).unwrap_or_default(), PART_BYTES);
    let number = input.part.unwrap_or(1).max(1);
    let Some(part) = parts.get(number - 1) else {
        return Err(ToolError(match parts.len() {
            0 => format!("{name} has no text from there on."),
            count => format!("There is no part {number}: there are {count}."),
        }));
    };
    let from = match input.page {
        Some(page) if start > 0 => format!(" from page {page} on"),
        _ => String::new(),
    };
    let mut read = format!("[File: {name}{from}");
    if parts.len() > 1 {
        read.push_str(&format!(", part {number} of {}", parts.len()));
    }
    read.push_str("]\n");
    read.push_str(part.trim_end());
    Ok(read)
}
