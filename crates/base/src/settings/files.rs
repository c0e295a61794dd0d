//! Settings of files: uploads, and what models are given of them.

use std::time::Duration;

use serde::Deserialize;

use super::{FileStore, SettingPath};

/// Settings of files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// The place of the contents of files, if not the data folder; or `PARLOR_FILES`. Several nodes need one that all reach: `"database"`
    /// (Postgres) or `s3://bucket/prefix` (docs/postgres.md), into which contents move at the next start, or the path of a folder that all have
    /// mounted.
    pub store: Option<FileStore>,
    /// The copies of contents in the data folder, in bytes, if they are in a database or bucket. Those that are used least are deleted.
    pub cache_bytes: usize,
    /// The number of files in one message.
    pub max_count: usize,
    /// One uploaded file, in bytes.
    pub max_bytes: usize,
    /// All files of one user, in bytes. What is over it is not uploaded; files that tools make count, but are always kept.
    pub user_bytes: usize,
    /// One uploaded image, in pixels: its width times its height.
    pub max_pixels: usize,
    /// All images and PDF files in one model call, in bytes. The newest are sent; the model can ask for other images.
    pub model_bytes: usize,
    /// The part of a text file that a model is given, in bytes; and of the text of a PDF file or another document, read once
    /// when it is uploaded.
    pub text_bytes: usize,
    /// The rows of a table that a model is given, of a spreadsheet those of each sheet.
    pub table_rows: usize,
    /// The timeout of reading an image or a document. Each is read in a process of its own.
    #[serde(deserialize_with = "super::duration::positive")]
    pub reader_timeout: Duration,
    /// The memory of such a process in bytes, besides that for the file itself and the pixels of an image.
    pub reader_bytes: usize,
    /// The number of such processes at the same time for uploads, and the same number for files that tools and models make.
    /// Other files wait.
    pub readers: usize,
    /// The uploads of one user that wait for such a process. Further ones are rejected.
    pub max_waiting: usize,
    /// The age at which an uploaded file that was never sent is deleted.
    #[serde(deserialize_with = "super::duration::positive")]
    pub keep_unsent: Duration,
    /// The program that reads files; Parlor itself if unset. For tests, whose own program can't.
    #[serde(skip)]
    pub reader: Option<SettingPath>,
}

impl FileSettings {
    /// The limits without which nothing can be uploaded, with their names. None of them may be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 4] {
        [
            ("files.max_bytes", self.max_bytes),
            ("files.max_pixels", self.max_pixels),
            ("files.reader_bytes", self.reader_bytes),
            ("files.readers", self.readers),
        ]
    }
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            store: None,
            cache_bytes: 10 << 30,
            max_count: 10,
            max_bytes: 256 << 20,
            user_bytes: 10 << 30,
            max_pixels: 50_000_000,
            model_bytes: 20 << 20,
            text_bytes: 128 << 10,
            table_rows: 200,
            reader_timeout: Duration::from_secs(20),
            reader_bytes: 512 << 20,
            readers: 2,
            max_waiting: 40,
            keep_unsent: Duration::from_secs(72 * 3600),
            reader: None,
        }
    }
}
