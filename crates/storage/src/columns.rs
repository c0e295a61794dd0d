//! Columns: questions about the rows of something. The changes and the queries.

use async_trait::async_trait;

use super::StorageError;
use parlor_protocol::{
    ColumnId, UserId,
    columns::{Column, ColumnSource, Correction},
};

/// The beginning of the keys of all steps that fill a column's cells: then follow its id and the row, separated by `/`.
pub const CELL_STEPS: &str = "cell";

/// A change of a user's columns.
#[derive(Clone, Debug)]
pub enum ColumnChange {
    /// Saves a column, if its source has fewer than `limit`, or replaces a saved one.
    Save {
        source: ColumnSource,
        column: Column,
        limit: usize,
    },
    /// Deletes a column with its corrections, and its cells in jobs that have ended.
    Delete { id: ColumnId },
    /// Corrects a cell, if its column has fewer than `limit` corrections. The one before is replaced.
    Correct { correction: Correction, limit: usize },
    /// Takes the correction of a cell back.
    TakeBack { column_id: ColumnId, row: String },
}

/// The queries about columns.
#[async_trait]
pub trait ColumnStorage {
    /// Returns the columns of a user's source, oldest first.
    async fn columns(&self, user_id: UserId, source: &ColumnSource) -> Result<Vec<Column>, StorageError>;

    /// Returns a column of a user with its source.
    async fn column(
        &self,
        user_id: UserId,
        id: ColumnId,
    ) -> Result<Option<(ColumnSource, Column)>, StorageError>;

    /// Returns the corrections of a user in the columns of a source, newest first.
    async fn corrections(
        &self,
        user_id: UserId,
        source: &ColumnSource,
    ) -> Result<Vec<Correction>, StorageError>;
}
