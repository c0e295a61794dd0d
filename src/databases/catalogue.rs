//! The catalogue of a database: subjects, their tables, and the columns of these.

use super::{
    backend::quote_identifier,
    documentation::{Documentation, SubjectDoc},
};

/// The subject of tables that the documentation does not name.
const OTHER_TABLES: &str = "Other tables";
/// The subject of all tables without a documentation.
const ALL_TABLES: &str = "Tables";

/// The catalogue of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    pub subjects: Vec<Subject>,
}

/// Tables that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    pub name: String,
    /// The operator's text, as Markdown.
    pub about: String,
    pub tables: Vec<Table>,
}

/// A table or a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The schema, if it must be named.
    pub schema: Option<String>,
    pub name: String,
    pub is_view: bool,
    /// The operator's text, or the comment in the database.
    pub about: String,
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub data_type: String,
    pub is_nullable: bool,
    /// True if it belongs to the primary key.
    pub is_key: bool,
    /// The column that it refers to: `table.column`.
    pub references: Option<String>,
    /// The operator's text, or the comment in the database.
    pub about: String,
}

impl Table {
    /// Returns the name as a query has to write it, without quotes: `schema.name` or `name`.
    pub fn full_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the quoted name.
    pub fn quoted_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quote_identifier(schema), quote_identifier(&self.name)),
            None => quote_identifier(&self.name),
        }
    }

    /// Returns a column by its name, in any case if that is unambiguous.
    pub fn column(&self, name: &str) -> Option<&Column> {
        find_by_name(&self.columns, name, |column| column.name.clone())
    }
}

impl Catalogue {
    /// Sorts tables into the subjects of a documentation, and adds its texts.
    pub fn new(mut tables: Vec<Table>, documentation: &Documentation) -> Self {
        let mut subjects = Vec::new();
        for SubjectDoc {
            name,
            about,
            tables: docs,
        } in &documentation.subjects
        {
            let mut subject = Subject {
                name: name.clone(),
                about: about.clone(),
                tables: Vec::new(),
            };
            for doc in docs {
                let is_named = |table: &Table| table.full_name().eq_ignore_ascii_case(&doc.name);
                let Some(at) = tables.iter().position(is_named) else {
                    tracing::warn!(
                        table = doc.name,
                        "the documentation of a database names a table that it does not have"
                    );
                    continue;
                };
                let mut table = tables.remove(at);
                doc.add_to(&mut table);
                subject.tables.push(table);
            }
            subjects.push(subject);
        }
        if !tables.is_empty() {
            let name = if subjects.is_empty() {
                ALL_TABLES
            } else {
                OTHER_TABLES
            };
            subjects.push(Subject {
                name: name.into(),
                about: String::new(),
                tables,
            });
        }
        Self { subjects }
    }

    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.subjects.iter().flat_map(|subject| &subject.tables)
    }

    /// Returns a table by its name, in any case if that is unambiguous.
    pub fn table(&self, name: &str) -> Option<&Table> {
        let all: Vec<&Table> = self.tables().collect();
        // A model may quote the name, or name the default schema.
        let name = name.replace('"', "");
        let name = name.strip_prefix("public.").unwrap_or(&name);
        find_by_name(&all, name, |table| table.full_name()).copied()
    }

    /// Returns a subject by its name, in any case.
    pub fn subject(&self, name: &str) -> Option<&Subject> {
        find_by_name(&self.subjects, name, |subject| subject.name.clone())
    }
}

fn find_by_name<'a, T>(all: &'a [T], name: &str, name_of: impl Fn(&T) -> String) -> Option<&'a T> {
    if let Some(exact) = all.iter().find(|item| name_of(item) == name) {
        return Some(exact);
    }
    let lower = name.to_lowercase();
    let mut alike = all.iter().filter(|item| name_of(item).to_lowercase() == lower);
    alike.next().filter(|_| alike.next().is_none())
}
