//! Shares of conversations: as their owner lists them, and as their readers see them.

use serde::{Deserialize, Serialize};

use super::{ConversationId, Event, ProjectId, ShareId, Timestamp, Transcript};

/// The path below which shares are read.
pub const SHARED_PATH: &str = "/shared/";

/// A share of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub id: ShareId,
    pub conversation_id: ConversationId,
    /// The names of those who may read it; `None` if it is whoever has the link.
    pub readers: Option<Vec<String>>,
    /// True if readers see what comes; false if they see the conversation as it was when it was shared.
    pub is_live: bool,
    pub created_at: Timestamp,
}

/// A share that was just made, with its path. That of a link contains its secret and is shown only this once. Not `Debug`,
/// so that it is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewShare {
    pub share: Share,
    pub path: String,
}

/// A shared conversation, without anything that is the owner's alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedConversation {
    pub transcript: Transcript,
    pub is_live: bool,
    /// The time at which it was shared.
    pub created_at: Timestamp,
    /// The owner's name, for readers by name.
    pub owner: Option<String>,
    /// The project, if the reader may read it because of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

/// A frame of the stream of a live share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "each is used at once, and most are events; small on 32 bits"
)]
pub enum SharedFrame {
    Event(Event),
    /// The state as it is now, in place of the earlier one.
    State(Box<SharedConversation>),
    /// The share has ended, and the stream with it.
    Ended,
}

/// Returns the path of a share. Its key is the secret of its link, or its id for people by name.
pub fn shared_path(key: &str) -> String {
    [SHARED_PATH, key].concat()
}

/// Returns the key in a URL; `None` if it is not that of a share.
pub fn shared_key(url: &str) -> Option<&str> {
    let path = url.split('?').next()?;
    path.strip_prefix(SHARED_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationId, json};

    #[test]
    fn url_names_the_key() {
        assert_eq!(shared_key(&shared_path("0a")), Some("0a"));
        assert_eq!(shared_key("/shared/0a?before=1"), Some("0a"));
        for url in ["/shared", "/c/1", "/", "/x?/shared/0a"] {
            assert_eq!(shared_key(url), None, "{url}");
        }
    }

    #[test]
    fn page_reads_the_frames_that_the_server_writes() {
        let state = SharedConversation {
            transcript: Transcript::new(ConversationId::new()),
            is_live: true,
            created_at: Timestamp(1),
            owner: Some("ann".into()),
            project_id: Some(ProjectId::new()),
        };
        for frame in [SharedFrame::Ended, SharedFrame::State(Box::new(state))] {
            let written = serde_json::to_vec(&frame).unwrap();
            assert_eq!(json::parse::<SharedFrame>(&written).unwrap(), frame);
        }
    }
}
