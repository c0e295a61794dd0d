//! Catalogues and tables for the page.

use futures::future::join_all;

use super::{Data, DataError, find_table};
use parlor_base::text::single_line;
use parlor_databases::{Cell, Column, Database, QueryResult};
use parlor_protocol::{
    UserId,
    data::{ColumnDetails, DataCatalogue, DatabaseEntry, SubjectEntry, TableDetails, TableEntry},
};
use parlor_storage::StorageError;

/// The maximum length of a value on the page, in characters.
const MAX_VALUE_CHARS: usize = 200;
/// The number of example values of a column, and their maximum length in characters.
const MAX_EXAMPLES: usize = 3;
const MAX_EXAMPLE_CHARS: usize = 40;

impl Data {
    /// Returns the catalogues of all databases, the tables of a user's files, and the texts of the page.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn catalogue(&self, user_id: UserId) -> Result<DataCatalogue, StorageError> {
        let settings = &self.0.settings;
        let (files, has_more_files) = self.attached_tables(user_id).await?;
        Ok(DataCatalogue {
            title: settings.title.clone(),
            placeholder: settings.placeholder.clone(),
            questions: settings.questions.clone(),
            databases: join_all(self.0.databases.all().iter().map(database_entry)).await,
            files,
            has_more_files,
        })
    }

    /// Returns a table with its columns and first rows. If the rows can't be read, `problem` has the reason.
    pub async fn table(&self, database: &str, table: &str) -> Result<TableDetails, DataError> {
        let database = self.database(Some(database))?;
        let catalogue = database.catalogue().await?;
        let table = find_table(database, &catalogue, table)?;
        let (rows, problem) = match database.first_rows(table, self.0.settings.first_rows).await {
            Ok(rows) => (rows, None),
            Err(error) => (QueryResult::default(), Some(error.to_string())),
        };
        let subject = catalogue.subjects.iter().find(|subject| {
            let names = subject.tables.iter().map(|other| other.full_name());
            names.into_iter().any(|name| name == table.full_name())
        });
        Ok(TableDetails {
            database: database.name().into(),
            subject: subject.map(|subject| subject.name.clone()).unwrap_or_default(),
            name: table.full_name(),
            is_view: table.is_view,
            about: table.about.clone(),
            columns: table
                .columns
                .iter()
                .map(|column| column_details(column, &rows))
                .collect(),
            rows: shown_rows(&table.columns, &rows),
            problem,
        })
    }
}

async fn database_entry(database: &Database) -> DatabaseEntry {
    let (subjects, problem) = match database.catalogue().await {
        Ok(catalogue) => {
            let subjects = catalogue.subjects.iter().map(|subject| SubjectEntry {
                name: subject.name.clone(),
                about: subject.about.clone(),
                tables: subject
                    .tables
                    .iter()
                    .map(|table| TableEntry {
                        name: table.full_name(),
                        about: table.about.clone(),
                        columns: table.columns.iter().map(|column| column.name.clone()).collect(),
                    })
                    .collect(),
            });
            (subjects.collect(), None)
        }
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    DatabaseEntry {
        name: database.name().into(),
        dialect: database.dialect().name().into(),
        subjects,
        problem,
    }
}

/// Returns the rows with the columns in the order of the catalogue.
fn shown_rows(columns: &[Column], result: &QueryResult) -> Vec<Vec<Option<String>>> {
    let places: Vec<Option<usize>> = columns.iter().map(|column| place(column, result)).collect();
    let text = |cell: &Cell| cell.to_text().map(|text| single_line(&text, MAX_VALUE_CHARS));
    let row = |row: &Vec<Cell>| places.iter().map(|place| text(row.get((*place)?)?)).collect();
    result.rows.iter().map(row).collect()
}

fn place(column: &Column, result: &QueryResult) -> Option<usize> {
    result.columns.iter().position(|other| other.name == column.name)
}

fn column_details(column: &Column, result: &QueryResult) -> ColumnDetails {
    let place = place(column, result);
    let cells = || result.rows.iter().filter_map(|row| row.get(place?));
    let mut examples: Vec<String> = Vec::new();
    for text in cells().filter_map(Cell::to_text) {
        let text = single_line(&text, MAX_EXAMPLE_CHARS);
        if examples.len() < MAX_EXAMPLES && !text.is_empty() && !examples.contains(&text) {
            examples.push(text);
        }
    }
    ColumnDetails {
        name: column.name.clone(),
        data_type: column.data_type.clone(),
        about: column.about.clone(),
        is_key: column.is_key,
        references: column.references.clone(),
        is_numeric: place.is_some_and(|place| result.is_numeric(place)),
        examples,
    }
}
