//! The list of all files of a user, with the places where each is used.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attachment, AttachmentId, ConversationId, MessageId, ProjectId, Timestamp, flat_json::Fields};

/// The order of a list of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileSort {
    #[default]
    Newest,
    Oldest,
    Largest,
    Smallest,
}

impl FileSort {
    pub const ALL: [Self; 4] = [Self::Newest, Self::Oldest, Self::Largest, Self::Smallest];
}

/// The state of a place where a file is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileUseState {
    /// A message or a project that can be opened.
    #[default]
    Shown,
    /// A message of an archived conversation.
    Archived,
    /// A message of a deleted conversation, sent or not, which can be restored for some time.
    Deleted,
    /// A message that is not sent yet.
    Unsent,
}

/// A conversation or a project that uses a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct FileUse {
    /// The title of the conversation, or the name of the project. Empty if the conversation has not begun.
    pub title: String,
    #[schemars(default)]
    pub state: FileUseState,
    /// The conversation; missing for a project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The newest message of the conversation that has the file; missing if it is not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

/// A file of a user. Versions of a message and branches share one, which is listed once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ListedFile {
    pub file: Attachment,
    pub created_at: Timestamp,
    /// The places where it is used, newest first, at most 20.
    pub uses: Vec<FileUse>,
    /// The number of further places.
    #[schemars(default)]
    pub more_uses: usize,
}

impl ListedFile {
    /// The maximum number of places that are listed of a file.
    pub const MAX_USES: usize = 20;
}

/// A page of a user's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct FileList {
    pub files: Vec<ListedFile>,
    /// The number of files that fit the query, on all pages.
    pub total: usize,
    /// The size of all files of the user, with the tables that are made of them, in bytes.
    // A browser's `usize` has 32 bits.
    pub used_bytes: u64,
    /// The maximum of `used_bytes`.
    pub limit_bytes: u64,
    /// `cursor` of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The result of a deletion of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesDeleted {
    /// Those that were kept, since an answer that is being written or a message that waits has them.
    pub kept: Vec<AttachmentId>,
}

/// The maximum number of files that one request deletes.
pub const MAX_DELETED_FILES: usize = 500;

/// A place in a sorted list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileCursor {
    /// The size or the time by which the list is sorted.
    pub value: i64,
    pub id: AttachmentId,
}

impl fmt::Display for FileCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.value, self.id)
    }
}

impl FromStr for FileCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (value, id) = text.split_once('.').ok_or(())?;
        Ok(Self {
            value: value.parse().map_err(drop)?,
            id: id.parse().map_err(drop)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_written() {
        for value in [0, -1, i64::MAX] {
            let cursor = FileCursor {
                value,
                id: AttachmentId::new(),
            };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in ["", "1", "1.x", ".", "x.01234567-0000-7000-8000-000000000000"] {
            assert_eq!(wrong.parse::<FileCursor>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn a_listed_file_is_read_as_written() {
        let list = FileList {
            files: vec![ListedFile {
                file: Attachment {
                    id: AttachmentId::new(),
                    name: "a.pdf".into(),
                    media_type: "application/pdf".into(),
                    bytes: 3,
                    width: None,
                    height: None,
                    text_bytes: None,
                    problem: None,
                },
                created_at: Timestamp(1),
                uses: vec![FileUse {
                    title: "Plans".into(),
                    state: FileUseState::Archived,
                    conversation_id: Some(ConversationId::new()),
                    message_id: Some(MessageId::new()),
                    project_id: None,
                }],
                more_uses: 2,
            }],
            total: 1,
            used_bytes: 3,
            // More than 4 GiB.
            limit_bytes: 9_000_000_000,
            next: Some("1.x".into()),
        };
        let written = serde_json::to_string(&list).unwrap();
        assert_eq!(serde_json::from_str::<FileList>(&written).unwrap(), list);
    }
}
