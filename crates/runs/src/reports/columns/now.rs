//! The steps that read what is stored when the job is begun.

use serde::{Deserialize, Serialize};

use crate::jobs::{JobEnd, Step, StepContext, StepError};
use parlor_pages::columns::{RowSources, SourceRows};
use parlor_protocol::RunError;
use parlor_protocol::columns::{Column, ColumnsInput};
use parlor_storage::{Storage, StorageError};

const AGAIN: &str =
    "The finished steps are kept. Parlor's log says more; continue the job when storage works.";

/// Returns the end of a job whose columns can't be read.
pub(super) fn unreadable(error: &StorageError) -> JobEnd {
    JobEnd::Failed(RunError {
        code: "storage".into(),
        message: format!("The columns can't be read: {error}."),
        hint: AGAIN.into(),
    })
}

/// Reads the columns. Their corrections are no result of a step: one that is taken back must leave the database.
pub(super) struct ColumnsNow<'a>(pub &'a dyn Storage);

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Definitions {
    pub columns: Vec<Column>,
}

impl Step for ColumnsNow<'_> {
    type Input = ColumnsInput;
    type Output = Definitions;

    const KIND: &'static str = "columns_now";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, context: &StepContext<'_>, input: ColumnsInput) -> Result<Definitions, StepError> {
        let columns = self.0.columns(context.user_id(), &input.source).await;
        let columns = columns.map_err(|error| {
            StepError::of_job("storage", format!("The columns can't be read: {error}."), AGAIN)
        })?;
        Ok(Definitions { columns })
    }
}

/// Reads the rows.
pub(super) struct RowsNow<'a>(pub &'a RowSources);

impl Step for RowsNow<'_> {
    type Input = ColumnsInput;
    type Output = SourceRows;

    const KIND: &'static str = "column_rows";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, context: &StepContext<'_>, input: ColumnsInput) -> Result<SourceRows, StepError> {
        let rows = self.0.rows(context.user_id(), &input.source).await;
        rows.map_err(|error| StepError::of_job("rows", error.message, AGAIN))
    }
}
