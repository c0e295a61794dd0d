//! Attachments: files of the user's messages, and files that tools return besides their text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AttachmentId, flat_json::Fields};

/// A file of the user or of a tool, as messages refer to it. Its content is at `/api/files/{id}`.
// The page loads it from `Attachment::url`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Attachment {
    pub id: AttachmentId,
    /// The file name used when it is saved.
    pub name: String,
    /// The media type, such as `image/png`. A type that browsers display was checked against the content.
    pub media_type: String,
    /// The size in bytes.
    pub bytes: usize,
    /// The width of an image in pixels, upright; missing if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// The height of an image in pixels, upright; missing if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<usize>,
}

/// The way in which a file is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentDisplay {
    Image,
    Audio,
    /// Download only: the file could be a page with scripts, or anything else.
    Download,
}

impl AttachmentDisplay {
    /// Returns the display of files of a media type.
    pub fn for_media_type(media_type: &str) -> Self {
        match media_type {
            "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Self::Image,
            "audio/mpeg" | "audio/wav" | "audio/ogg" | "audio/flac" | "audio/mp4" | "audio/webm"
            | "audio/aac" => Self::Audio,
            _ => Self::Download,
        }
    }
}

impl Attachment {
    /// The URL from which the page loads the file.
    pub fn url(&self) -> String {
        ["/rpc/files/", &self.id.to_string()].concat()
    }
}
