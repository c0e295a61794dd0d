//! The files of a conversation in the form for a model: text as text, images and PDF files as they are, the newest first. A
//! file that is not sent is named instead.

use std::io;

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    control::escape_metadata,
    files::{Files, PDF},
    model::{ModelFile, ModelMessage},
    protocol::{ModelCapabilities, UserId},
    storage::Storage,
};

/// Reads the files of a call.
pub struct FileLoader<'a> {
    pub files: &'a Files,
    pub storage: &'a dyn Storage,
    pub user_id: UserId,
    pub capabilities: &'a ModelCapabilities,
}

/// A message of a call, with the content of its file.
enum Entry {
    Message(ModelMessage),
    /// The text of a file, or the reason why it is not sent: a part of the user's message before it.
    Text(String),
}

impl FileLoader<'_> {
    /// Reads the files among the messages.
    pub async fn load(&self, messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
        let mut left = self.files.settings().model_bytes;
        let mut entries: Vec<Entry> = Vec::with_capacity(messages.len());
        // The newest first, as the room for files is limited; then in their order again.
        for message in messages.into_iter().rev() {
            entries.push(match message {
                ModelMessage::File(file) => self.load_file(file, &mut left).await,
                other => Entry::Message(other),
            });
        }
        let mut loaded: Vec<ModelMessage> = Vec::with_capacity(entries.len());
        for entry in entries.into_iter().rev() {
            match entry {
                Entry::Message(message) => loaded.push(message),
                Entry::Text(text) => append_to_question(&mut loaded, &text),
            }
        }
        loaded
    }

    async fn load_file(&self, file: ModelFile, left: &mut usize) -> Entry {
        let name = escape_metadata(&file.name).into_owned();
        let note = |why: &str| Entry::Text(format!("(The file {name} is not shown to you: {why}.)"));
        let location = match self.storage.file(self.user_id, file.id).await {
            Ok(Some(stored)) => stored.location,
            Ok(None) => return note("it was deleted"),
            Err(error) => {
                tracing::error!(%error, "a file can't be read");
                return note("it can't be read just now");
            }
        };
        let read: io::Result<Entry> = async {
            if file.media_type.starts_with("text/") {
                let limit = self.files.settings().text_bytes;
                let data = self.files.read_beginning(location, limit).await?;
                let text = String::from_utf8_lossy(&data);
                let cut = match file.bytes.saturating_sub(limit) {
                    0 => String::new(),
                    rest => format!("\n[{rest} more bytes are not shown.]"),
                };
                return Ok(Entry::Text(format!(
                    "[File: {name}]\n{}{cut}\n[End of {name}]",
                    escape_metadata(text.trim_end_matches('\u{fffd}'))
                )));
            }
            let data = match file.is_image() {
                true if self.capabilities.image_input == Some(false) => {
                    return Ok(note("you do not see images"));
                }
                true => match self.files.read_prepared_image(location).await? {
                    Some(data) => data,
                    None => return Ok(note("the image can't be read")),
                },
                false if file.media_type == PDF && self.capabilities.pdf_input == Some(true) => {
                    if file.bytes > *left {
                        return Ok(note("there is no room for it; retrieve_file shows it again"));
                    }
                    self.files.read_beginning(location, file.bytes).await?.into()
                }
                false => return Ok(note("you do not read files of this type")),
            };
            if data.len() > *left {
                return Ok(note("there is no room for it; retrieve_file shows it again"));
            }
            *left -= data.len();
            let media_type = match file.is_image() {
                true if data.starts_with(b"\x89PNG") => "image/png",
                true => "image/jpeg",
                false => PDF,
            };
            Ok(Entry::Message(ModelMessage::File(ModelFile {
                media_type: media_type.into(),
                base64: BASE64_STANDARD.encode(&data).into(),
                ..file.clone()
            })))
        }
        .await;
        read.unwrap_or_else(|error| {
            tracing::error!(%error, id = %file.id, "a file can't be read");
            note("it can't be read just now")
        })
    }
}

/// Appends the text of a file to its message. Files stand behind the whole text of their message. A file of a tool has none:
/// the tool's output says enough.
fn append_to_question(messages: &mut [ModelMessage], text: &str) {
    let before = messages.iter_mut().rev();
    let mut before = before.skip_while(|message| matches!(message, ModelMessage::File(_)));
    if let Some(ModelMessage::User(question)) = before.next() {
        if !question.is_empty() {
            question.push_str("\n\n");
        }
        question.push_str(text);
    }
}
