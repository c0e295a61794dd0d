//! The files of a conversation in the form for a model: text as text, images and PDF files as they are, documents that it does
//! not read as their text, the newest first. A file that is not sent is named instead.

use std::io;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;

use super::ModelConversation;
use parlor_files as files;
use parlor_files::{Files, PDF};
use parlor_model::{ModelFile, ModelMessage, control::escape_metadata, tokens::BYTES_PER_TOKEN};
use parlor_protocol::{FileProblem, ModelCapabilities, UserId, attachment::PLOTLY_CHART};
use parlor_storage::{Storage, StoredFile};

/// The cost of an image in tokens, and of a PDF file besides its size.
const TOKENS_PER_IMAGE: usize = 1500;

/// The bytes of a PDF file per token: most of them are fonts and pictures.
const BYTES_PER_PDF_TOKEN: usize = 50;

/// The reason for which a file is not sent that can't be sent later either.
const NO_ROOM: &str = "there is no room for it";

/// The reason for which an image is not sent after newer files.
const NO_ROOM_YET: &str = "there is no room for it; retrieve_file shows it again";

/// Reads the files of a call.
pub struct FileLoader<'a> {
    pub files: &'a Files,
    pub storage: &'a dyn Storage,
    pub user_id: UserId,
    pub capabilities: &'a ModelCapabilities,
}

/// A message of a call, with the content of its file.
enum FileMessage {
    Message(ModelMessage),
    /// The text of a file, or the reason why it is not sent: a part of the message before it.
    Text(String),
    /// Nothing is sent yet.
    Nothing,
}

/// The form in which a file is sent.
enum FileForm {
    Text,
    Image,
    Pdf,
    /// The file is only named, for this reason.
    Note(&'static str),
}

impl FileLoader<'_> {
    /// Reads the files among the messages.
    pub async fn load(&self, messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
        let mut left = self.files.settings().model_bytes;
        let mut entries: Vec<FileMessage> = Vec::with_capacity(messages.len());
        // The newest first, as the room for files is limited; then in their order again.
        for message in messages.into_iter().rev() {
            entries.push(match message {
                ModelMessage::File(file) => self.load_file(file, &mut left).await,
                other => FileMessage::Message(other),
            });
        }
        let mut loaded: Vec<ModelMessage> = Vec::with_capacity(entries.len());
        for entry in entries.into_iter().rev() {
            match entry {
                FileMessage::Message(message) => loaded.push(message),
                FileMessage::Text(text) => append_to_message(&mut loaded, &text),
                FileMessage::Nothing => {}
            }
        }
        loaded
    }

