//! Files of users and of tools: their contents in the data folder, their upload, and the form in which models get them.
//!
//! The row of a file in the database is the truth. A content is complete on the disk, and where nodes share it ([`shared`]), before its
//! row is committed, and is deleted after its row: a crash in between leaves a content without a row, which the next start deletes.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::AsyncReadExt;
use uuid::Uuid;

pub use self::{
    chart::{MAX_CHART_PICTURE_BYTES, is_chart},
    copy::{
        FileDigest, FileDigests, content_names, contents_folder, copy_contents, copy_file, digest_file,
        sync_folder,
    },
    pages::{PagePart, page_ranges, parts_by_page, split_pages},
    prepare::{CleanImage, PrepareError},
    reader::{
        document::{DocumentArguments, run as read_document},
        image::{ImageForm, run as read_image},
        tables::{TablesArguments, run as read_tables},
    },
    rows::{NewRows, has_rows},
    shared::{check_bucket, copy_bucket},
    sweep::sweep_periodically,
    tables::TableFileError,
    uncommitted::UncommittedFile,
    upload::{FileOwner, UploadError, UploadHead},
};
use self::{
    contents::{ContentForm, Contents},
    model_text::model_text,
    quota::RunningUploads,
    reader_queue::{Origin, ReaderQueue},
    uncommitted::UncommittedContent,
};
use parlor_base::settings::{FileSettings, FileStore, Settings};
use parlor_journal::Journal;
use parlor_protocol::{
    Attachment, AttachmentId, FilePreview, FileProblem, ModelCapabilities, UserId,
    attachment::AttachmentDisplay,
};
use parlor_storage::{FileLocation, Storage, StorageError, StoredFile};

mod api_error;
mod attached_tables;
mod chart;
mod child;
mod contents;
mod copy;
mod media_type;
mod migration;
mod model_text;
mod pages;
mod prepare;
mod quota;
mod reader;
mod reader_queue;
mod rows;
mod shared;
mod sweep;
mod tables;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod uncommitted;
mod upload;

/// The folder of the contents in the data folder.
const FOLDER_NAME: &str = "files";

/// All files. Clones refer to the same ones.
#[derive(Clone)]
pub struct Files(Arc<Inner>);

struct Inner {
    contents: Contents,
    /// The folder of contents in the data folder, whether they are there or not.
    in_data: PathBuf,
    storage: Arc<dyn Storage>,
    journal: Journal,
    settings: FileSettings,
    reader_queue: ReaderQueue,
    running_uploads: RunningUploads,
    /// The reasons why files have no tables, by their stored names, until the server ends.
    unreadable_tables: Mutex<HashMap<Uuid, String>>,
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
        let shared = shared::open(settings.files.store.as_ref(), &storage)?;
        let in_data = data.join(FOLDER_NAME);
        let folder = match &settings.files.store {
            Some(FileStore::Folder(folder)) => folder,
            _ => &*in_data,
        };
        Ok(Self(Arc::new(Inner {
            contents: Contents::open(folder, shared)?,
            in_data,
            storage,
            journal,
            settings: settings.files.clone(),
            reader_queue: ReaderQueue::new(&settings.files),
            running_uploads: RunningUploads::default(),
            unreadable_tables: Mutex::default(),
        })))
    }

    /// Returns a file of a user; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn find(&self, user_id: UserId, id: AttachmentId) -> Result<Option<StoredFile>, StorageError> {
        self.0.storage.file(user_id, id).await
    }

    /// Opens the content of a file, as it was uploaded.
    ///
    /// # Errors
    ///
    /// If it is not there or can't be read.
    pub async fn open_content(&self, location: FileLocation) -> io::Result<tokio::fs::File> {
        self.0.contents.read(location, ContentForm::Original).await
    }

    /// Reads an image in the form for models: upright, without metadata, scaled. Without one, the image could not be read.
    ///
    /// # Errors
    ///
    /// If the content can't be read.
    pub async fn read_prepared_image(&self, location: FileLocation) -> io::Result<Option<Bytes>> {
        match self.0.contents.read(location, ContentForm::Prepared).await {
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

    /// Reads a text file or the text of a document for a model, with the file's name and notes about what is left out.
    /// `None` if the file has no text.
    ///
    /// # Errors
    ///
    /// If the content can't be read.
    pub async fn read_text(&self, file: &StoredFile, limit: usize) -> io::Result<Option<String>> {
        let StoredFile {
            attachment, location, ..
        } = file;
        if let Some(preview) = self.read_preview(file).await? {
            return Ok(Some(model_text(&attachment.name, &preview, limit)));
        }
        if !is_text(&attachment.media_type) {
            return Ok(None);
        }
        let data = self.read_beginning(*location, limit).await?;
        let text = String::from_utf8_lossy(&data);
        let cut = match attachment.bytes.saturating_sub(data.len()) {
            0 => String::new(),
            rest => format!("\n[{rest} more bytes are not shown.]"),
        };
        // The last character may be cut.
        let text = text.trim_end_matches('\u{fffd}');
        Ok(Some(format!("[File: {}]\n{text}{cut}", attachment.name)))
    }

    /// Reads the text or the tables of a document. `None` if it has none, or the file is not a document.
    ///
    /// # Errors
    ///
    /// If they can't be read.
    pub async fn read_preview(&self, file: &StoredFile) -> io::Result<Option<FilePreview>> {
        if file.attachment.text_bytes.is_none() {
            return Ok(None);
        }
        let mut content = self.0.contents.read(file.location, ContentForm::Prepared).await?;
        let mut data = Vec::new();
        content.read_to_end(&mut data).await?;
        Ok(Some(serde_json::from_slice(&data)?))
    }

    /// Writes the content of a file of a tool or model. It is deleted again unless the file is committed.
    ///
    /// # Errors
    ///
    /// If the content can't be written.
    pub async fn write_tool_file(&self, mut file: StoredFile, data: &[u8]) -> io::Result<UncommittedFile> {
        let guard = UncommittedContent::new(self.0.clone(), file.location);
        let mut content = self
            .0
            .contents
            .create(file.location, ContentForm::Original)
            .await?;
        content.write(data).await?;
        content.keep().await?;
        if is_image(&file.attachment) {
            match self.0.prepare_image(file.location, Origin::Made).await {
                Ok((width, height)) => {
                    (file.attachment.width, file.attachment.height) = (Some(width), Some(height));
                }
                // The user can look at it all the same.
                Err(error) => tracing::warn!(%error, "an image of a tool can't be read for models"),
            }
        }
        Ok(UncommittedFile { file, content: guard })
    }

    /// Makes a clean image of one of any origin, in a process of its own: upright, with all its pixels and nothing else.
    ///
    /// # Errors
    ///
    /// If it can't be read, or has more than `max_bytes` then.
    pub async fn clean_image(&self, data: Bytes, max_bytes: usize) -> Result<CleanImage, PrepareError> {
        self.0.clean_image(data, max_bytes).await
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

/// Returns true if a model gets a PDF file as it is. An encrypted or damaged one is not sent.
pub fn is_native_pdf(
    media_type: &str,
    problem: Option<FileProblem>,
    capabilities: &ModelCapabilities,
) -> bool {
    media_type == PDF
        && capabilities.pdf_input == Some(true)
        && !matches!(problem, Some(FileProblem::Encrypted | FileProblem::Damaged))
}

/// The media type of notebooks.
pub const IPYNB: &str = "application/x-ipynb+json";

/// The media type of PDF files.
pub const PDF: &str = "application/pdf";
