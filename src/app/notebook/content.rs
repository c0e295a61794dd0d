//! The stored content of a notebook: the pictures of its calls, and the rows of its queries.

use std::collections::HashMap;

use bytes::Bytes;

use super::CodeCall;
use crate::app::{Caller, files::chart_picture, payloads};
use parlor_files::is_chart;
use parlor_pages::data::rows_as_markdown;
use parlor_protocol::{
    ApiError, AssistantMessage, Attachment, AttachmentId, ErrorCode, Message, ToolCall, Transcript,
};
use parlor_storage::StorageError;

/// The maximum size of all pictures, in bytes. The whole notebook is in memory, and in that of the program that opens it.
const MAX_PICTURES_BYTES: usize = 32 << 20;

/// A picture of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Picture {
    Read(Bytes),
    /// The picture is not in the notebook, for this reason.
    Missing(&'static str),
}

/// The stored content.
#[derive(Debug, Default)]
pub struct StoredContent {
    pub pictures: HashMap<AttachmentId, Picture>,
    /// The stored pictures of charts, whose JSON is among `pictures`.
    pub chart_pictures: HashMap<AttachmentId, Bytes>,
    /// The first rows of queries as Markdown, by payload.
    pub tables: HashMap<String, String>,
}

/// Returns true for the type of a picture that notebooks have, or of a chart.
pub fn is_picture(file: &Attachment) -> bool {
    matches!(&*file.media_type, "image/png" | "image/jpeg") || is_chart(file)
}

impl StoredContent {
    /// Loads the content of all calls of the shown branch.
    pub async fn load(caller: &Caller, transcript: &Transcript) -> Result<Self, ApiError> {
        let mut content = Self::default();
        let mut left = MAX_PICTURES_BYTES;
        let branch = transcript.shown_branch();
        let answers = branch.into_iter().filter_map(Message::assistant);
        let calls: Vec<&ToolCall> = answers.flat_map(AssistantMessage::tool_calls).collect();
        for call in calls {
            match CodeCall::from_call(call) {
                Some(CodeCall::Python(_)) => content.load_pictures(caller, call, &mut left).await?,
                Some(CodeCall::Query(query)) => {
                    let Some(id) = query.payload_id else { continue };
                    let table =
                        payloads::convert(caller, transcript.conversation_id, &id, rows_as_markdown).await;
                    match table {
                        Ok(table) => content.tables.extend(table.map(|table| (id, table))),
                        Err(error) if error.code == ErrorCode::NotFound => {}
                        Err(error) => return Err(error),
                    }
                }
                None => {}
            }
        }
        Ok(content)
    }

    async fn load_pictures(
        &mut self,
        caller: &Caller,
        call: &ToolCall,
        left: &mut usize,
    ) -> Result<(), ApiError> {
        for file in call.attachments.iter().filter(|file| is_picture(file)) {
            let picture = load_picture(caller, file, *left).await?;
            if let Picture::Read(data) = &picture {
                *left = left.saturating_sub(data.len());
                if is_chart(file) {
                    self.load_chart_picture(caller, file, left).await?;
                }
            }
            self.pictures.insert(file.id, picture);
        }
        Ok(())
    }

    async fn load_chart_picture(
        &mut self,
        caller: &Caller,
        file: &Attachment,
        left: &mut usize,
    ) -> Result<(), ApiError> {
        let app = &caller.app;
        let Some(stored) = app.storage.file(caller.user_id, file.id).await? else {
            return Ok(());
        };
        let picture = chart_picture(app, &stored).await?;
        if let Some(picture) = picture.filter(|picture| picture.len() <= *left) {
            *left -= picture.len();
            self.chart_pictures.insert(file.id, picture);
        }
        Ok(())
    }
}

async fn load_picture(caller: &Caller, file: &Attachment, left: usize) -> Result<Picture, ApiError> {
    let app = &caller.app;
    if file.bytes > left {
        return Ok(Picture::Missing("left out: the notebook has too many"));
    }
    let Some(stored) = app.storage.file(caller.user_id, file.id).await? else {
        return Ok(Picture::Missing("deleted"));
    };
    match app.files.read_beginning(stored.location, file.bytes).await {
        Ok(data) => Ok(Picture::Read(data.into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Picture::Missing("missing")),
        Err(error) => {
            tracing::error!(%error, id = %file.id, "a picture can't be read");
            Err(StorageError::from(error).kind().into())
        }
    }
}
