//! Requests for images, and their answers.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{ModelError, ModelErrorKind, ReportedUsage};
use parlor_protocol::RunError;

/// The permits of decoding images: each needs several times its size.
static DECODERS: Semaphore = Semaphore::const_new(2);

/// The request form of an image model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageApi {
    /// OpenAI's images API: `/images/generations` and `/images/edits`.
    Images,
    /// Google's `generateContent`.
    GenerateContent,
    /// Chat completions of a model that returns images in its answer.
    Chat,
}

/// The shape of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageShape {
    #[default]
    Square,
    Landscape,
    Portrait,
}

impl ImageShape {
    /// Returns the shape of an image with this width and height.
    pub fn from_size(width: usize, height: usize) -> Self {
        // Halfway, by factors, between 1 : 1 and 3 : 2.
        let is_longer = |long: usize, short: usize| long.saturating_mul(9) > short.saturating_mul(11);
        if is_longer(width, height) {
            Self::Landscape
        } else if is_longer(height, width) {
            Self::Portrait
        } else {
            Self::Square
        }
    }
}

/// A width and a height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    pub width: usize,
    pub height: usize,
}

/// An image that is to be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceImage {
    pub media_type: &'static str,
    pub data: Bytes,
}

/// A request for one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRequest {
    pub prompt: String,
    pub shape: ImageShape,
    /// The image to edit.
    pub source: Option<SourceImage>,
    /// The maximum size of one image of the answer, in bytes.
    pub max_bytes: usize,
}

/// An image as a provider sent it. Nothing of it has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceivedImage {
    Data(EncodedImage),
    /// The URL of the image, which may be any.
    Url(String),
}

/// An image as base64 text, which may be a data URL. Nothing of it has been checked.
#[derive(Clone, PartialEq, Eq)]
pub struct EncodedImage(pub String);

/// The reason why an image can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageDecodeError {
    #[error("it has more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("it can't be read")]
    Invalid,
}

impl EncodedImage {
    /// Returns the size of the image in bytes. It may have a few less.
    pub fn max_bytes(&self) -> usize {
        self.base64()
            .map_or(0, |base64| base64.len().saturating_mul(3) / 4)
    }

    /// Returns true if the image begins with these bytes.
    pub fn starts_with(&self, signature: &[u8]) -> bool {
        // Twelve bytes are more than any signature, and need no padding.
        let beginning = |base64: &str| BASE64_STANDARD.decode(base64.get(..base64.len().min(16))?).ok();
        let decoded = self.base64().and_then(beginning);
        decoded.is_some_and(|bytes| bytes.starts_with(signature))
    }

    /// Decodes the image, outside of the threads of requests.
    ///
    /// # Errors
    ///
    /// If the text is not base64, or the image has more than `limit` bytes.
    pub async fn decode(self, limit: usize) -> Result<Bytes, ImageDecodeError> {
        // Padding has up to two bytes.
        if self.max_bytes().saturating_sub(2) > limit {
            return Err(ImageDecodeError::TooLarge { limit });
        }
        let _permit = DECODERS.acquire().await;
        let decoded = spawn_blocking(move || {
            let decoded = self
                .base64()
                .and_then(|base64| BASE64_STANDARD.decode(base64).ok());
            decoded.filter(|data| !data.is_empty())
        });
        let data = decoded.await.ok().flatten().ok_or(ImageDecodeError::Invalid)?;
        match data.len() > limit {
            true => Err(ImageDecodeError::TooLarge { limit }),
            false => Ok(data.into()),
        }
    }

    fn base64(&self) -> Option<&str> {
        match self.0.strip_prefix("data:") {
            Some(data) => Some(data.split_once(";base64,")?.1.trim()),
            None => Some(self.0.trim()),
        }
    }
}

impl fmt::Debug for EncodedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncodedImage({} characters)", self.0.len())
    }
}

/// The answer of an image model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageAnswer {
    pub images: Vec<ReceivedImage>,
    /// The model's words along with the images, such as the description that it really followed.
    pub text: String,
    pub usage: Option<ReportedUsage>,
}

/// The error of a request without an image, and the use of the model, which counts all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageError {
    pub error: ModelError,
    pub usage: Option<ReportedUsage>,
}

impl ImageError {
    /// Returns the error of an endpoint that has no request for images.
    pub fn unsupported(endpoint: &str) -> Self {
        let error = RunError {
            code: "no_image".into(),
            message: format!("The endpoint “{endpoint}” makes no images in this form."),
            hint: "Correct images.model and images.api in the settings.".into(),
        };
        let error = ModelError {
            error,
            kind: ModelErrorKind::Refused,
            reply: None,
        };
        error.into()
    }
}

impl From<ModelError> for ImageError {
    fn from(error: ModelError) -> Self {
        Self { error, usage: None }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        EncodedImage, ImageDecodeError,
        ImageShape::{self, Landscape, Portrait, Square},
    };

    #[test]
    fn shape_is_the_closest_one() {
        for ((width, height), shape) in [
            ((1024, 1024), Square),
            ((1100, 1000), Square),
            ((1536, 1024), Landscape),
            ((1280, 1024), Landscape),
            ((600, 800), Portrait),
            ((0, 0), Square),
        ] {
            assert_eq!(ImageShape::from_size(width, height), shape, "{width} × {height}");
        }
    }

    #[tokio::test]
    async fn decodes_base64_and_data_urls() {
        // "\x89PNG rest"
        let base64 = "iVBORyByZXN0";
        for text in [base64.to_owned(), format!("data:image/png;base64,{base64}\n")] {
            let image = EncodedImage(text);
            assert_eq!(image.clone().decode(9).await.unwrap(), &b"\x89PNG rest"[..]);
            let limit = 8;
            assert_eq!(
                image.decode(limit).await,
                Err(ImageDecodeError::TooLarge { limit })
            );
        }
        for text in ["", "%%%", "data:image/png,x"] {
            let decoded = EncodedImage(text.into()).decode(100).await;
            assert_eq!(decoded, Err(ImageDecodeError::Invalid), "{text}");
        }
        let long = EncodedImage(format!("{base64}{base64}"));
        assert!(long.starts_with(b"\x89PNG") && !long.starts_with(b"GIF8"));
    }
}
