//! `subject_overview`: the subjects of a database, or the tables of one subject.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{Data, DataError, list_names, quote, texts},
    open_items::complete_database,
};
use parlor_protocol::tool_kind;
use parlor_tools::{OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult};

/// The number of tables that are listed of each subject, and of a named one.
const MAX_TABLES_OF_EACH: usize = 30;
const MAX_TABLES_OF_ONE: usize = 500;

pub struct SubjectOverview(pub Data);

#[derive(Deserialize, JsonSchema)]
pub struct SubjectOverviewInput {
    /// The subject whose tables are listed. Without it, all subjects.
    subject: Option<String>,
    /// The database.
    database: Option<String>,
}

impl Tool for SubjectOverview {
    type Input = SubjectOverviewInput;

    const KIND: ToolKind = tool_kind::SUBJECT_OVERVIEW;
    const DESCRIPTION: &'static str = "Lists what the database is about: its subjects with their tables, or the tables of one subject. Begin with it.";
    const LABEL: &'static str = "Looking up documentation...";
    const DONE: &'static str = "Looked up documentation";
    const IS_IDEMPOTENT: bool = true;

    fn complete(&self, input: &mut SubjectOverviewInput, open: OpenItems<'_>) -> Result<(), String> {
        complete_database(&mut input.database, open);
        Ok(())
    }

    fn detail(&self, input: &SubjectOverviewInput) -> Option<String> {
        input.subject.clone()
    }

    async fn run(&self, input: SubjectOverviewInput, _call: ToolContext) -> Result<ToolResult, ToolError> {
        let database = self.0.database(input.database.as_deref())?;
        let catalogue = database.catalogue().await.map_err(DataError::from)?;
        let text = match input.subject.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => {
                let subject = catalogue.subject(name).ok_or_else(|| DataError::UnknownSubject {
                    name: quote(name),
                    known: list_names(catalogue.subjects.iter().map(|subject| subject.name.clone())),
                })?;
                texts::describe_subject(subject, MAX_TABLES_OF_ONE)
            }
            None => {
                let subjects = catalogue.subjects.iter();
                let subjects = subjects.map(|subject| texts::describe_subject(subject, MAX_TABLES_OF_EACH));
                subjects.collect::<Vec<_>>().join("\n")
            }
        };
        match text.is_empty() {
            true => Ok("The database has no tables that can be read.".to_owned().into()),
            false => Ok(text.into()),
        }
    }
}
