//! The operator's documentation of a database: a Markdown file, or a table of the settings.
//!
//! In the file, `# Subject` begins a subject, `## table` a table of it, and `- column: text` is about a column.
//! Other text is about what it stands under.

use std::{collections::BTreeMap, fs};

use super::Table;
use parlor_base::settings::{DocumentationSettings, SubjectSettings};

/// The documentation of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documentation {
    pub subjects: Vec<SubjectDoc>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectDoc {
    pub name: String,
    pub about: String,
    pub tables: Vec<TableDoc>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDoc {
    pub name: String,
    pub about: String,
    pub columns: Vec<(String, String)>,
}

impl Documentation {
    /// Reads the documentation of the settings. A file that can no longer be read is logged and left out.
    pub fn read(settings: Option<&DocumentationSettings>) -> Self {
        match settings {
            None => Self::default(),
            Some(DocumentationSettings::Subjects(subjects)) => Self::from_settings(subjects),
            Some(DocumentationSettings::File(path)) => match fs::read_to_string(path) {
                Ok(text) => Self::parse(&text),
                Err(error) => {
                    tracing::error!(path = %path.display(), %error, "cannot read the documentation of a database");
                    Self::default()
                }
            },
        }
    }

    fn from_settings(subjects: &BTreeMap<String, SubjectSettings>) -> Self {
        let subjects = subjects.iter().map(|(name, subject)| SubjectDoc {
            name: name.clone(),
            about: subject.about.clone(),
            tables: subject
                .tables
                .iter()
                .map(|(name, table)| TableDoc {
                    name: name.clone(),
                    about: table.about.clone(),
                    columns: table.columns.clone().into_iter().collect(),
                })
                .collect(),
        });
        Self {
            subjects: subjects.collect(),
        }
    }

    /// Parses a Markdown file.
    pub fn parse(text: &str) -> Self {
        let mut subjects: Vec<SubjectDoc> = Vec::new();
        for line in text.lines() {
            let line = line.trim_end();
            if let Some(name) = line.strip_prefix("## ") {
                if subjects.is_empty() {
                    subjects.push(SubjectDoc {
                        name: "Tables".into(),
                        ..SubjectDoc::default()
                    });
                }
                if let Some(subject) = subjects.last_mut() {
                    subject.tables.push(TableDoc {
                        name: clean_name(name),
                        ..TableDoc::default()
                    });
                }
            } else if let Some(name) = line.strip_prefix("# ") {
                subjects.push(SubjectDoc {
                    name: clean_name(name),
                    ..SubjectDoc::default()
                });
            } else if let Some(subject) = subjects.last_mut() {
                match subject.tables.last_mut() {
                    Some(table) => match column_line(line) {
                        Some(column) => table.columns.push(column),
                        None => push_line(&mut table.about, line),
                    },
                    None => push_line(&mut subject.about, line),
                }
            }
        }
        for subject in &mut subjects {
            trim(&mut subject.about);
            for table in &mut subject.tables {
                trim(&mut table.about);
            }
        }
        Self { subjects }
    }
}

impl TableDoc {
    /// Adds the texts to a table. They replace the comments of the database.
    pub fn add_to(&self, table: &mut Table) {
        if !self.about.is_empty() {
            table.about.clone_from(&self.about);
        }
        for (name, about) in &self.columns {
            let column = table
                .columns
                .iter_mut()
                .find(|column| column.name.eq_ignore_ascii_case(name));
            if let Some(column) = column {
                column.about.clone_from(about);
            }
        }
    }
}

/// Parses `- column: text`, with or without backticks around the column.
fn column_line(line: &str) -> Option<(String, String)> {
    let (name, about) = line.strip_prefix("- ")?.split_once(':')?;
    let name = clean_name(name);
    (!name.is_empty() && !about.trim().is_empty()).then(|| (name, about.trim().to_owned()))
}

fn clean_name(name: &str) -> String {
    name.trim().trim_matches('`').trim().to_owned()
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn trim(text: &mut String) {
    *text = text.trim().to_owned();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_names_subjects_tables_and_columns() {
        let text = "Ignored.\n# Labour\nAbout work.\n\n## `jobs`\nOne row a month.\n\n- `rate`: percent: of all\n- no column\n## pay\n# Empty\n";
        let table = |name: &str, about: &str, columns: &[(&str, &str)]| TableDoc {
            name: name.into(),
            about: about.into(),
            columns: columns
                .iter()
                .map(|(name, about)| ((*name).into(), (*about).into()))
                .collect(),
        };
        let expected = [
            SubjectDoc {
                name: "Labour".into(),
                about: "About work.".into(),
                tables: vec![
                    table(
                        "jobs",
                        "One row a month.\n\n- no column",
                        &[("rate", "percent: of all")],
                    ),
                    table("pay", "", &[]),
                ],
            },
            SubjectDoc {
                name: "Empty".into(),
                ..SubjectDoc::default()
            },
        ];
        assert_eq!(Documentation::parse(text).subjects, expected);
    }
}
