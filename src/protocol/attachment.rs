//! Attachments: files that tools give beside their text.

use serde::{Deserialize, Serialize};

use super::{AttachmentId, flat_json::Fields};

/// A file as messages know it. What is in it is loaded from `/api/attachments/{id}`, by the page from [`Attachment::address`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Attachment {
    pub id: AttachmentId,
    /// What it is called when it is saved.
    pub name: String,
    /// Such as `image/png`. One that browsers show has been checked against what is in the file.
    pub media_type: String,
    /// How long it is.
    pub bytes: usize,
}

/// How a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentDisplay {
    Image,
    Audio,
    /// Not at all, since it might be a page with scripts in it, or anything: it can be saved.
    Download,
}

impl AttachmentDisplay {
    /// How files of a type are shown.
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
    /// Where the page has it from.
    pub fn url(&self) -> String {
        ["/rpc/attachments/", &self.id.to_string()].concat()
    }
}
