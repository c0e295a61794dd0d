//! The bounds of a query.

use std::time::Duration;

use parlor_base::settings::DataSettings;

/// The rows of a result in memory, and their size. What may be more is written to a file.
const MAX_ROWS_IN_MEMORY: usize = 10_000;
const MAX_BYTES_IN_MEMORY: usize = 900_000;

/// The bounds of a query. See the settings of the same names in `data`.
#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    pub timeout: Duration,
    pub rows: usize,
    pub bytes: usize,
    pub columns: usize,
    pub value_bytes: usize,
    pub memory_bytes: usize,
    pub disk_bytes: usize,
    pub tables: usize,
}

impl QueryLimits {
    pub fn new(settings: &DataSettings) -> Self {
        Self {
            timeout: settings.query_timeout,
            rows: settings.result_rows,
            bytes: settings.result_bytes,
            columns: settings.result_columns,
            value_bytes: settings.value_bytes,
            memory_bytes: settings.query_memory_bytes,
            disk_bytes: settings.query_disk_bytes,
            tables: settings.tables,
        }
    }

    /// Returns the limits for a result that has no file.
    pub fn in_memory(self) -> Self {
        Self {
            rows: self.rows.min(MAX_ROWS_IN_MEMORY),
            bytes: self.bytes.min(MAX_BYTES_IN_MEMORY),
            ..self
        }
    }

    /// Returns the maximum size of a row, in bytes.
    pub fn row_bytes(&self) -> usize {
        self.bytes.min(MAX_BYTES_IN_MEMORY)
    }

    /// Returns the limits for reading a catalogue, which has many rows of short texts.
    pub fn for_catalogue(self) -> Self {
        Self {
            rows: usize::MAX,
            bytes: usize::MAX,
            ..self
        }
    }
}
