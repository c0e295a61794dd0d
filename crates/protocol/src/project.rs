//! Projects: conversations that belong together, with instructions and a model of their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attachment, ConversationId, Position, SharedProject, flat_json::Fields, id::ProjectId};

/// The colour of a project's sign in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProjectColour {
    #[default]
    Grey,
    Red,
    Orange,
    Yellow,
    Green,
    Teal,
    Blue,
    Purple,
}

impl ProjectColour {
    pub const ALL: [Self; 8] = [
        Self::Grey,
        Self::Red,
        Self::Orange,
        Self::Yellow,
        Self::Green,
        Self::Teal,
        Self::Blue,
        Self::Purple,
    ];

    /// Returns the name in English.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grey => "Grey",
            Self::Red => "Red",
            Self::Orange => "Orange",
            Self::Yellow => "Yellow",
            Self::Green => "Green",
            Self::Teal => "Teal",
            Self::Blue => "Blue",
            Self::Purple => "Purple",
        }
    }
}

/// A project, as its user has set it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Project {
    /// The name, with at least one visible character.
    pub name: String,
    #[schemars(default)]
    pub colour: ProjectColour,
    /// Instructions for the assistant in each conversation of the project. May be empty.
    #[schemars(default)]
    pub instructions: String,
    /// The model that answers conversations that begin in the project, as `endpoint/model`; without it, the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of tools that the assistant does not use in the conversations of the project, unless a message asks for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub disabled_tools: Vec<String>,
}

/// A tool that a project may switch off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedTool {
    pub name: String,
    /// The label of a call in progress, such as "Searching the web".
    pub label: String,
}

/// A project with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ListedProject {
    pub id: ProjectId,
    pub project: Project,
    /// The number of its conversations, archived ones included.
    pub conversations: usize,
    /// The number of its files.
    #[schemars(default)]
    pub files: usize,
    /// The number of other people who may read it.
    #[schemars(default)]
    pub readers: usize,
}

/// A user's projects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ProjectList {
    /// The last position of the log that this state includes. A later `project_changed` says that it is out of date.
    pub as_of: Position,
    /// The projects, oldest first.
    pub projects: Vec<ListedProject>,
    /// The number of projects that a user can have.
    pub limit: usize,
    /// The projects of other people that the user may read, those shared last at the end. Missing if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub shared: Vec<SharedProject>,
}

impl ProjectList {
    /// Returns the project with this id.
    pub fn get(&self, id: ProjectId) -> Option<&ListedProject> {
        self.projects.iter().find(|listed| listed.id == id)
    }
}

/// The files of a project, which its conversations can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ProjectFiles {
    /// The files, oldest first.
    pub files: Vec<Attachment>,
    /// The number of files that a project can have.
    pub limit: usize,
}

/// The fate of the conversations of a project that is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProjectConversations {
    /// They stay, in no project.
    #[default]
    Keep,
    /// They are deleted, archived ones too. They can be restored for some time, in no project.
    Delete,
}

/// The result of the deletion of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectDeleted {
    /// The conversations that were deleted with it.
    pub conversations: Vec<ConversationId>,
}

/// The beginning of the address of a project's page.
pub const PROJECT_PATH: &str = "/project/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_read_as_written() {
        let written = r#"{"name":"Garden","colour":"green","instructions":"Be brief.","model":"x/m"}"#;
        let read: Project = serde_json::from_str(written).unwrap();
        assert_eq!(
            (read.colour, read.model.as_deref()),
            (ProjectColour::Green, Some("x/m"))
        );
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
        let short: Project = serde_json::from_str(r#"{"name":"Garden"}"#).unwrap();
        assert_eq!(short.colour, ProjectColour::Grey);
        assert!(serde_json::from_str::<Project>("{}").is_err(), "without a name");
    }
}
