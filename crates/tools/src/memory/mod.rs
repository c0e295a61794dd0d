//! The agent's memories of a user, across conversations: remember, recall, forget. Those of a project are remembered by a tool of
//! their own, and given to its conversations only.
//!
//! Several tools, not one with an action: each has few arguments with one meaning, which small models
//! get right; they omit arguments that only one of several actions needs. And each has its own
//! description.

mod rank;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_base::{
    clock,
    settings::{Limits, ProjectSettings},
};
use parlor_journal::{Journal, JournalError};
use parlor_protocol::{Memory, MemoryId, ProjectId, UserId, tool_kind};
use parlor_storage::{Change, ChangeRejection, PersonalChange, Storage, StorageError, projects::GivenMemory};

/// Maximum number of memories recalled at a time.
const MAX_RECALLED: usize = 20;

/// Maximum length of a query, in bytes; the rest is ignored. Each word is compared with all
/// memories.
const MAX_QUERY_BYTES: usize = 400;

/// The number of newest memories returned if none matches a query: other words may have the same
/// meaning.
const MAX_FALLBACK_MEMORIES: usize = 10;

/// The memories in storage, with their limits.
#[derive(Clone)]
pub struct MemoryStore {
    storage: Arc<dyn Storage>,
    journal: Journal,
    /// Maximum size of a memory in bytes, and maximum number of memories of a user and of a project.
    max_bytes: usize,
    max_count: usize,
    max_in_project: usize,
}

pub struct Remember(pub MemoryStore);
pub struct RememberInProject(pub MemoryStore);
pub struct Recall(pub MemoryStore);
pub struct Forget(pub MemoryStore);

#[derive(Deserialize, JsonSchema)]
pub struct RememberInput {
    /// One thing, in a sentence or two that can be understood without this conversation: "She is allergic to peanuts."
    text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct RecallInput {
    /// Words that may occur in what is remembered. Without them, the newest memories are given.
    query: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct ForgetInput {
    /// The id of a memory, as recall gives it.
    id: String,
}

impl MemoryStore {
    pub fn new(
        storage: Arc<dyn Storage>,
        journal: Journal,
        limits: &Limits,
        projects: &ProjectSettings,
    ) -> Self {
        Self {
            storage,
            journal,
            max_bytes: limits.memory_bytes,
            max_count: limits.memories,
            max_in_project: projects.memories,
        }
    }

    /// Returns all memories that a call's conversation is given, newest first: those of the user, and those of its project.
    async fn all(&self, call: &ToolContext) -> Result<Vec<GivenMemory>, ToolError> {
        let memories = self.storage.memories_for(call.user_id, call.conversation_id);
        memories.await.map_err(unavailable)
    }

    /// Stores a text as a memory of the user, or of a project.
    async fn remember(
        &self,
        text: &str,
        user_id: UserId,
        project_id: Option<ProjectId>,
    ) -> Result<(), ToolError> {
        let (text, longest) = (text.trim(), self.max_bytes);
        if text.is_empty() || text.len() > longest {
            return Err(ToolError(format!(
                "What is to be remembered has {} bytes; it must have 1 to {longest}. Say it in fewer words.",
                text.len()
            )));
        }
        let limit = match project_id {
            Some(_) => self.max_in_project,
            None => self.max_count,
        };
        let change = PersonalChange::AddMemory {
            memory: Memory {
                id: MemoryId::new(),
                text: text.to_owned(),
                created_at: clock::now(),
            },
            project_id,
            limit,
        };
        self.submit(Change::Personal { user_id, change }, limit).await
    }

    async fn submit(&self, change: Change, limit: usize) -> Result<(), ToolError> {
        match self.journal.submit(change).await {
            Ok(_) => Ok(()),
            Err(JournalError::Rejected(ChangeRejection::NotFound)) => Err(unknown_memory_error()),
            Err(JournalError::Rejected(ChangeRejection::MemoryFull)) => Err(ToolError(format!(
                "{limit} things are remembered, and no more can be. Forget what does not matter any more, or leave it."
            ))),
            Err(JournalError::Rejected(ChangeRejection::ProjectNotFound)) => Err(no_project()),
            Err(JournalError::Rejected(_) | JournalError::Unavailable(_)) => Err(ToolError::unavailable()),
        }
    }
}

impl Tool for Remember {
    type Input = RememberInput;

    const KIND: ToolKind = tool_kind::REMEMBER;
    const DESCRIPTION: &'static str = "Remembers one thing about the person for later conversations: who they are, what they prefer, what was decided. Use it \
         when they ask for it, or tell something lasting that will matter again. Never for passwords and the like, nor for what \
         only a web page or a document says. They can see and delete what is remembered.";
    const LABEL: &'static str = "Remembering";
    const DONE: &'static str = "Remembered";
    /// Storing the same text twice has no further effect.
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &RememberInput) -> Option<String> {
        Some(input.text.clone())
    }

    async fn run(&self, input: RememberInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.remember(&input.text, call.user_id, None).await?;
        Ok("It is remembered from now on.".to_owned().into())
    }
}

impl Tool for RememberInProject {
    type Input = RememberInput;

