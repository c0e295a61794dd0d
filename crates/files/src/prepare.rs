//! The forms of images and documents for models, stored next to their originals.

use std::{io, process::ExitStatus};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{
    Inner,
    child::{ChildError, ReaderOutput, run_reader, run_reader_in_memory},
    contents::ContentForm,
    media_type,
    reader::{
        document::{self, Container, Findings},
        image::{self, ImageForm},
    },
    reader_queue::Origin,
};
use parlor_storage::FileLocation;

/// The reason why an image has no form for models, or a document was not read.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("it has too many pixels")]
    TooManyPixels,
    #[error("it has more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("it can't be read")]
    Unreadable,
    #[error("reading it took too long")]
    TimedOut,
    #[error("{limit} uploads of the user wait already")]
    QueueFull { limit: usize },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<ChildError> for PrepareError {
    fn from(error: ChildError) -> Self {
        match error {
            ChildError::TimedOut => Self::TimedOut,
            ChildError::TooLarge { limit } => Self::TooLarge { limit },
            ChildError::Io(error) => error.into(),
        }
    }
}

/// The last line of the process that reads an image.
#[derive(Debug, Serialize, Deserialize)]
pub struct UprightSize {
    pub width: usize,
    pub height: usize,
}

/// An image that consists of pixels alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanImage {
    pub data: Bytes,
    /// `image/png` or `image/jpeg`.
    pub media_type: &'static str,
    pub width: usize,
    pub height: usize,
}

impl Inner {
    async fn run_reader(
        &self,
        location: FileLocation,
        origin: Origin,
        arguments: &[String],
    ) -> Result<ReaderOutput, PrepareError> {
        let _permit = self.reader_queue.acquire(origin).await?;
        Ok(run_reader(
            &self.contents,
            location,
            ContentForm::Prepared,
            &self.settings,
            arguments,
        )
        .await?)
    }

    /// Writes the form of an image for models next to the original. Returns the upright width and height of the original.
    pub(super) async fn prepare_image(
        &self,
        location: FileLocation,
        origin: Origin,
    ) -> Result<(usize, usize), PrepareError> {
        let arguments = self.image_arguments(ImageForm::ForModels);
        let output = self.run_reader(location, origin, &arguments).await?;
        let size = read_size(output.status, &output.last_line)?;
        output.prepared.keep().await?;
        Ok((size.width, size.height))
    }

    /// Makes a clean image of one of any origin, of at most `max_bytes`.
    pub(super) async fn clean_image(
        &self,
        data: Bytes,
        max_bytes: usize,
    ) -> Result<CleanImage, PrepareError> {
        let arguments = self.image_arguments(ImageForm::Whole);
        let _permit = self.reader_queue.acquire(Origin::Made).await?;
        let output = run_reader_in_memory(data, max_bytes, &self.settings, &arguments).await?;
        let UprightSize { width, height } = read_size(output.status, &output.last_line)?;
        Ok(CleanImage {
            media_type: match output.data.starts_with(b"\x89PNG") {
                true => "image/png",
                false => "image/jpeg",
            },
            data: output.data,
            width,
            height,
        })
    }

    fn image_arguments(&self, form: ImageForm) -> Vec<String> {
        let mut arguments = vec![
            image::SUBCOMMAND.to_owned(),
            self.settings.max_pixels.to_string(),
            self.settings.reader_bytes.to_string(),
        ];
        if form == ImageForm::Whole {
            arguments.push("--whole".into());
        }
        arguments
    }

    /// Writes the form of a document for models next to the original, with at most `text_bytes` of text, and returns what was
    /// found. The name decides the type of one that can't be read.
    pub(super) async fn prepare_document(
        &self,
        location: FileLocation,
        (container, text_bytes): (Container, usize),
        name: &str,
    ) -> Result<Findings, PrepareError> {
        let arguments = [
            document::SUBCOMMAND.to_owned(),
            container.as_str().to_owned(),
            text_bytes.to_string(),
            self.settings.table_rows.to_string(),
            self.settings.reader_bytes.to_string(),
        ];
        let origin = Origin::Upload(location.user_id);
        let mut findings = match self.run_reader(location, origin, &arguments).await {
            Ok(output) => {
                let found: Option<Findings> = serde_json::from_str(&output.last_line).ok();
                match found.filter(|_| output.status.success()) {
                    Some(found) => {
                        if found.text_bytes.is_some() {
                            output.prepared.keep().await?;
                        }
                        found
                    }
                    // A limit ended it, or it could not be written.
                    None => Findings::too_complex(),
                }
            }
            Err(PrepareError::TimedOut) => Findings::too_complex(),
            Err(error) => return Err(error),
        };
        if findings.media_type.is_none() {
            findings.media_type = media_type::document_type(name, container).map(str::to_owned);
        }
        Ok(findings)
    }
}

/// Returns the size of the image that the process has read.
fn read_size(status: ExitStatus, last_line: &str) -> Result<UprightSize, PrepareError> {
    if status.code() == Some(i32::from(image::TOO_MANY_PIXELS)) {
        return Err(PrepareError::TooManyPixels);
    }
    let size: Option<UprightSize> = serde_json::from_str(last_line).ok();
    size.filter(|_| status.success()).ok_or(PrepareError::Unreadable)
}
