//! Projects that are shared for reading: their readers as the owner lists them, and what a reader sees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attachment, ConversationId, Position, ProjectColour, ProjectId, Timestamp, flat_json::Fields};

/// The beginning of the address of the page on which a reader sees a project.
pub const SHARED_PROJECT_PATH: &str = "/shared-project/";

/// A person who may read a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ProjectReader {
    /// The name of the account.
    pub name: String,
    /// The time since which the person may read it.
    pub since: Timestamp,
}

/// The people who may read a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ProjectReaders {
    /// The readers, by name.
    pub readers: Vec<ProjectReader>,
    /// The number of readers that a project can have.
    pub limit: usize,
}

/// A project of another person, which the user may read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct SharedProject {
    pub id: ProjectId,
    pub name: String,
    #[schemars(default)]
    pub colour: ProjectColour,
    /// The name of the account whose project it is.
    pub owner: String,
}

/// A conversation of a shared project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct SharedChat {
    /// Its page is `/shared/{id}`.
    pub id: ConversationId,
    pub title: String,
    /// The time of its last activity.
    pub updated_at: Timestamp,
}

/// A shared project as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct SharedProjectContent {
    /// The last position of the reader's log that this state includes. A later `project_changed` says that it is out of date.
    pub as_of: Position,
    pub project: SharedProject,
    /// The instructions for the assistant. May be empty.
    #[schemars(default)]
    pub instructions: String,
    /// The files, oldest first.
    pub files: Vec<Attachment>,
    /// A page of the conversations, newest activity first. Archived ones are among them, temporary ones are not.
    pub conversations: Vec<SharedChat>,
    /// `cursor` of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
