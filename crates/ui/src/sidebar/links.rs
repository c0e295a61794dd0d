//! The links of the conversations and projects in the list, for focus changes.

use super::list_keys::RowKey;
use parlor_protocol::{ConversationId, ProjectId};

/// The id of the element that stands for a conversation: its link, or its checkbox.
pub fn link_id(id: ConversationId) -> String {
    ["chat-", &id.to_string()].concat()
}

/// The selector of that element.
pub fn link_selector(id: ConversationId) -> String {
    ["[id='", &link_id(id), "']"].concat()
}

/// The id of the link of a project.
pub fn project_link_id(id: ProjectId) -> String {
    ["project-", &id.to_string()].concat()
}

/// The id of the link of a project of another person.
pub fn shared_project_link_id(id: ProjectId) -> String {
    ["shared-project-", &id.to_string()].concat()
}

/// The selector of the element that stands for a row.
pub fn row_selector(key: RowKey) -> String {
    match key {
        RowKey::Chat(id) => link_selector(id),
        RowKey::Project(id) => ["[id='", &project_link_id(id), "']"].concat(),
        RowKey::SharedProject(id) => ["[id='", &shared_project_link_id(id), "']"].concat(),
    }
}
