//! The texts of the page *Data* that people read.

pub(super) use crate::components::texts::{SHOW_ALL, TRY_AGAIN};

// The page
pub(super) const NOT_FOUND: &str = "There is nothing at this address.";

// The catalogue
pub(super) const READING_CATALOGUE: &str = "Reading the catalogue…";
pub(super) const CATALOGUE_FAILED: &str = "The catalogue could not be loaded";
pub(super) const SEARCH: &str = "Search tables and columns";
pub(super) const NOTHING_FOUND: &str = "No table has these words in its name, its text or its columns.";
pub(super) const DATABASE_EMPTY: &str = "It has no tables that can be read.";

pub(super) fn tables(count: &str, is_one: bool) -> String {
    [count, if is_one { " table" } else { " tables" }].concat()
}

/// The count of the tables that were found, before that of all.
pub(super) fn found_tables(found: &str, all: &str) -> String {
    [found, " of ", all].concat()
}

/// The sentence before the reason.
pub(super) fn database_unreadable(name: &str) -> String {
    ["The database “", name, "” can’t be read. "].concat()
}

// Attached files
pub(super) const ATTACHED_FILES: &str = "Attached files";
pub(super) const ATTACHED_FILES_HINT: &str =
    "A file can be queried in the conversation that it is attached to.";
pub(super) const OLDER_FILES: &str = "Older files are in their conversations only.";

/// The conversation of a file, and its size.
pub(super) fn file_place(title: &str, size: &str) -> String {
    ["In “", title, "” · ", size].concat()
}

/// A table of a file. That of a CSV file has no name.
pub(super) fn table_of_file(name: &str, rows: &str, columns: &str) -> String {
    let separator = if name.is_empty() { "" } else { " · " };
    [name, separator, rows, ": ", columns].concat()
}

// A server without databases
pub(super) const NO_DATABASE_TITLE: &str = "Ask a database";
pub(super) const NO_DATABASE: &str = "Here the assistant answers questions from databases: it reads the catalogue, \
     queries with SQL, and shows tables. No database is configured yet.";
pub(super) const ATTACH_A_FILE: &str =
    "A CSV file or a workbook needs no settings: attach it to a message and ask. It is then listed here.";
pub(super) const ADD_DATABASE: &str =
    "Add a database to the settings file, for example, and start Parlor again:";
pub(super) const DATABASE_EXAMPLE: &str =
    "[[databases]]\nname = \"statistics\"\nurl = \"sqlite:/path/to/statistics.db\"";
pub(super) const SUPPORTED_DATABASES: &str = "SQLite and PostgreSQL are supported. Databases are only read. ";
pub(super) const SAMPLE_COMMAND: &str = "make try-data-agent";
pub(super) const SAMPLE_COMMAND_MEANING: &str = " starts a sample.";

// A table
pub(super) const READING_TABLE: &str = "Reading the table…";
pub(super) const TABLE_FAILED: &str = "The table could not be loaded";
pub(super) const BACK_TO_CATALOGUE: &str = "Back to the catalogue";
pub(super) const ASK_ABOUT_TABLE: &str = "Ask about this table";
pub(super) const FIRST_ROWS: &str = "First rows";
pub(super) const NO_ROWS: &str = "The table has no rows.";
pub(super) const NULL: &str = "NULL";
/// Before the reason.
pub(super) const ROWS_UNREADABLE: &str = "The rows can’t be read now. ";

pub(super) fn table_place(is_view: bool, database: &str, subject: &str) -> String {
    let kind = if is_view { "View" } else { "Table" };
    [kind, " in ", database, " · ", subject].concat()
}

// Its columns
pub(super) const COLUMNS: &str = "Columns";
pub(super) const COLUMN_NAME: &str = "Name";
pub(super) const COLUMN_TYPE: &str = "Type";
pub(super) const COLUMN_MEANING: &str = "Meaning";
pub(super) const COLUMN_EXAMPLES: &str = "Examples";
pub(super) const COLUMN_IS_KEY: &str = "Key";

pub(super) fn column_refers_to(column: &str) -> String {
    ["Refers to ", column].concat()
}

// The chat beside the page
pub(super) const CHAT_ABOUT: &str = "The assistant can query the databases here, and the tables of files that you attach to a message. It sees which \
     table is open.";
pub(super) const TABLE_QUESTIONS: [&str; 3] = [
    "What is in this table?",
    "Summarize its most important numbers",
    "Which questions can it answer?",
];
pub(super) const GENERAL_QUESTIONS: [&str; 2] = [
    "What data is there?",
    "Which tables show how something changes over time?",
];
