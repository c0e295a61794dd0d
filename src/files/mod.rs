//! Files of users and of tools: their contents in the data folder, their upload, and the form in which models get them.
//!
//! The row of a file in the database is the truth. A content is complete on the disk before its row is committed, and is
//! deleted after its row: a crash in between leaves a content without a row, which the next start deletes.

use std::{io, path::Path, sync::Arc};

use bytes::Bytes;
use tokio::io::AsyncReadExt;

use self::{
    contents::{Contents, Variant},
    prepare::PrepareError,
};
pub use self::{image_reader::run as read_image, sweep::sweep_periodically, upload::UploadError};
use crate::{
    journal::Journal,
    protocol::{Attachment, attachment::AttachmentDisplay},
    settings::{FileSettings, Settings},
    storage::{FileLocation, Storage, StorageError, StoredFile},
};

mod contents;
mod image_reader;
mod media_type;
mod migration;
mod prepare;
mod sweep;
mod upload;

/// The folder of the contents in the data folder.
const FOLDER_NAME: &str = "files";

/// All files. Clones refer to the same ones.
#[derive(Clone)]
pub struct Files(Arc<Inner>);

struct Inner {
    contents: Contents,
    storage: Arc<dyn Storage>,
    journal: Journal,
    settings: FileSettings,
}

impl Files {
    /// Opens the folder of files, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// If the folder can't be used.
    pub fn open(
        data: &Path,
        storage: Arc<dyn Storage>,
        journal: Journal,
        settings: &Settings,
    ) -> Result<Self, StorageError> {
        Ok(Self(Arc::new(Inner {
            contents: Contents::open(&data.join(FOLDER_NAME))?,
            storage,
            journal,
            settings: settings.files.clone(),
        })))
    }

    /// Opens the content of a file, as it was uploaded.
    ///
    /// # Errors
    ///
    /// If it is not there or can't be read.
    pub async fn open_content(&self, location: FileLocation) -> io::Result<tokio::fs::File> {
        self.0.contents.read(location, Variant::Original).await
    }

    /// Reads an image in the form for models: upright, without metadata, scaled. Without one, the image could not be read.
    ///
    /// # Errors
    ///
    /// If the content can't be read.
    pub async fn read_prepared_image(&self, location: FileLocation) -> io::Result<Option<Bytes>> {
        match self.0.contents.read(location, Variant::Prepared).await {
            Ok(mut file) => {
                let mut data = Vec::new();
                file.read_to_end(&mut data).await?;
                Ok(Some(data.into()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads at most the first `limit` bytes of a file.
    ///
    /// # Errors
    ///
    /// If the content can't be read.
    pub async fn read_beginning(&self, location: FileLocation, limit: usize) -> io::Result<Vec<u8>> {
        let file = self.open_content(location).await?;
        let mut data = Vec::new();
        file.take(limit as u64).read_to_end(&mut data).await?;
        Ok(data)
    }

    /// Reads the beginning of a text file for a model, with the file's name and the number of bytes that are left out.
    ///
    /// # Errors
    ///
    /// If the content can't be read.
    pub async fn read_text(&self, file: &StoredFile, limit: usize) -> io::Result<String> {
        let StoredFile {
            attachment, location, ..
        } = file;
        let data = self.read_beginning(*location, limit).await?;
        let text = String::from_utf8_lossy(&data);
        let cut = match attachment.bytes.saturating_sub(data.len()) {
            0 => String::new(),
            rest => format!("\n[{rest} more bytes are not shown.]"),
        };
        // The last character may be cut.
        let text = text.trim_end_matches('\u{fffd}');
        Ok(format!("[File: {}]\n{text}{cut}", attachment.name))
    }

    /// Writes the content of a tool's file. Its row is committed later, with the run's output.
    ///
    /// # Errors
    ///
    /// If the content can't be written.
    pub async fn write_tool_file(&self, mut file: StoredFile, data: &[u8]) -> io::Result<StoredFile> {
        let mut content = self.0.contents.create(file.location, Variant::Original).await?;
        content.write(data).await?;
        content.keep().await?;
        if is_image(&file.attachment) {
            match self.prepare_image(file.location).await {
                Ok((width, height)) => {
                    (file.attachment.width, file.attachment.height) = (Some(width), Some(height));
                }
                // The user can look at it all the same.
                Err(error) => tracing::warn!(%error, "an image of a tool can't be read for models"),
            }
        }
        Ok(file)
    }

    /// Makes the form of an image for models. Returns the upright width and height of the original.
    async fn prepare_image(&self, location: FileLocation) -> Result<(usize, usize), PrepareError> {
        prepare::prepare_image(&self.0.contents, location, &self.0.settings).await
    }

    /// Returns the settings of files.
    pub fn settings(&self) -> &FileSettings {
        &self.0.settings
    }
}

/// Returns true if a file is an image of a type that browsers and models know.
pub fn is_image(file: &Attachment) -> bool {
    AttachmentDisplay::for_media_type(&file.media_type) == AttachmentDisplay::Image
}

/// Returns true for the media type of a text.
pub fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
}

/// The media type of PDF files.
pub const PDF: &str = "application/pdf";
