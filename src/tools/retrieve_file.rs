//! Shows the model a file of an earlier message again, in the user's own conversations only.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolContext, ToolError, ToolResult};
use crate::{
    files::{Files, is_image, is_text},
    protocol::MessageId,
    storage::Storage,
};

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
    /// The number of the file in its message: the part of its id behind the colon.
    file_index: usize,
}

impl RetrieveFile {
    pub fn new(storage: Arc<dyn Storage>, files: Files) -> Self {
        Self { storage, files }
    }
}

impl Tool for RetrieveFile {
    type Input = Input;

    const NAME: &'static str = "retrieve_file";
    const DESCRIPTION: &'static str = "Shows you a file of an earlier message again: an image, or the text of a text file. METADATA before a message list its files.";
    const LABEL: &'static str = "Looking at a file";
    const DONE: &'static str = "Looked at a file";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, input: Input, call: ToolContext) -> Result<ToolResult, ToolError> {
        let no_file = || {
            ToolError(format!(
                "There is no file {}:{}. Use an id of METADATA.",
                input.message_id, input.file_index
            ))
        };
        let id: MessageId = input.message_id.trim().parse().map_err(|_| no_file())?;
        let unavailable = |error| {
            tracing::error!(%error, "a file can't be retrieved");
            ToolError::unavailable()
        };
        let found = self
            .storage
            .message(call.user_id, id)
            .await
            .map_err(unavailable)?;
        let (_, message) = found.ok_or_else(no_file)?;
        let file = message.files().get(input.file_index).copied().cloned();
        let file = file.ok_or_else(no_file)?;
        let stored = self
            .storage
            .file(call.user_id, file.id)
            .await
            .map_err(unavailable)?;
        let stored = stored.ok_or_else(no_file)?;
        if is_image(&file) {
            return Ok(ToolResult {
                text: format!("{} follows.", file.name),
                known_files: vec![file],
                ..ToolResult::default()
            });
        }
        if !is_text(&file.media_type) {
            return Err(ToolError(format!(
                "{} is neither an image nor text ({}).",
                file.name, file.media_type
            )));
        }
        let read = self.files.read_text(&stored, MAX_TEXT_BYTES).await;
        Ok(read
            .map_err(|error| {
                tracing::error!(%error, "a file can't be retrieved");
                ToolError::unavailable()
            })?
            .into())
    }
}
