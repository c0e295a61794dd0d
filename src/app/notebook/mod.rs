//! A conversation as a notebook of Jupyter (nbformat 4.5): the messages of the shown branch as Markdown, and each finished call
//! of code or of a query as a code cell with its output.
//!
//! - [`content`]: the stored pictures and rows; [`cells`]: the cells; [`outputs`]: the outputs of a call

mod cells;
mod content;
mod outputs;
#[cfg(test)]
mod tests;

use self::content::StoredContent;
use super::{Caller, not_found};
use parlor_pages::{data::QueryCell, payloads};
use parlor_protocol::{ApiError, ConversationId, ErrorCode, Message, ToolCall, Transcript};
use parlor_python::Cell;
use parlor_storage::PageSize;

/// The name of a notebook whose conversation has no title.
const UNTITLED: &str = "conversation";

/// A notebook for download.
pub struct NotebookFile {
    pub name: String,
    pub content: Vec<u8>,
}

/// A finished call that is a code cell.
enum CodeCall {
    Python(Cell),
    Query(QueryCell),
}

impl CodeCall {
    /// Returns a call as a cell; `None` if it ran no code, or has not ended by itself.
    fn from_call(call: &ToolCall) -> Option<Self> {
        let python = || Cell::from_call(call).map(Self::Python);
        python().or_else(|| QueryCell::from_call(call).map(Self::Query))
    }
}

/// Returns a conversation as a notebook.
///
/// # Errors
///
/// If the conversation is not found, no code has run in it, or storage fails.
pub async fn export(caller: &Caller, conversation_id: ConversationId) -> Result<NotebookFile, ApiError> {
    let storage = &caller.app.storage;
    let found = storage
        .transcript(caller.user_id, conversation_id, PageSize::UNLIMITED, None)
        .await?;
    let transcript = found.ok_or_else(not_found)?;
    if !has_code(&transcript) {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "No code has run in this conversation, so there is no notebook of it.",
        ));
    }
    let content = StoredContent::load(caller, &transcript).await?;
    let name = match payloads::file_name(&transcript.title) {
        name if name.is_empty() => UNTITLED.into(),
        name => name,
    };
    // Pictures may be many megabytes.
    let written = tokio::task::spawn_blocking(move || {
        serde_json::to_vec(&cells::notebook(&transcript, &content)).map_err(|error| error.to_string())
    });
    let written = written.await.map_err(|error| error.to_string());
    let content = written.and_then(|written| written).map_err(|error| {
        tracing::error!(error, "cannot create a notebook");
        ApiError::new(
            ErrorCode::Internal,
            "The notebook can't be made because of a fault in Parlor. Its log says more.",
        )
    })?;
    Ok(NotebookFile {
        name: format!("{name}.ipynb"),
        content,
    })
}

fn has_code(transcript: &Transcript) -> bool {
    let branch = transcript.shown_branch();
    let mut answers = branch.into_iter().filter_map(Message::assistant);
    answers.any(|answer| {
        answer
            .tool_calls()
            .any(|call| CodeCall::from_call(call).is_some())
    })
}
