//! Server functions of columns, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, ColumnId, Dollars, JobId,
    columns::{CellDetails, Column, ColumnSource, ColumnsView, FillEstimate, SourceTable},
};

server_functions! {
    trait ColumnFunctions;

    /// Returns the columns of a source with their cells.
    GetUrl "columns" as LoadColumns
    fn columns(source: ColumnSource) -> ColumnsView;

    /// Returns the rows of a table that can have columns.
    GetUrl "column_rows" as LoadColumnRows
    fn column_rows(source: ColumnSource) -> SourceTable;

    /// Returns the number of cells that a job would ask a model for, and their estimated cost.
    GetUrl "fill_estimate" as LoadFillEstimate
    fn fill_estimate(source: ColumnSource, model: Option<String>) -> FillEstimate;

    /// Returns a cell with its passage and its model.
    GetUrl "column_cell" as LoadColumnCell
    fn column_cell(source: ColumnSource, column_id: ColumnId, row: String) -> CellDetails;

    /// Creates a column of a source, or updates the one with the same id.
    Json "save_column"
    fn save_column(source: ColumnSource, column: Column) -> ();

    /// Deletes a column with its cells.
    Json "delete_column"
    fn delete_column(column_id: ColumnId) -> ();

    /// Corrects a cell. Without a value, its correction is taken back.
    Json "correct_cell"
    fn correct_cell(column_id: ColumnId, row: String, value: Option<String>) -> ();

    /// Starts a job that fills the columns of a source. Without a model, the default one fills them.
    Json "fill_columns"
    fn fill_columns(job_id: JobId, source: ColumnSource, model: Option<String>, cost_limit: Option<Dollars>) -> ();

}
