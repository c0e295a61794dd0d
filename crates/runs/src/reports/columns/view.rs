//! The cells of columns as the page shows them: the results of the steps of the last complete job and of those after it, and the
//! person's corrections. An answer to an earlier question is not shown.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::cell::{CELL_KIND, CellInput, digest, step_key};
use parlor_model::ReportedUsage;
use parlor_pages::columns::SourceRows;
use parlor_protocol::{
    ApiError, ColumnId, Dollars, JobId, Passage, Prices, RunStatus, UserId,
    columns::{
        COLUMNS, CellAnswer, CellDetails, CellState, Column, ColumnCells, ColumnSource, ColumnsInput,
        ColumnsView, ShownCell,
    },
    job::Job,
};
use parlor_storage::{Storage, StorageError, jobs::StoredStep};

/// Reads columns and cells.
pub struct ColumnCellReader {
    pub storage: Arc<dyn Storage>,
    /// The maximum number of columns of a source.
    pub limit: usize,
}

impl ColumnCellReader {
    /// Returns the columns of a source with their cells.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn view(&self, user_id: UserId, source: &ColumnSource) -> Result<ColumnsView, ApiError> {
        let as_of = self.storage.last_position(user_id).await?;
        let columns = self.storage.columns(user_id, source).await?;
        let jobs = self.jobs(user_id, source).await?;
        let mut found: HashMap<ColumnId, BTreeMap<String, ShownCell>> = HashMap::new();
        let by_id: HashMap<ColumnId, &Column> = columns.iter().map(|column| (column.id, column)).collect();
        for job in shown_jobs(&jobs) {
            for step in self.storage.finished_steps(user_id, job.id, CELL_KIND).await? {
                let Some(column) = column_of(&step.key).and_then(|id| by_id.get(&id)) else {
                    continue;
                };
                if let Some((row, state)) = read_cell(&step, column) {
                    let cell = ShownCell {
                        row: row.clone(),
                        state,
                        correction: None,
                    };
                    found.entry(column.id).or_default().insert(row, cell);
                }
            }
        }
        for correction in self.storage.corrections(user_id, source).await? {
            let cells = found.entry(correction.column_id).or_default();
            let cell = cells.entry(correction.row.clone()).or_insert_with(|| ShownCell {
                row: correction.row,
                state: CellState::Empty,
                correction: None,
            });
            cell.correction = Some(correction.value);
        }
        let cells = columns
            .iter()
            .map(|column| ColumnCells {
                column_id: column.id,
                cells: found
                    .remove(&column.id)
                    .unwrap_or_default()
                    .into_values()
                    .collect(),
            })
            .collect();
        Ok(ColumnsView {
            as_of,
            cells,
            columns,
            job: jobs.into_iter().next(),
            limit: self.limit,
        })
    }

    /// Returns a cell with all that is known about it; `None` if there is no such column.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn cell(
        &self,
        user_id: UserId,
        source: &ColumnSource,
        (column_id, row): (ColumnId, &str),
    ) -> Result<Option<CellDetails>, ApiError> {
        let columns = self.storage.columns(user_id, source).await?;
        let Some(column) = columns.iter().find(|column| column.id == column_id) else {
            return Ok(None);
        };
        let corrections = self.storage.corrections(user_id, source).await?;
        let mut details = CellDetails {
            state: CellState::Empty,
            passage: None,
            model: String::new(),
            correction: corrections
                .into_iter()
                .find(|correction| correction.column_id == column_id && correction.row == row),
        };
        let jobs = self.jobs(user_id, source).await?;
        for job in shown_jobs(&jobs) {
            let key = step_key(column_id, row);
            let Some(step) = self.storage.job_step(user_id, job.id, &key).await? else {
                continue;
            };
            if let Some((_, state)) = read_cell(&step, column) {
                let answer = read_answer(&step);
                details.passage = answer
                    .filter(|answer| !answer.value.is_empty())
                    .map(|answer| answer.passage);
                details.model.clone_from(&job.model);
                details.state = state;
            }
        }
        Ok(Some(details))
    }

    /// Returns the texts of the cells that a model would be asked for, and the number of all cells.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn open_questions(
        &self,
        user_id: UserId,
        (source, rows): (&ColumnSource, &SourceRows),
        model: &str,
    ) -> Result<OpenQuestions, ApiError> {
        let columns = self.storage.columns(user_id, source).await?;
        let jobs = self.jobs(user_id, source).await?;
        let mut known: HashMap<String, String> = HashMap::new();
        for job in shown_jobs(&jobs).into_iter().filter(|job| job.model == model) {
            for step in self.storage.finished_steps(user_id, job.id, CELL_KIND).await? {
                if step.output.is_some() {
                    known.insert(step.key, step.input);
                }
            }
        }
        let mut open = OpenQuestions {
            cells: columns.len() * rows.rows.len(),
            questions: 0,
            bytes: 0,
        };
        for row in rows.rows.iter().filter(|row| !row.has_no_text) {
            let digest = digest(row);
            let bytes: usize = row.paragraphs.iter().map(String::len).sum();
            for column in &columns {
                let input = serde_json::to_string(&CellInput::new(column, row, &digest))
                    .map_err(ApiError::unreadable)?;
                if known.get(&step_key(column.id, &row.key)) != Some(&input) {
                    open.questions += 1;
                    open.bytes += bytes + column.question.question.len();
                }
            }
        }
        Ok(open)
    }

    /// Returns the last job of a source.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn last_job(&self, user_id: UserId, source: &ColumnSource) -> Result<Option<Job>, ApiError> {
        Ok(self.jobs(user_id, source).await?.into_iter().next())
    }

    /// Returns the jobs of a source whose cells no page shows any more: those before the last complete one.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn outdated(&self, user_id: UserId, source: &ColumnSource) -> Result<Vec<JobId>, ApiError> {
        let jobs = self.jobs(user_id, source).await?;
        let shown: Vec<JobId> = shown_jobs(&jobs).iter().map(|job| job.id).collect();
        let outdated = jobs
            .iter()
            .filter(|job| !shown.contains(&job.id) && job.status != RunStatus::Running);
        Ok(outdated.map(|job| job.id).collect())
    }

    /// Returns the jobs of a source, newest first.
    async fn jobs(&self, user_id: UserId, source: &ColumnSource) -> Result<Vec<Job>, StorageError> {
        let source = source.clone();
        let input = serde_json::to_string(&ColumnsInput { source })?;
        let jobs = self.storage.jobs_of_input(user_id, COLUMNS, &input).await?;
        Ok(jobs.into_iter().map(|stored| stored.job).collect())
    }
}

