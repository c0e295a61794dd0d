//! `/api/columns`: questions about the rows of something, which jobs answer.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::StatusCode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    problem::{self, Problem},
    request::{JsonBody, QueryParameters},
};
use crate::app::{Caller, columns};
use parlor_protocol::{
    ColumnId,
    columns::{
        CellDetails, Column, ColumnQuestion, ColumnSource, ColumnsView, FillEstimate, MAX_ROW_KEY_BYTES,
        SourceTable,
    },
};

/// The rows that have the columns.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SourceQuery {
    source: ColumnSource,
}

/// `GET /api/columns`
pub async fn list(
    caller: Caller,
    query: Result<QueryParameters<SourceQuery>, Problem>,
) -> Result<Json<ColumnsView>, Problem> {
    let QueryParameters(SourceQuery { source }) = query?;
    Ok(Json(columns::view(&caller, &source).await?))
}

/// `GET /api/columns/rows`
pub async fn rows(
    caller: Caller,
    query: Result<QueryParameters<SourceQuery>, Problem>,
) -> Result<Json<SourceTable>, Problem> {
    let QueryParameters(SourceQuery { source }) = query?;
    Ok(Json(columns::table(&caller, &source).await?))
}

/// The columns that would be filled.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EstimateQuery {
    source: ColumnSource,
    /// The model that would answer; the default one if missing.
    model: Option<String>,
}

/// `GET /api/columns/estimate`
pub async fn estimate(
    caller: Caller,
    query: Result<QueryParameters<EstimateQuery>, Problem>,
) -> Result<Json<FillEstimate>, Problem> {
    let QueryParameters(EstimateQuery { source, model }) = query?;
    Ok(Json(columns::estimate(&caller, &source, model).await?))
}

/// A column to be saved.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SavedColumn {
    source: ColumnSource,
    /// A short name, the column's heading.
    name: String,
    #[serde(flatten)]
    question: ColumnQuestion,
}

/// `PUT /api/columns/{column_id}`: saves a new one, or another version of one.
pub async fn put(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Result<JsonBody<SavedColumn>, Problem>,
) -> Result<StatusCode, Problem> {
    let id = problem::parse_id(path)?;
    let JsonBody(SavedColumn {
        source,
        name,
        question,
    }) = body?;
    columns::save(&caller, source, Column { id, name, question }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/columns/{column_id}`
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    columns::delete(&caller, problem::parse_id(path)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/columns/{column_id}/cells/{row}`
pub async fn get_cell(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<CellDetails>, Problem> {
    let (id, RowKey(row)) = problem::parse_ids(path)?;
    Ok(Json(columns::cell_of(&caller, id, &row).await?))
}

/// Your answer for a cell.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct CorrectedCell {
    /// The answer, of the column's type; empty if the row has none.
    value: String,
}

/// `PUT /api/columns/{column_id}/cells/{row}`: corrects a cell.
pub async fn correct_cell(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
    body: Result<JsonBody<CorrectedCell>, Problem>,
) -> Result<StatusCode, Problem> {
    let (id, RowKey(row)) = problem::parse_ids::<ColumnId, _>(path)?;
    let JsonBody(CorrectedCell { value }) = body?;
    columns::correct(&caller, id, row, Some(value)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/columns/{column_id}/cells/{row}`: takes the correction of a cell back.
pub async fn take_back_correction(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let (id, RowKey(row)) = problem::parse_ids::<ColumnId, _>(path)?;
    columns::correct(&caller, id, row, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The key of a row in a path.
struct RowKey(String);

impl std::str::FromStr for RowKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_valid = !text.is_empty() && text.len() <= MAX_ROW_KEY_BYTES;
        is_valid.then(|| Self(text.to_owned())).ok_or(())
    }
}
