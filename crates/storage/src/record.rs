//! Stored data as it is read: conversations, files, the results of intents.

use uuid::Uuid;

use super::ChangeRejection;
use parlor_protocol::{
    Attachment, ConversationId, ListedConversation, MessageId, Timestamp, UserId, intent::StartedRun,
};

/// The stored result of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedIntent {
    /// The request, to tell it from another one under the same id.
    pub fingerprint: String,
    /// The started run; `None` if the intent starts none.
    pub started: Option<StartedRun>,
}

impl CompletedIntent {
    /// Returns the run that the intent started the first time.
    ///
    /// # Errors
    ///
    /// If the id was used for a different request.
    pub fn replay(self, fingerprint: &str) -> Result<Option<StartedRun>, ChangeRejection> {
        if self.fingerprint == fingerprint {
            Ok(self.started)
        } else {
            Err(ChangeRejection::IntentReused)
        }
    }
}

/// A conversation without its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredConversation {
    pub listed: ListedConversation,
    pub model: Option<String>,
    pub created_at: Timestamp,
}

/// A file of the user or of a tool. Its content is in the data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub attachment: Attachment,
    pub location: FileLocation,
}

/// A file in a message of a user, with its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    pub file: StoredFile,
    pub conversation_id: ConversationId,
    /// The title of the conversation.
    pub title: String,
}

/// Kinds of files: a file is of one of them by its media type, or by the end of its name, in lower case without the dot.
#[derive(Clone, Copy, Debug)]
pub struct FileKinds<'a> {
    pub media_types: &'a [&'a str],
    pub name_ends: &'a [&'a str],
}

/// The location of a file's content below the folder of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileLocation {
    pub user_id: UserId,
    /// The conversation of the file when it was stored; of a project's file [`ConversationId::NONE`].
    pub conversation_id: ConversationId,
    /// A random name.
    pub stored_name: Uuid,
}

/// A file of a tool whose content is still in the database, as earlier versions stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentRow {
    pub file: StoredFile,
    pub message_id: MessageId,
    pub data: Vec<u8>,
}

/// The SHA-256 of a secret: of an API token, a session or a one-time link. The secret itself is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);