    async fn load_file(&self, file: ModelFile, left: &mut usize) -> FileMessage {
        let name = escape_metadata(&file.name).into_owned();
        let note = |why: &str| FileMessage::Text(format!("(The file {name} is not shown to you: {why}.)"));
        let stored = match self.storage.file(self.user_id, file.id).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return note("it was deleted"),
            Err(error) => {
                tracing::error!(%error, "a file can't be read");
                return note("it can't be read just now");
            }
        };
        let read: io::Result<FileMessage> = async {
            let data = match self.form(&file, *left) {
                FileForm::Text => {
                    let limit = self.files.settings().text_bytes;
                    let Some(text) = self.files.read_text(&stored, limit).await? else {
                        return Ok(note("it has no text"));
                    };
                    return Ok(FileMessage::Text(format!(
                        "{}\n[End of {name}]",
                        escape_metadata(&text)
                    )));
                }
                FileForm::Image => match self.read_image(&stored).await? {
                    Some(data) if data.len() > self.files.settings().model_bytes => return Ok(note(NO_ROOM)),
                    Some(data) if data.len() > *left => return Ok(note(NO_ROOM_YET)),
                    Some(data) => data,
                    // No page has drawn it.
                    None if files::is_chart(&stored.attachment) => return Ok(FileMessage::Nothing),
                    None => return Ok(note("the image can't be read")),
                },
                FileForm::Pdf => {
                    let data = self.files.read_beginning(stored.location, file.bytes).await?;
                    data.into()
                }
                FileForm::Note(why) => return Ok(note(why)),
            };
            *left = left.saturating_sub(data.len());
            let media_type = match &data[..] {
                data if data.starts_with(b"\x89PNG") => "image/png",
                _ if file.is_image() => "image/jpeg",
                _ => PDF,
            };
            Ok(FileMessage::Message(ModelMessage::File(ModelFile {
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

    /// Reads an image in its form for models, or the picture of a chart.
    async fn read_image(&self, file: &StoredFile) -> io::Result<Option<Bytes>> {
        match files::is_chart(&file.attachment) {
            true => self.files.read_chart_picture(file).await,
            false => self.files.read_prepared_image(file.location).await,
        }
    }

    /// Estimates the tokens of the files in a conversation, none of which has been read.
    pub fn estimate(&self, conversation: &mut ModelConversation) {
        let mut left = self.files.settings().model_bytes;
        let turns = conversation.turns.iter_mut().map(|turn| &mut turn.messages);
        let messages = turns.chain([&mut conversation.current_turn]).rev();
        for message in messages.flat_map(|messages| messages.iter_mut().rev()) {
            if let ModelMessage::File(file) = message {
                file.tokens = self.estimate_file(file, &mut left);
            }
        }
    }

    /// Images have about the same number of tokens in all of the large models.
    fn estimate_file(&self, file: &ModelFile, left: &mut usize) -> usize {
        match self.form(file, *left) {
            FileForm::Text => {
                let bytes = file.text_bytes.unwrap_or(file.bytes);
                bytes.min(self.files.settings().text_bytes) / BYTES_PER_TOKEN
            }
            FileForm::Image => TOKENS_PER_IMAGE,
            FileForm::Pdf => {
                *left -= file.bytes;
                TOKENS_PER_IMAGE + file.bytes / BYTES_PER_PDF_TOKEN
            }
            FileForm::Note(_) => 0,
        }
    }

    /// Returns the form in which a file is sent if there is room for so many bytes. The size of an image is known once
    /// it is read.
    fn form(&self, file: &ModelFile, left: usize) -> FileForm {
        if file.problem == Some(FileProblem::Deleted) {
            return FileForm::Note("it was deleted");
        }
        if file.is_image() || file.media_type == PLOTLY_CHART {
            return match self.capabilities.image_input {
                Some(false) => FileForm::Note("you do not see images"),
                _ => FileForm::Image,
            };
        }
        let is_native = files::is_native_pdf(&file.media_type, file.problem, self.capabilities);
        if is_native && file.bytes <= left {
            return FileForm::Pdf;
        }
        if file.text_bytes.is_some() || files::is_text(&file.media_type) && file.problem.is_none() {
            return FileForm::Text;
        }
        FileForm::Note(match file.problem {
            _ if is_native => NO_ROOM,
            Some(FileProblem::NoText) => "it has no text, only images",
            Some(FileProblem::Encrypted) => "it needs a password",
            Some(FileProblem::Damaged) => "it is damaged",
            Some(FileProblem::TooComplex) => "it is too large to be read",
            Some(FileProblem::Deleted) => "it was deleted",
            // Code that the model writes may read it.
            None => "only code can read files of this type",
        })
    }
}

/// Appends the text of a file to its message: files follow the whole text of their message, and those of tools
/// all outputs.
fn append_to_message(messages: &mut [ModelMessage], text: &str) {
    let before = messages.iter_mut().rev();
    let mut before = before.skip_while(|message| matches!(message, ModelMessage::File(_)));
    if let Some(ModelMessage::User(before) | ModelMessage::Tool { output: before, .. }) = before.next() {
        if !before.is_empty() {
            before.push_str("\n\n");
        }
        before.push_str(text);
    }
}
