//! The events of conversations.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Attachment, AttachmentId, Interaction, ListedConversation, MessageId, Parameters, ProjectId,
    QueuedMessage, Timestamp, Verdict,
};

/// An event about a conversation: its name, model, branch, messages or queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ConversationEvent {
    /// A conversation was created, with its first message or as a branch of another one.
    ConversationCreated {
        title: String,
        created_at: Timestamp,
        /// True if it is erased some time after its last activity; missing if not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        temporary: bool,
        /// Its project; missing if it is in none.
        #[serde(skip_serializing_if = "Option::is_none")]
        project_id: Option<ProjectId>,
    },
    /// The conversation has another place in the list: it was pinned, archived or moved to a project, or not any more, or it was
    /// restored after its deletion. This is how the list shows it now.
    ConversationPlaced { conversation: ListedConversation },
    /// A conversation was renamed.
    ConversationRenamed { title: String },
    /// Another model will answer the conversation from now on.
    ModelChosen { model: String },
    /// The conversation's model will be called with other parameters from now on.
    ParametersChosen { parameters: Parameters },
    /// The user has opened the conversation and seen its news.
    ConversationRead,
    /// A conversation was deleted with everything in it. It may be restored for some time (`conversation_placed`).
    ConversationDeleted,
    /// Another branch of the conversation is shown. After `conversation_created`, its messages are copies from another
    /// conversation, without events of their own: load them.
    LeafSelected { leaf_id: MessageId },
    /// A message waits in the conversation's queue, at its end, or a message in the queue has another text. It is
    /// sent when the run and the messages before it have ended; `user_message_saved` with its id then removes it
    /// from the queue.
    MessageQueued { queued: QueuedMessage },
    /// The order of the queue changed, a message was removed from it, or the queue was held or released.
    QueueChanged {
        /// The ids of the messages in the queue, in the order in which they will be sent.
        queued_ids: Vec<MessageId>,
        /// True if the messages wait until the user releases them: the last run was stopped, failed or was
        /// interrupted.
        held: bool,
    },
    /// The user has deleted a message, with all that follow it. It can be restored for some seconds; then it is erased.
    MessageHidden {
        hidden_id: MessageId,
        /// The end of the branch that is shown from now on; null if no message is left.
        leaf_id: Option<MessageId>,
    },
    /// A deleted message is shown again, with all that follow it: load what you show again. The branch ends with
    /// `leaf_id`.
    MessageRestored { leaf_id: MessageId },
    /// The user's message is stored; its answer will have the announced id.
    UserMessageSaved {
        user_message_id: MessageId,
        /// The id of the answer to come, and of its run.
        expected_assistant_message_id: MessageId,
        /// The message that this one follows; null for a conversation's first.
        parent_id: Option<MessageId>,
        text: String,
        /// The files of the message, in their order.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<Attachment>,
        /// The way in which the user wrote the message.
        #[serde(flatten)]
        interaction: Interaction,
        created_at: Timestamp,
    },
    /// The user has deleted files of messages, sent or written long before: the messages still name them, with the problem
    /// `deleted`.
    FilesDeleted { file_ids: Vec<AttachmentId> },
    /// The user has accepted or rejected a payload.
    PayloadJudged {
        payload_id: String,
        verdict: Verdict,
        /// The fields of the proposal that were accepted; missing if the verdict is about the whole of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        accepted_fields: Vec<String>,
    },
}
