//! The settings of the page *Data*, and the limits of queries.

use std::time::Duration;

use serde::Deserialize;

/// The page *Data*, where the assistant queries the `[[databases]]`, and the limits of its queries.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// The heading of the page.
    pub title: String,
    /// The identity of the assistant on the page, such as "You are the statistician of our town." If empty, a data analyst.
    pub identity: String,
    /// The placeholder of the message box on the page.
    pub placeholder: String,
    /// The questions that the page suggests to begin with. If empty, general ones.
    pub questions: Vec<String>,
    /// True if the tools are offered everywhere, not only on the page.
    pub offer_everywhere: bool,
    /// The longest time that a query may take.
    #[serde(deserialize_with = "super::duration::positive")]
    pub query_timeout: Duration,
    /// The number of queries that run at the same time, per database. Others wait.
    pub concurrent_queries: usize,
    /// The rows of a result that are kept.
    pub result_rows: usize,
    /// The size of a result that is kept, in bytes. One of more than limits.payload_bytes is a file, of files.user_bytes.
    pub result_bytes: usize,
    /// The columns of a result.
    pub result_columns: usize,
    /// A single value in a query, in bytes.
    pub value_bytes: usize,
    /// The memory that queries of SQLite may use together, above what was in use when one began, in bytes.
    pub query_memory_bytes: usize,
    /// The temporary files of a query of Postgres, in bytes, where its role may set temp_file_limit.
    pub query_disk_bytes: usize,
    /// The rows of a result that the model sees.
    pub model_rows: usize,
    /// The rows of a table that the page shows.
    pub first_rows: usize,
    /// The tables of a database that are listed.
    pub tables: usize,
    /// The time after which the list of tables is read again.
    #[serde(deserialize_with = "super::duration::positive")]
    pub catalogue_age: Duration,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self {
            title: "Data".into(),
            identity: String::new(),
            placeholder: "Ask about the data".into(),
            questions: Vec::new(),
            offer_everywhere: false,
            query_timeout: Duration::from_secs(15),
            concurrent_queries: 4,
            result_rows: 1_000_000,
            result_bytes: 256 << 20,
            result_columns: 200,
            value_bytes: 1_000_000,
            query_memory_bytes: 256 << 20,
            query_disk_bytes: 1_000_000_000,
            model_rows: 20,
            first_rows: 20,
            tables: 2000,
            catalogue_age: Duration::from_secs(60),
        }
    }
}

impl DataSettings {
    /// Returns the limits that may not be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 10] {
        [
            ("data.concurrent_queries", self.concurrent_queries),
            ("data.result_rows", self.result_rows),
            ("data.result_bytes", self.result_bytes),
            ("data.result_columns", self.result_columns),
            ("data.value_bytes", self.value_bytes),
            ("data.query_memory_bytes", self.query_memory_bytes),
            ("data.query_disk_bytes", self.query_disk_bytes),
            ("data.model_rows", self.model_rows),
            ("data.first_rows", self.first_rows),
            ("data.tables", self.tables),
        ]
    }
}
