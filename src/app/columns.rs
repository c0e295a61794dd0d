//! Columns: questions about the rows of something, which jobs answer.

use parlor_base::clock;
use parlor_protocol::{
    ApiError, ColumnId, Dollars, ErrorCode, JobId, RawJson, RunStatus,
    columns::{
        COLUMNS, CellDetails, Column, ColumnSource, ColumnType, ColumnsInput, ColumnsView, Correction,
        FillEstimate, MAX_ROW_KEY_BYTES, SourceTable,
    },
};
use parlor_runs::jobs::JobRequest;
use parlor_runs::reports::ColumnCellReader;
use parlor_storage::{Change, columns::ColumnChange};

use super::{Caller, fingerprint};

fn reader(caller: &Caller) -> ColumnCellReader {
    ColumnCellReader {
        storage: caller.app.storage.clone(),
        limit: caller.app.settings.jobs.columns,
    }
}

/// Returns the columns of one of the caller's sources with their cells.
///
/// # Errors
///
/// If there is no such source, or storage fails.
pub async fn view(caller: &Caller, source: &ColumnSource) -> Result<ColumnsView, ApiError> {
    caller.app.row_sources.require(caller.user_id, source).await?;
    reader(caller).view(caller.user_id, source).await
}

/// Returns the rows of a table that can have columns.
///
/// # Errors
///
/// If there is no such table, or it can't be read.
pub async fn table(caller: &Caller, source: &ColumnSource) -> Result<SourceTable, ApiError> {
    caller.app.row_sources.table(caller.user_id, source).await
}

/// Returns true if one of the caller's sources has columns.
///
/// # Errors
///
/// If storage fails.
pub async fn has_columns(caller: &Caller, source: &ColumnSource) -> Result<bool, ApiError> {
    Ok(!caller
        .app
        .storage
        .columns(caller.user_id, source)
        .await?
        .is_empty())
}

/// Estimates what filling the columns of a source asks a model.
///
/// # Errors
///
/// If there is no such source or model, or storage fails.
pub async fn estimate(
    caller: &Caller,
    source: &ColumnSource,
    model: Option<String>,
) -> Result<FillEstimate, ApiError> {
    let rows = caller.app.row_sources.rows(caller.user_id, source).await?;
    let model = caller.app.jobs.model(caller.user_id, model).await?;
    let open = reader(caller)
        .open_questions(caller.user_id, (source, &rows), &model)
        .await?;
    let prices = caller.app.models.capabilities(&model).prices;
    Ok(FillEstimate {
        cells: open.cells,
        questions: open.questions,
        cost: open.cost_at(prices.as_ref()),
    })
}

/// Returns a cell with all that is known about it.
///
/// # Errors
///
/// If there is no such column, or storage fails.
pub async fn cell(
    caller: &Caller,
    source: &ColumnSource,
    column_id: ColumnId,
    row: &str,
) -> Result<CellDetails, ApiError> {
    caller.app.row_sources.require(caller.user_id, source).await?;
    let cell = reader(caller)
        .cell(caller.user_id, source, (column_id, row))
        .await?;
    cell.ok_or_else(column_not_found)
}

/// Returns a cell of one of the caller's columns with all that is known about it.
///
/// # Errors
///
/// If there is no such column, or storage fails.
pub async fn cell_of(caller: &Caller, column_id: ColumnId, row: &str) -> Result<CellDetails, ApiError> {
    let found = caller.app.storage.column(caller.user_id, column_id).await?;
    let (source, _) = found.ok_or_else(column_not_found)?;
    cell(caller, &source, column_id, row).await
}

/// Saves a column: a new one, or another version of one.
///
/// # Errors
///
/// If a field is not valid, or the limit of columns is reached. The saved one is kept.
pub async fn save(caller: &Caller, source: ColumnSource, column: Column) -> Result<(), ApiError> {
    let column = check(caller, column)?;
    // A source without rows to ask about has no title.
    caller.app.row_sources.title(caller.user_id, &source).await?;
    refuse_while_filling(caller, &source, None).await?;
    let change = ColumnChange::Save {
        source,
        column,
        limit: caller.app.settings.jobs.columns,
    };
    commit(caller, change).await
}

/// Deletes a column with its cells. Deleting it again is not an error.
///
/// # Errors
///
/// If it is being filled, or storage fails.
pub async fn delete(caller: &Caller, id: ColumnId) -> Result<(), ApiError> {
    if let Some((source, _)) = caller.app.storage.column(caller.user_id, id).await? {
        refuse_while_filling(caller, &source, None).await?;
    }
    commit(caller, ColumnChange::Delete { id }).await
}

