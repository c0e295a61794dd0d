//! The steps that read what is stored when the job is begun.

use serde::{Deserialize, Serialize};

use parlor_pages::columns::{RowSources, SourceRows};
use parlor_protocol::columns::{Column, ColumnsInput, Correction};
use parlor_runs::jobs::{Step, StepContext, StepError};
use parlor_storage::Storage;

const AGAIN: &str =
    "The finished steps are kept. Parlor's log says more; continue the job when storage works.";

/// Reads the columns and the corrections.
pub(super) struct ColumnsNow<'a>(pub &'a dyn Storage);

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Definitions {
    pub columns: Vec<Column>,
    /// Newest first.
    pub corrections: Vec<Correction>,
}

impl Step for ColumnsNow<'_> {
    type Input = ColumnsInput;
    type Output = Definitions;

    const KIND: &'static str = "columns_now";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, context: &StepContext<'_>, input: ColumnsInput) -> Result<Definitions, StepError> {
        let user_id = context.user_id();
        let columns = self.0.columns(user_id, &input.source).await;
        let corrections = self.0.corrections(user_id, &input.source).await;
        let failed =
            |error| StepError::of_job("storage", format!("The columns can't be read: {error}."), AGAIN);
        Ok(Definitions {
            columns: columns.map_err(failed)?,
            corrections: corrections.map_err(failed)?,
        })
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
