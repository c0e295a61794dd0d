//! Settings of images made by models.

use std::time::Duration;

use serde::Deserialize;

/// Images that models make: by the tool `generate_image`, and in answers. The tool is offered if any endpoint has an image
/// model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageSettings {
    /// The model that makes them, as `endpoint/model`. If unset, the best image model of the first endpoint that lists any,
    /// such as gpt-image-1 or a gemini model with image in its name.
    pub model: Option<String>,
    /// The request that makes them: "images" (OpenAI's images API), "gemini" (`generateContent`) or "chat" (a chat model
    /// that returns images). If unset, by the kind of the endpoint and the model's name.
    pub api: Option<ImageApiSetting>,
    /// One image as its model sends it and as it is kept, in bytes. Its pixels are limited by `files.max_pixels`.
    pub max_bytes: usize,
    /// The number of images in one answer.
    pub max_count: usize,
    /// The timeout of making one image.
    #[serde(deserialize_with = "super::duration::positive")]
    pub timeout: Duration,
}

/// A request form for images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageApiSetting {
    /// OpenAI's images API.
    Images,
    /// Google's `generateContent`.
    Gemini,
    /// Chat completions of a model that returns images.
    Chat,
}

impl ImageSettings {
    /// The limits without which no image can be made, with their names. None of them may be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 1] {
        [("images.max_bytes", self.max_bytes)]
    }
}

impl Default for ImageSettings {
    fn default() -> Self {
        Self {
            model: None,
            api: None,
            max_bytes: 32 << 20,
            max_count: 8,
            timeout: Duration::from_secs(180),
        }
    }
}