/// Corrects a cell. Without a value, its correction is taken back.
///
/// # Errors
///
/// If there is no such column, the value is not of its type or too long, or the limit of corrections is reached; or a correction is taken back
/// while the column is being filled, with questions that tell of it.
pub async fn correct(
    caller: &Caller,
    column_id: ColumnId,
    row: String,
    value: Option<String>,
) -> Result<(), ApiError> {
    let Some(value) = value else {
        if let Some((source, _)) = caller.app.storage.column(caller.user_id, column_id).await? {
            refuse_while_filling(caller, &source, None).await?;
        }
        return commit(caller, ColumnChange::TakeBack { column_id, row }).await;
    };
    let settings = &caller.app.settings.jobs;
    let found = caller.app.storage.column(caller.user_id, column_id).await?;
    let (_, column) = found.ok_or_else(column_not_found)?;
    let value = column.question.check_value(&value).ok_or_else(|| {
        refused("This value is not of the column's type. Nothing was saved; correct it, or change the type of the column.")
    })?;
    if row.is_empty() || row.len() > MAX_ROW_KEY_BYTES || value.len() > settings.column_bytes {
        return Err(refused(
            "This correction is too long (setting jobs.column_bytes). Nothing was saved; shorten it.",
        ));
    }
    let change = ColumnChange::Correct {
        correction: Correction {
            column_id,
            row,
            value,
            corrected_at: clock::now(),
        },
        limit: settings.corrections,
    };
    commit(caller, change).await
}

/// Starts a job that fills the columns of a source. The jobs before the last complete one, whose cells nothing shows any more, are
/// deleted.
///
/// # Errors
///
/// If there is no column, a job of the source is running, or a limit is reached.
pub async fn fill(
    caller: &Caller,
    id: JobId,
    source: ColumnSource,
    (model, cost_limit): (Option<String>, Option<Dollars>),
) -> Result<(), ApiError> {
    refuse_while_filling(caller, &source, Some(id)).await?;
    let reader = reader(caller);
    let outdated = reader.outdated(caller.user_id, &source).await?;
    for outdated in outdated.into_iter().filter(|outdated| *outdated != id) {
        caller.app.jobs.delete(caller.user_id, outdated).await?;
    }
    let input = serde_json::to_string(&ColumnsInput { source }).map_err(ApiError::unreadable)?;
    let request = JobRequest {
        id,
        fingerprint: fingerprint(&(&input, &model, cost_limit))?,
        kind: COLUMNS.into(),
        input: RawJson::parse_or_quote(&input),
        model,
        cost_limit,
        scheduled: None,
    };
    caller.app.jobs.start(caller.user_id, request).await.map(drop)
}

/// Refuses a change while a job other than this one asks the questions as they were.
async fn refuse_while_filling(
    caller: &Caller,
    source: &ColumnSource,
    id: Option<JobId>,
) -> Result<(), ApiError> {
    let last = reader(caller).last_job(caller.user_id, source).await?;
    match last.is_some_and(|job| job.status == RunStatus::Running && Some(job.id) != id) {
        true => Err(ApiError::new(
            ErrorCode::RunActive,
            "These columns are being filled. Nothing was changed: wait for the end, or stop it.",
        )),
        false => Ok(()),
    }
}

async fn commit(caller: &Caller, change: ColumnChange) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    caller.commit(Change::Column { user_id, change }).await?;
    Ok(())
}

/// Returns a column whose texts are trimmed.
fn check(caller: &Caller, mut column: Column) -> Result<Column, ApiError> {
    column.name = column.name.split_whitespace().collect::<Vec<_>>().join(" ");
    let question = &mut column.question;
    question.question = question.question.trim().into();
    let choices = std::mem::take(&mut question.choices);
    for choice in choices {
        let choice = choice.trim().to_owned();
        if question.kind == ColumnType::Choice && !choice.is_empty() && !question.choices.contains(&choice) {
            question.choices.push(choice);
        }
    }
    if column.name.is_empty() || question.question.is_empty() {
        return Err(refused(
            "A column needs a name and a question. Nothing was saved.",
        ));
    }
    if question.kind == ColumnType::Choice && question.choices.len() < 2 {
        return Err(refused(
            "A column of this type needs two or more answers to choose from. Nothing was saved.",
        ));
    }
    let choices: usize = question.choices.iter().map(String::len).sum();
    if column.name.len() + question.question.len() + choices > caller.app.settings.jobs.column_bytes {
        return Err(ApiError::new(
            ErrorCode::TooLarge,
            "This column is too long (setting jobs.column_bytes). Nothing was saved; shorten its question.",
        ));
    }
    Ok(column)
}

fn refused(message: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message)
}

/// Returns the error for a column that does not exist or belongs to another user, with the same text.
fn column_not_found() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "There is no such column. It may have been deleted.",
    )
}