    const KIND: ToolKind = tool_kind::REMEMBER_IN_PROJECT;
    const DESCRIPTION: &'static str = "Remembers one thing about the project of this conversation, for the project's other conversations only: what was decided, \
         found out or agreed there. What is about the person in any conversation is for remember. Never for passwords and the like, \
         nor for what only a web page or a document says. The person can see, change and delete what is remembered.";
    const LABEL: &'static str = "Remembering for the project";
    const DONE: &'static str = "Remembered for the project";
    /// Storing the same text twice has no further effect.
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &RememberInput) -> Option<String> {
        Some(input.text.clone())
    }

    async fn run(&self, input: RememberInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let project = self.0.storage.project_of(call.user_id, call.conversation_id);
        let project = project.await.map_err(unavailable)?.ok_or_else(no_project)?;
        self.0
            .remember(&input.text, call.user_id, Some(project.id))
            .await?;
        let name = &project.project.name;
        Ok(format!("It is remembered for the project \u{201c}{name}\u{201d} from now on.").into())
    }
}

impl Tool for Recall {
    type Input = RecallInput;

    const KIND: ToolKind = tool_kind::RECALL;
    const DESCRIPTION: &'static str = "Gives what was remembered about the person in earlier conversations, with ids. Use it when they refer to something that \
         this conversation does not say, or when knowing them would make the answer better.";
    const LABEL: &'static str = "Recalling";
    const DONE: &'static str = "Recalled";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &RecallInput) -> Option<String> {
        input.query.clone()
    }

    async fn run(&self, input: RecallInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let all = self.0.all(&call).await?;
        if all.is_empty() {
            return Ok("Nothing is remembered yet.".to_owned().into());
        }
        let mut query = input.query.unwrap_or_default();
        query.truncate(query.floor_char_boundary(MAX_QUERY_BYTES));
        let fitting = if query.trim().is_empty() {
            all.iter().collect()
        } else {
            rank::rank_by_words(&all, &query)
        };
        let text = if fitting.is_empty() {
            let newest = all.iter().take(MAX_FALLBACK_MEMORIES);
            format!(
                "Nothing fits these words. The newest of {}: {}",
                all.len(),
                memories_json(newest)
            )
        } else {
            let shown = fitting.iter().take(MAX_RECALLED).copied();
            let more = fitting.len().saturating_sub(MAX_RECALLED);
            let end = if more > 0 {
                format!("\n{more} more; use other words to find them.")
            } else {
                String::new()
            };
            format!("{}{end}", memories_json(shown))
        };
        Ok(text.into())
    }
}

impl Tool for Forget {
    type Input = ForgetInput;

    const KIND: ToolKind = tool_kind::FORGET;
    const DESCRIPTION: &'static str = "Forgets one remembered thing: when the person wants that, or when it is not true any more. Recall it first, for its id.";
    const LABEL: &'static str = "Forgetting";
    const DONE: &'static str = "Forgot";
    /// Deleting a memory twice has no further effect.
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, input: ForgetInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let memory_id: MemoryId = input.id.trim().parse().map_err(|_| unknown_memory_error())?;
        let user_id = call.user_id;
        let all = self.0.all(&call).await?;
        let given = all.iter().find(|given| given.memory.id == memory_id);
        let text = given
            .map(|given| given.memory.text.clone())
            .ok_or_else(unknown_memory_error)?;
        let change = PersonalChange::DeleteMemory { memory_id };
        self.0.submit(Change::Personal { user_id, change }, 0).await?;
        Ok(format!("It is forgotten: {text}").into())
    }
}

/// Formats memories as JSON, so that no text can look like another memory.
fn memories_json<'a>(memories: impl Iterator<Item = &'a GivenMemory>) -> String {
    let memories = memories.map(|given| {
        let memory = &given.memory;
        let (year, month, day) = memory.created_at.utc_date();
        let mut shown = json!({
            "id": memory.id,
            "text": memory.text,
            "date": format!("{year:04}-{month:02}-{day:02}"),
        });
        if given.is_of_project {
            shown["about"] = "this project".into();
        }
        shown
    });
    serde_json::Value::from_iter(memories).to_string()
}

fn unavailable(error: StorageError) -> ToolError {
    tracing::error!(%error, "memories can't be read");
    ToolError::unavailable()
}

fn no_project() -> ToolError {
    ToolError::new("This conversation is in no project (any more). What is about the person is for remember.")
}

fn unknown_memory_error() -> ToolError {
    ToolError::new("There is no memory with this id (any more). Recall gives the ids.")
}
