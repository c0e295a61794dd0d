//! The files of a conversation's project, as a run uses them: whole in the prompt if they fit, otherwise by tools.

use super::super::Inner;
use parlor_files::{is_image, is_text};
use parlor_pages::{ProjectFilesText, fence_text};
use parlor_protocol::{Attachment, number_format::format_size};
use parlor_providers::Models;
use parlor_storage::{StoredFile, projects::ProjectInUse};
use parlor_tools::{ReadProjectFile, SearchProjectFiles, Tool};

/// The most files that a prompt lists. The tools find the others, too.
const MAX_LISTED: usize = 100;

/// The share of a context window that whole texts may use, as a divisor, and the tokens of a window that is not known.
const WINDOW_DIVISOR: usize = 4;
const UNKNOWN_WINDOW: usize = 32_000;

/// The bytes of text for which a token is reckoned: fewer than most scripts have.
const MIN_BYTES_PER_TOKEN: usize = 3;

/// The files of a project, for the prompt and the tools of a run.
#[derive(Default)]
pub struct UsedFiles {
    /// The files, for quotes.
    pub attachments: Vec<Attachment>,
    /// The section of the prompt, if the tools are offered.
    text: ProjectFilesText,
    /// The tools that read them.
    pub tools: Vec<&'static str>,
}

impl UsedFiles {
    /// Returns the section of the prompt with these tools: the user may not be allowed to use the others.
    pub fn text_for(&self, offered: &[String]) -> ProjectFilesText {
        let has_search = offered.iter().any(|name| name == SearchProjectFiles::NAME);
        match &self.text {
            ProjectFilesText::Listed(names) if !has_search => ProjectFilesText::Unreadable(names.clone()),
            text => text.clone(),
        }
    }
}

/// Reads the files of a project for a run with a model.
pub async fn use_files(
    runs: &Inner,
    models: &Models,
    model: &str,
    project: Option<&ProjectInUse>,
) -> UsedFiles {
    let Some(project) = project.filter(|project| !project.files.is_empty()) else {
        return UsedFiles::default();
    };
    let files = &project.files;
    let attachments = files.iter().map(|file| file.attachment.clone()).collect();
    let bytes: usize = files.iter().map(|file| text_bytes(&file.attachment)).sum();
    let is_small = bytes <= runs.projects.whole_text_bytes && {
        let window = models.context_window(model).await.unwrap_or(UNKNOWN_WINDOW);
        bytes / MIN_BYTES_PER_TOKEN <= window / WINDOW_DIVISOR
    };
    if is_small && let Some(whole) = whole_texts(runs, files).await {
        let has_others = files.iter().any(|file| text_bytes(&file.attachment) == 0);
        return UsedFiles {
            attachments,
            text: ProjectFilesText::Whole(whole),
            tools: match has_others {
                true => vec![ReadProjectFile::NAME],
                false => Vec::new(),
            },
        };
    }
    UsedFiles {
        attachments,
        text: ProjectFilesText::Listed(list(files.iter())),
        tools: vec![SearchProjectFiles::NAME, ReadProjectFile::NAME],
    }
}

/// Returns the size of the text that a model can get of a file, in bytes.
fn text_bytes(file: &Attachment) -> usize {
    match file.text_bytes {
        Some(bytes) => bytes,
        None if is_text(&file.media_type) => file.bytes,
        None => 0,
    }
}

/// Returns the texts of all files; `None` if one can't be read, which the tools then report. Names are fenced, too: they are as
/// foreign as the texts.
async fn whole_texts(runs: &Inner, files: &[StoredFile]) -> Option<String> {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for file in files {
        let id = file.attachment.id;
        let read = runs.files.read_text(file, runs.projects.whole_text_bytes).await;
        let text = read
            .inspect_err(|error| tracing::warn!(%error, %id, "a file of a project can't be read"))
            .ok()?;
        match text {
            // It begins with the name.
            Some(text) if text_bytes(&file.attachment) > 0 => texts.push(fence_text(&text)),
            _ => others.push(file),
        }
    }
    if !others.is_empty() {
        texts.push(list(others.into_iter()));
    }
    Some(texts.join("\n\n"))
}

fn list<'a>(files: impl ExactSizeIterator<Item = &'a StoredFile>) -> String {
    let more = files.len().saturating_sub(MAX_LISTED);
    let mut lines: Vec<String> = files
        .take(MAX_LISTED)
        .map(|file| describe(&file.attachment))
        .collect();
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    fence_text(&lines.join("\n"))
}

fn describe(file: &Attachment) -> String {
    let name = &file.name;
    match text_bytes(file) {
        0 if is_image(file) => format!("{name} (an image)"),
        0 => format!("{name} ({}, without text)", file.media_type),
        bytes => format!("{name} ({} of text)", format_size(bytes)),
    }
}
