//! Columns, as a kind of job: a step for each cell, which asks the model one question about one row.
//!
//! - [`now`]: the steps that read what is stored: columns, corrections and rows
//! - [`cell`]: the step of a cell
//! - [`view`]: the cells as the page shows them: the results of the steps, and the corrections
//!
//! The plan is here ([`ColumnsKind`]). The cells are results of their steps, and the result of the job only counts them.

mod cell;
mod now;
mod view;

use std::collections::HashMap;

use futures::{FutureExt, future::BoxFuture};
use serde::Serialize;

use self::{
    cell::{AskCell, CellInput, Example},
    now::{ColumnsNow, RowsNow},
};
use crate::jobs::{JobContext, JobEnd, JobKind, PreparedJob};
use parlor_pages::columns::{RowSources, SourceRow};
use parlor_protocol::{
    ApiError, ErrorCode, Passage, RawJson, UserId,
    columns::{COLUMNS, CellAnswer, Column, ColumnsInput, Correction},
};

pub use self::view::{ColumnCellReader, OpenQuestions};

/// The version of the plan: a job of another one is not continued.
const VERSION: u32 = 2;

/// The kind of job that fills columns.
pub struct ColumnsKind {
    sources: RowSources,
    /// The maximum number of corrections that the model is told.
    max_examples: usize,
}

/// The result of such a job.
#[derive(Debug, Default, Serialize)]
struct FilledColumns {
    /// The names of the columns.
    columns: Vec<String>,
    rows: usize,
    /// The number of rows beyond the limit, which were not asked.
    left_out: usize,
    /// The number of cells with an answer, of those of them whose text does not have the quoted passage, of cells whose text has no
    /// answer, of those that have no text to read, and of those that failed.
    answered: usize,
    without_passage: usize,
    no_answer: usize,
    no_text: usize,
    failed: usize,
}

impl ColumnsKind {
    pub fn new(sources: RowSources, max_examples: usize) -> Self {
        Self {
            sources,
            max_examples,
        }
    }

    async fn check(&self, user_id: UserId, input: &RawJson) -> Result<PreparedJob, ApiError> {
        let refused = |message: String| ApiError::new(ErrorCode::BadRequest, message);
        let input: ColumnsInput = serde_json::from_str(input.as_str()).map_err(|error| {
            refused(format!(
                "The input of columns is {{\"source\": …}}: {error}. Nothing was started."
            ))
        })?;
        let title = self.sources.title(user_id, &input.source).await?;
        if self
            .sources
            .storage
            .columns(user_id, &input.source)
            .await?
            .is_empty()
        {
            return Err(refused(
                "There is no column yet. Nothing was started; add one first.".into(),
            ));
        }
        Ok(PreparedJob {
            title,
            input: serde_json::to_string(&input).unwrap_or_default(),
        })
    }

    async fn fill(&self, job: &JobContext) -> Result<String, JobEnd> {
        let input: ColumnsInput = serde_json::from_str(job.input())
            .map_err(|error| JobEnd::invalid_plan(&format!("its input can't be read: {error}")))?;
        let columns = ColumnsNow(&*self.sources.storage);
        let definitions = job
            .step("columns", &columns, input.clone())
            .await?
            .map_err(JobEnd::Failed)?;
        // No step depends on them, and a replay may tell the model newer ones.
        let corrections = self
            .sources
            .storage
            .corrections(job.user_id(), &input.source)
            .await
            .map_err(|error| now::unreadable(&error))?;
        let found = job
            .step("rows", &RowsNow(&self.sources), input)
            .await?
            .map_err(JobEnd::Failed)?;
        job.expect_steps(2 + definitions.columns.len() * found.rows.len());
        let mut result = FilledColumns {
            columns: definitions
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
            rows: found.rows.len(),
            left_out: found.left_out,
            ..FilledColumns::default()
        };
        let rows: Vec<(&SourceRow, String)> = found.rows.iter().map(|row| (row, cell::digest(row))).collect();
        // Column by column, so that calls that follow each other begin with the same words, which servers cache.
        for column in &definitions.columns {
            let examples = self.examples(&corrections, column, &found.rows);
            for answer in fill_column(job, column, &rows, &examples).await? {
                count(&mut result, answer.as_ref());
            }
        }
        serde_json::to_string(&result)
            .map_err(|error| JobEnd::invalid_plan(&format!("its result can't be written: {error}")))
    }

    /// Returns the newest corrections of a column, with the names of their rows.
    fn examples(&self, corrections: &[Correction], column: &Column, rows: &[SourceRow]) -> Vec<Example> {
        let names: HashMap<&str, &SourceRow> = rows.iter().map(|row| (row.key.as_str(), row)).collect();
        let of_column = corrections
            .iter()
            .filter(|correction| correction.column_id == column.id);
        let known = of_column.filter_map(|correction| {
            let row = names.get(correction.row.as_str())?;
            Some(Example {
                row: row.key.clone(),
                name: row.paragraphs.first().cloned().unwrap_or_default(),
                value: correction.value.clone(),
            })
        });
        known.take(self.max_examples).collect()
    }
}

/// Asks for the cells of a column. A cell whose step has failed is missing.
async fn fill_column<'a>(
    job: &'a JobContext,
    column: &'a Column,
    rows: &'a [(&'a SourceRow, String)],
    examples: &'a [Example],
) -> Result<Vec<Option<CellAnswer>>, JobEnd> {
    let ask = |(row, digest): &'a (&'a SourceRow, String)| {
        async move {
            let step = AskCell {
                name: &column.name,
                row,
                examples,
            };
            let key = cell::step_key(column.id, &row.key);
            let answer = job.step(key, &step, CellInput::new(column, row, digest)).await?;
            Ok(answer.ok())
        }
        .boxed()
    };
    job.for_each(rows, ask).await
}

fn count(result: &mut FilledColumns, answer: Option<&CellAnswer>) {
    match answer {
        None => result.failed += 1,
        Some(answer) if answer.has_no_text => result.no_text += 1,
        Some(answer) if answer.value.is_empty() => result.no_answer += 1,
        Some(answer) => {
            result.answered += 1;
            result.without_passage += usize::from(matches!(answer.passage, Passage::NotFound { .. }));
        }
    }
}

impl JobKind for ColumnsKind {
    fn name(&self) -> &'static str {
        COLUMNS
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare<'a>(
        &'a self,
        user_id: UserId,
        input: &'a RawJson,
    ) -> BoxFuture<'a, Result<PreparedJob, ApiError>> {
        self.check(user_id, input).boxed()
    }

    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, Result<String, JobEnd>> {
        self.fill(job).boxed()
    }
}
