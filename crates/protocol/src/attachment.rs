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
    /// The size in bytes of the text that models get which don't read the file itself; missing if the file is a text or an
    /// image, or has no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_bytes: Option<usize>,
    /// The reason why models get no text of a document; missing if they get it. `deleted` for any file that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<FileProblem>,
}

/// The reason why models get no text of a document, or nothing of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileProblem {
    /// The document consists of images.
    NoText,
    /// The document needs a password.
    Encrypted,
    /// The document can't be read.
    Damaged,
    /// Reading it needs too much memory or time.
    TooComplex,
    /// Its user has deleted it. Messages still name it.
    Deleted,
}

impl FileProblem {
    /// The problem's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoText => "no_text",
            Self::Encrypted => "encrypted",
            Self::Damaged => "damaged",
            Self::TooComplex => "too_complex",
            Self::Deleted => "deleted",
        }
    }

    /// Parses a problem's name.
    pub fn parse(name: &str) -> Option<Self> {
        [
            Self::NoText,
            Self::Encrypted,
            Self::Damaged,
            Self::TooComplex,
            Self::Deleted,
        ]
        .into_iter()
        .find(|problem| problem.as_str() == name)
    }

    /// Returns a note for the user, shown next to the file.
    pub fn note(self) -> &'static str {
        match self {
            Self::NoText => "No text, only images: choose a model that reads PDF",
            Self::Encrypted => "Needs a password: models can’t read it. Attach a copy without one",
            Self::Damaged => "Damaged: models can’t read it",
            Self::TooComplex => "Too large to be read here: models get no text of it",
            Self::Deleted => "Deleted",
        }
    }
}

/// The media type of a chart of Plotly: its JSON. The page draws it in a frame.
pub const PLOTLY_CHART: &str = "application/vnd.plotly.v1+json";

/// The way in which a file is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentDisplay {
    Image,
    Audio,
    /// A chart of Plotly: a download, which the page draws in a frame.
    Chart,
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
            PLOTLY_CHART => Self::Chart,
            _ => Self::Download,
        }
    }
}

/// Returns the note in the model's output of a tool that returned files.
pub fn files_note(files: &[Attachment]) -> String {
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    ["The person is shown ", &names.join(", "), "."].concat()
}

impl Attachment {
    /// Returns true if its user has deleted it: its name is all that is left.
    pub fn is_deleted(&self) -> bool {
        self.problem == Some(FileProblem::Deleted)
    }

    /// The URL from which the page loads the file.
    pub fn url(&self) -> String {
        ["/rpc/files/", &self.id.to_string()].concat()
    }
}
