//! The functions of columns.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, ColumnId, Dollars, JobId,
    columns::{CellDetails, Column, ColumnSource, ColumnsView, FillEstimate, SourceTable},
};
use parlor_ui::api::columns::ColumnFunctions;

#[async_trait]
impl ColumnFunctions for Api {
    async fn columns(&self, source: ColumnSource) -> Result<ColumnsView, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::view(&caller, &source).await)
    }

    async fn column_rows(&self, source: ColumnSource) -> Result<SourceTable, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::table(&caller, &source).await)
    }

    async fn fill_estimate(
        &self,
        source: ColumnSource,
        model: Option<String>,
    ) -> Result<FillEstimate, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::estimate(&caller, &source, model).await)
    }

    async fn column_cell(
        &self,
        source: ColumnSource,
        column_id: ColumnId,
        row: String,
    ) -> Result<CellDetails, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::cell(&caller, &source, column_id, &row).await)
    }

    async fn save_column(&self, source: ColumnSource, column: Column) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::save(&caller, source, column).await)
    }

    async fn delete_column(&self, column_id: ColumnId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::delete(&caller, column_id).await)
    }

    async fn correct_cell(
        &self,
        column_id: ColumnId,
        row: String,
        value: Option<String>,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::correct(&caller, column_id, row, value).await)
    }

    async fn fill_columns(
        &self,
        job_id: JobId,
        source: ColumnSource,
        model: Option<String>,
        cost_limit: Option<Dollars>,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::columns::fill(&caller, job_id, source, (model, cost_limit)).await)
    }
}
