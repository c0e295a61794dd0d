//! Settings of files: uploads, and what models are given of them.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

/// Settings of files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// The number of files in one message.
    pub max_count: usize,
    /// One uploaded file, in bytes.
    pub max_bytes: usize,
    /// One uploaded image, in pixels: its width times its height.
    pub max_pixels: usize,
    /// All images and PDF files in one model call, in bytes. The newest are sent; the model can ask for other images.
    pub model_bytes: usize,
    /// The part of a text file that a model is given, in bytes.
    pub text_bytes: usize,
    /// The timeout of reading an image. Images are read in a process of their own.
    #[serde(deserialize_with = "super::duration::positive")]
    pub image_timeout: Duration,
    /// The age at which an uploaded file that was never sent is deleted.
    #[serde(deserialize_with = "super::duration::positive")]
    pub keep_unsent: Duration,
    /// The program that reads images; Parlor itself if unset. For tests, whose own program can't.
    #[serde(skip)]
    pub image_reader: Option<PathBuf>,
}

impl FileSettings {
    /// The limits without which nothing can be uploaded, with their names. None of them may be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 2] {
        [
            ("files.max_bytes", self.max_bytes),
            ("files.max_pixels", self.max_pixels),
        ]
    }
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            max_count: 10,
            max_bytes: 256 << 20,
            max_pixels: 50_000_000,
            model_bytes: 20 << 20,
            text_bytes: 128 << 10,
            image_timeout: Duration::from_secs(20),
            keep_unsent: Duration::from_secs(72 * 3600),
            image_reader: None,
        }
    }
}
