//! The images of an answer: decoded or fetched, and cleaned.

use bytes::Bytes;

use super::GenerateImage;
use crate::{NewAttachment, ToolContext, ToolError};
use parlor_files::PrepareError;
use parlor_model::{ImageDecodeError, ReceivedImage};

impl GenerateImage {
    /// Reads an image as its model sent it, and makes a file of it without anything but its pixels.
    ///
    /// # Errors
    ///
    /// The sentence for the model.
    async fn read_image(&self, image: ReceivedImage, name: &str) -> Result<NewAttachment, String> {
        let max_bytes = self.settings.max_bytes;
        let not_kept = |why: &str| format!("The image that the model sent {why}, and was not kept.");
        let too_large = || {
            not_kept(&format!(
                "has more than {max_bytes} bytes (setting images.max_bytes)"
            ))
        };
        let data = match image {
            ReceivedImage::Data(image) => image.decode(max_bytes).await.map_err(|error| match error {
                ImageDecodeError::TooLarge { .. } => too_large(),
                ImageDecodeError::Invalid => not_kept("can't be read"),
            })?,
            ReceivedImage::Url(url) => self.fetch(&url).await?,
        };
        let cleaned = self.files.clean_image(data, max_bytes).await;
        let clean = cleaned.map_err(|error| match error {
            PrepareError::TooManyPixels => not_kept("has too many pixels (setting files.max_pixels)"),
            PrepareError::TooLarge { .. } => too_large(),
            PrepareError::Unreadable => not_kept("can't be read"),
            PrepareError::TimedOut => not_kept("took too long to read"),
            PrepareError::QueueFull { .. } | PrepareError::Io(_) => {
                tracing::error!(%error, "an image can't be read");
                not_kept("could not be read just now")
            }
        })?;
        Ok(NewAttachment {
            media_type: clean.media_type.into(),
            name: name.into(),
            data: clean.data,
        })
    }

    /// Reads the images of an answer. Those that can't be kept are noted.
    pub(super) async fn read_images(
        &self,
        images: Vec<ReceivedImage>,
        call: &ToolContext,
        name: &str,
    ) -> Result<(Vec<NewAttachment>, Vec<String>), ToolError> {
        let (mut read, mut notes) = (Vec::new(), Vec::new());
        let mut left_out = 0;
        for image in images {
            // One was asked for and is counted. Some models send a second one.
            if !read.is_empty() && !self.count_image(call).await? {
                left_out += 1;
                continue;
            }
            match self.read_image(image, name).await {
                Ok(image) => read.push(image),
                Err(why) => notes.push(why),
            }
        }
        if left_out > 0 {
            let limit = self.settings.max_count;
            notes.push(format!(
                "The model sent {left_out} more, which were not kept: an answer has at most {limit} images (setting \
                 images.max_count)."
            ));
        }
        Ok((read, notes))
    }

    /// Fetches an image at a URL that a provider gave, which is not trusted.
    async fn fetch(&self, url: &str) -> Result<Bytes, String> {
        let not_fetched = |why: &str| format!("The image was made, but can't be fetched: {why}");
        let Some(web) = &self.web else {
            return Err(not_fetched("this machine can't make safe connections."));
        };
        let download = web.get(url, |_| true).await;
        let download = download.map_err(|error| not_fetched(&error.to_string()))?;
        match download.is_cut {
            true => Err(not_fetched("it is too large (setting images.max_bytes).")),
            false => Ok(download.body.into()),
        }
    }
}
