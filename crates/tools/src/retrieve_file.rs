//! Shows the model a file of an earlier message again, in the user's own conversations only.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolContext, ToolError, ToolKind, ToolResult, message_file::find_message_file};
use parlor_files::{Files, is_image};
use parlor_storage::Storage;

/// Maximum size of a text, in bytes: the output of a tool has room for it.
const MAX_TEXT_BYTES: usize = 40 << 10;

/// The tool, which is offered in conversations with files.
pub struct RetrieveFile {
    storage: Arc<dyn Storage>,
    files: Files,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The message of the file: the part of its id in METADATA before the colon.
    message_id: String,
    /// The number of the file in its message: the part of its id after the colon.
    file_index: usize,
}

impl RetrieveFile {
    pub fn new(storage: Arc<dyn Storage>, files: Files) -> Self {
        Self { storage, files }
    }
}

impl Tool for RetrieveFile {
    type Input = Input;

    const KIND: ToolKind = ToolKind::plain("retrieve_file");
    const DESCRIPTION: &'static str = "Shows you a file of an earlier message again: an image, or the text of a text file or document. METADATA before a message list its files.";
    const LABEL: &'static str = "Looking at a file";
    const DONE: &'static str = "Looked at a file";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, input: Input, call: ToolContext) -> Result<ToolResult, ToolError> {
        let Input {
            message_id,
            file_index,
        } = input;
        let stored = find_message_file(&*self.storage, call.user_id, &message_id, file_index).await?;
        let file = &stored.attachment;
        if is_image(file) {
            return Ok(ToolResult {
                text: format!("{} follows.", file.name),
                known_files: vec![file.clone()],
                ..ToolResult::default()
            });
        }
        let read = self.files.read_text(&stored, MAX_TEXT_BYTES).await;
        let text = read.map_err(|error| {
            tracing::error!(%error, "a file can't be retrieved");
            ToolError::unavailable()
        })?;
        let text = text.ok_or_else(|| {
            ToolError(format!(
                "{} is neither an image nor a file with text ({}).",
                file.name, file.media_type
            ))
        })?;
        Ok(text.into())
    }
}
