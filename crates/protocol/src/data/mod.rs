//! The page *Data*: databases of the settings, their catalogues, an open table, and the tables of attached files.
//!
//! [`PAGE`] is the page, [`DataLocation`] a location on it, [`DataFields`] its context.

mod context;
mod location;

use serde::{Deserialize, Serialize};

pub use self::{
    context::DataFields,
    location::{DATA_PATH, DataLocation},
};
use super::{ApiError, Attachment, ConversationId, PageInfo};

/// The page *Data*.
pub static PAGE: PageInfo = PageInfo {
    name: "data",
    path: DATA_PATH,
    title: "Data",
    has_tray: true,
};

/// The initial data of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataPageData {
    pub catalogue: DataCatalogue,
    /// The open table, if one is open and could be read in time.
    pub table: Option<Result<TableDetails, ApiError>>,
}

/// The catalogues of all databases, the tables of the user's files, and the texts of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataCatalogue {
    /// The heading of the page.
    pub title: String,
    /// The placeholder of the message box.
    pub placeholder: String,
    /// The questions to begin with.
    pub questions: Vec<String>,
    pub databases: Vec<DatabaseEntry>,
    /// The newest files with tables in the user's messages, newest first.
    pub files: Vec<FileEntry>,
    /// True if there may be older ones.
    pub has_more_files: bool,
}

/// A database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseEntry {
    pub name: String,
    /// The kind of the database, for the person: "SQLite".
    pub dialect: String,
    pub subjects: Vec<SubjectEntry>,
    /// The error for which its catalogue is missing.
    pub problem: Option<String>,
}

/// A file with tables. They can be queried in its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub file: Attachment,
    pub conversation_id: ConversationId,
    /// The title of the conversation.
    pub title: String,
    /// The tables: the sheets of a workbook, or one without a name. Empty if the file is read only when it is queried.
    pub tables: Vec<TableEntry>,
}

/// Tables that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectEntry {
    pub name: String,
    pub about: String,
    pub tables: Vec<TableEntry>,
}

/// A table in the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    pub name: String,
    pub about: String,
    /// The names of the columns.
    pub columns: Vec<String>,
}

/// A table with its columns and first rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDetails {
    pub database: String,
    pub subject: String,
    pub name: String,
    pub is_view: bool,
    pub about: String,
    pub columns: Vec<ColumnDetails>,
    /// The first rows, with a text for each column; `None` for NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// The error for which the rows are missing.
    pub problem: Option<String>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDetails {
    pub name: String,
    pub data_type: String,
    pub about: String,
    pub is_key: bool,
    /// The column that it refers to.
    pub references: Option<String>,
    /// True if its values are numbers.
    pub is_numeric: bool,
    /// Different values of it, from the first rows.
    pub examples: Vec<String>,
}

impl FileEntry {
    /// True if all of these words are in the name of the file, the title, or one of its tables.
    pub fn matches(&self, words: &str) -> bool {
        let place = [&self.file.name, " ", &self.title].concat();
        let own = TableEntry::default().matches(&place, words);
        own || self.tables.iter().any(|table| table.matches(&place, words))
    }
}

impl TableEntry {
    /// True if all of these words are in the name, the text or the columns, or in the name of its subject.
    pub fn matches(&self, subject: &str, words: &str) -> bool {
        let text = [subject, &self.name, &self.about, &self.columns.join(" ")].join(" ");
        let text = text.to_lowercase();
        let words = words.to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_table_by_words_anywhere() {
        let table = TableEntry {
            name: "jobs".into(),
            about: "One row a month".into(),
            columns: vec!["rate".into()],
        };
        for (words, is_found) in [
            ("", true),
            ("RATE month", true),
            ("labour jobs", true),
            ("pay", false),
        ] {
            assert_eq!(table.matches("Labour", words), is_found, "{words}");
        }
    }
}