/// The cells that a model would be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenQuestions {
    /// The number of all cells.
    pub cells: usize,
    pub questions: usize,
    /// The length of all their texts.
    pub bytes: usize,
}

/// The tokens of a question besides its row, and those of its answer: about what they are in practice.
const QUESTION_TOKENS: u64 = 200;
const ANSWER_TOKENS: u64 = 60;

/// The bytes of a token of a usual text.
const TOKEN_BYTES: u64 = 4;

impl OpenQuestions {
    /// Returns the estimated cost at these prices, if they are known.
    pub fn cost_at(&self, prices: Option<&Prices>) -> Option<Dollars> {
        let questions = self.questions as u64;
        let usage = ReportedUsage {
            input_tokens: questions * QUESTION_TOKENS + self.bytes as u64 / TOKEN_BYTES,
            output_tokens: questions * ANSWER_TOKENS,
            ..ReportedUsage::default()
        };
        usage.cost_at(prices)
    }
}

/// Returns the last complete job and those after it, oldest first.
fn shown_jobs(jobs: &[Job]) -> Vec<&Job> {
    let complete = jobs.iter().position(|job| job.status == RunStatus::Complete);
    let count = complete.map_or(jobs.len(), |complete| complete + 1);
    jobs.iter().take(count).rev().collect()
}

fn column_of(key: &str) -> Option<ColumnId> {
    key.split('/').nth(1)?.parse().ok()
}

/// Returns the row and the state of a cell, if the step has answered the question of its column.
fn read_cell(step: &StoredStep, column: &Column) -> Option<(String, CellState)> {
    let input: CellInput = serde_json::from_str(&step.input).ok()?;
    if input.question != column.question {
        return None;
    }
    let state = match (&step.error, read_answer(step)) {
        (Some(error), _) => CellState::Failed {
            reason: [error.message.as_str(), error.hint.as_str()]
                .join(" ")
                .trim_end()
                .into(),
        },
        (None, Some(answer)) if answer.has_no_text => CellState::NoText,
        (None, Some(answer)) if answer.value.is_empty() => CellState::NoAnswer,
        (None, Some(answer)) => CellState::Answered {
            value: answer.value,
            has_passage: matches!(answer.passage, Passage::Found(_)),
        },
        (None, None) => return None,
    };
    Some((input.row, state))
}

fn read_answer(step: &StoredStep) -> Option<CellAnswer> {
    serde_json::from_str(step.output.as_deref()?).ok()
}
