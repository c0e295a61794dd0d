//! The catalogue of a database: subjects, their tables, and the columns of these.

use super::{
    backend::quote_identifier,
    documentation::{Documentation, SubjectDoc},
};

/// The subject of tables that the documentation does not name.
const OTHER_TABLES: &str = "Other tables";
/// The schema that a name need not have.
const DEFAULT_SCHEMA: &str = "public";
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
    /// Returns the name by which it is found: `schema.name` or `name`. A part is in quotes if it could be read as several otherwise.
    pub fn full_name(&self) -> String {
        let part = |name: &str| match name.contains(['.', '"']) {
            true => quote_identifier(name),
            false => name.to_owned(),
        };
        match &self.schema {
            Some(schema) => format!("{}.{}", part(schema), part(&self.name)),
            None => part(&self.name),
        }
    }

    /// Returns the parts of the name.
    fn parts(&self) -> Vec<String> {
        self.schema.iter().chain([&self.name]).cloned().collect()
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
                let is_named = |table: &Table| {
                    table.full_name().eq_ignore_ascii_case(&doc.name)
                        || table.parts().join(".").eq_ignore_ascii_case(&doc.name)
                };
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
        let find = |parts: &[String]| {
            let joined = parts.join("\0");
            find_by_name(&all, &joined, |table| table.parts().join("\0")).copied()
        };
        // A model may quote the name or not, and name the default schema.
        let written = name_parts(name);
        let plain: Vec<String> = name.split('.').map(str::to_owned).collect();
        let without_default = |parts: &[String]| match parts {
            [schema, rest @ ..] if schema == DEFAULT_SCHEMA && !rest.is_empty() => find(rest),
            _ => None,
        };
        find(&written)
            .or_else(|| without_default(&written))
            .or_else(|| find(&[name.to_owned()]))
            .or_else(|| find(&plain))
            .or_else(|| find_by_name(&all, name, |table| table.full_name()).copied())
    }

    /// Returns a subject by its name, in any case.
    pub fn subject(&self, name: &str) -> Option<&Subject> {
        find_by_name(&self.subjects, name, |subject| subject.name.clone())
    }
}

/// Splits a name as SQL writes it into its parts, without their quotes. A quote within a part is a part of it.
fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        let is_start = !is_quoted && parts.last().is_none_or(String::is_empty);
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                push_char(&mut parts, '"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if is_start => is_quoted = true,
            '.' if !is_quoted => parts.push(String::new()),
            c => push_char(&mut parts, c),
        }
    }
    parts
}

fn push_char(parts: &mut [String], c: char) {
    if let Some(part) = parts.last_mut() {
        part.push(c);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_by_any_written_name() {
        let table = |schema: Option<&str>, name: &str| Table {
            schema: schema.map(str::to_owned),
            name: name.into(),
            ..Table::default()
        };
        let tables = vec![
            table(None, "jobs"),
            table(None, "odd \"name"),
            table(None, "\""),
            table(None, "a.b"),
            table(Some("a"), "b"),
            table(Some("my \"schema"), "best"),
            table(Some("my \"schema"), "x\"\"y.z"),
            table(None, "Jobs 2"),
        ];
        let catalogue = Catalogue::new(tables.clone(), &Documentation::default());
        for table in &tables {
            for name in [
                table.full_name(),
                table.quoted_name(),
                format!("public.{}", table.quoted_name()),
            ] {
                if table.schema.is_some() && name.starts_with("public") {
                    continue;
                }
                assert_eq!(catalogue.table(&name), Some(table), "{name}");
            }
        }
        for (name, expected) in [
            ("JOBS", 0),
            ("public.jobs", 0),
            ("\"public\".\"jobs\"", 0),
            ("odd \"name", 1),
            ("a.b", 4),
            ("\"a\".b", 4),
            ("my \"schema.best", 5),
            ("jobs 2", 7),
        ] {
            assert_eq!(catalogue.table(name), Some(&tables[expected]), "{name}");
        }
        for name in ["", "\"", ".", "a.", "odd name", "\"jobs", "public.", "b"] {
            let found = catalogue.table(name).map(Table::full_name);
            assert!(
                found.is_none() || name == "\"" || name == "\"jobs",
                "{name}: {found:?}"
            );
        }
    }
}
