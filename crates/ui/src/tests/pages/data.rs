//! The data of the page *Data*.

use parlor_protocol::{
    Attachment, ConversationId,
    data::{ColumnDetails, DataCatalogue, DatabaseEntry, FileEntry, SubjectEntry, TableDetails, TableEntry},
    examples,
};

/// The catalogue of one database that can be read, and of one that can't.
pub fn catalogue(text: &str) -> DataCatalogue {
    let table = TableEntry {
        name: text.into(),
        about: text.into(),
        columns: vec![text.into()],
    };
    let readable = DatabaseEntry {
        name: text.into(),
        dialect: "SQLite".into(),
        subjects: vec![SubjectEntry {
            name: text.into(),
            about: text.into(),
            tables: vec![table],
        }],
        problem: None,
    };
    let unreadable = DatabaseEntry {
        name: text.into(),
        problem: Some(text.into()),
        ..DatabaseEntry::default()
    };
    DataCatalogue {
        title: text.into(),
        placeholder: text.into(),
        questions: vec![text.into()],
        databases: vec![readable, unreadable],
        files: vec![file(text)],
        has_more_files: true,
    }
}

/// A file with one table.
fn file(text: &str) -> FileEntry {
    FileEntry {
        file: Attachment {
            name: text.into(),
            media_type: "text/csv".into(),
            text_bytes: Some(7),
            ..examples::attachment()
        },
        conversation_id: ConversationId::NONE,
        title: text.into(),
        tables: vec![TableEntry {
            name: text.into(),
            about: text.into(),
            columns: vec![text.into()],
        }],
    }
}

/// A table with one column.
pub fn table(text: &str) -> TableDetails {
    TableDetails {
        database: text.into(),
        subject: text.into(),
        name: text.into(),
        is_view: false,
        about: text.into(),
        columns: vec![ColumnDetails {
            name: text.into(),
            data_type: text.into(),
            about: text.into(),
            is_key: true,
            references: Some(text.into()),
            is_numeric: false,
            examples: vec![text.into()],
        }],
        rows: vec![vec![Some(text.into())], vec![None]],
        problem: None,
    }
}
