//! The tables of several files as one database: a view for each, in the temporary schema of the connection.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use icu_normalizer::ComposingNormalizerBorrowed;
use rusqlite::Connection;

use super::quote_identifier;

/// The maximum length of a table's name from its file, and of the part from its sheet, in characters.
const MAX_NAME_CHARS: usize = 60;
const MAX_PART_CHARS: usize = 30;

/// The tables of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// The file's name, from which its tables have theirs.
    pub name: String,
    /// The database with its tables.
    pub path: PathBuf,
}

/// The files whose tables are one database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFiles {
    /// The files, at most [`TableFile::MAX_COUNT`].
    pub files: Vec<TableFile>,
    /// Notes about files whose tables are not there, for each result.
    pub missing: Vec<String>,
}

impl TableFile {
    /// The number of files that SQLite opens at once: the main one and those that it can attach.
    pub const MAX_COUNT: usize = 10;
}

/// A note about what was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNote {
    /// The table; `None` for a sheet that is not a table and for a file that was not read.
    table: Option<String>,
    pub text: String,
}

impl TableNote {
    /// Returns `true` if it belongs to the result of a query: the query has the table's name, or there is no table.
    pub fn is_about(&self, sql: &str) -> bool {
        let mut words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_named = |table: &String| words.any(|word| word.to_lowercase() == *table);
        self.table.as_ref().is_none_or(is_named)
    }
}

/// Returns the database that is opened first; an empty one without files.
pub fn first_path(files: &[TableFile]) -> &Path {
    files.first().map_or(Path::new(":memory:"), |file| &file.path)
}

/// Creates the views, whose first columns are shown. The first file is open already. Returns what was not read.
pub fn create_views(
    connection: &Connection,
    tables: &TableFiles,
    max_columns: usize,
) -> rusqlite::Result<Vec<TableNote>> {
    let missing = tables.missing.iter().cloned();
    let mut notes: Vec<TableNote> = missing.map(|text| TableNote { table: None, text }).collect();
    let mut names = HashSet::new();
    for (index, file) in tables.files.iter().enumerate() {
        let schema = match index {
            0 => "main".to_owned(),
            _ => format!("file{index}"),
        };
        if index > 0 {
            let path = file.path.to_string_lossy();
            connection.execute(&format!("ATTACH ?1 AS {schema}"), [path])?;
        }
        let tables = stored_tables(connection, &schema)?;
        let stem = Path::new(&file.name).file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        let is_only = tables.iter().filter(|table| table.name.is_some()).count() == 1;
        for table in &tables {
            let Some(stored_name) = &table.name else {
                let cut = table.cut.as_deref().unwrap_or_default();
                let text = format!(
                    "The sheet “{}” of “{}” was not read ({cut}).",
                    table.sheet, file.name
                );
                notes.push(TableNote { table: None, text });
                continue;
            };
            let name = match is_only {
                true => table_name(&stem, MAX_NAME_CHARS),
                false => {
                    let sheet = shorten(&table.sheet, MAX_PART_CHARS);
                    table_name(
                        &format!("{} {sheet}", shorten(&stem, MAX_PART_CHARS)),
                        MAX_NAME_CHARS + 1,
                    )
                }
            };
            let (columns, shown) = column_list(connection, &schema, stored_name, max_columns)?;
            let name = create_view(
                connection,
                &name,
                &mut names,
                &format!("SELECT {columns} FROM {schema}.{}", quote_identifier(stored_name)),
            )?;
            let mut note = |text| {
                notes.push(TableNote {
                    table: Some(name.clone()),
                    text,
                });
            };
            if let Some(cut) = &table.cut {
                let count = table.row_count;
                note(format!(
                    "Only the first {count} rows of “{name}” were read ({cut})."
                ));
            }
            for text in &table.notes {
                note(format!("“{name}”: {text}"));
            }
            if usize::try_from(table.width).is_ok_and(|width| width > shown) {
                let width = table.width;
                note(format!(
                    "“{name}” has only the first {shown} of {width} columns of the file."
                ));
            }
        }
    }
    Ok(notes)
}

/// A table as its file's database lists it.
struct StoredTable {
    name: Option<String>,
    sheet: String,
    row_count: i64,
    cut: Option<String>,
    width: i64,
    /// Notes for its readers.
    notes: Vec<String>,
}

fn stored_tables(connection: &Connection, schema: &str) -> rusqlite::Result<Vec<StoredTable>> {
    let mut statement = connection.prepare(&format!(
        "SELECT name, sheet, row_count, cut, width FROM {schema}.parlor_tables ORDER BY rowid"
    ))?;
    let tables = statement.query_map([], |row| {
        Ok(StoredTable {
            name: row.get(0)?,
            sheet: row.get(1)?,
            row_count: row.get(2)?,
            cut: row.get(3)?,
            width: row.get(4)?,
            notes: Vec::new(),
        })
    })?;
    let mut tables = tables.collect::<rusqlite::Result<Vec<StoredTable>>>()?;
    for (name, text) in stored_notes(connection, schema)? {
        if let Some(table) = tables
            .iter_mut()
            .find(|table| table.name.as_deref() == Some(&name))
        {
            table.notes.push(text);
        }
    }
    Ok(tables)
}

/// Returns the notes about tables, by their names. A database of an earlier version has none.
fn stored_notes(connection: &Connection, schema: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let has_notes =
        format!("SELECT EXISTS (SELECT 1 FROM {schema}.sqlite_schema WHERE name = 'parlor_notes')");
    if !connection.query_row(&has_notes, [], |row| row.get::<_, bool>(0))? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(&format!("SELECT name, text FROM {schema}.parlor_notes"))?;
    let notes = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    notes.collect()
}

fn shorten(name: &str, max_chars: usize) -> String {
    name.chars().take(max_chars).collect()
}

fn column_list(
    connection: &Connection,
    schema: &str,
    table: &str,
    max_columns: usize,
) -> rusqlite::Result<(String, usize)> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1, ?2) LIMIT ?3")?;
    let count = i64::try_from(max_columns).unwrap_or(i64::MAX);
    let names = statement.query_map((table, schema, count), |row| row.get::<_, String>(0))?;
    let names = names.map(|name| Ok(quote_identifier(&name?)));
    let names = names.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok((names.join(", "), names.len()))
}

/// Creates a view under a name that needs no quotes: a keyword gets an end.
fn create_view(
    connection: &Connection,
    name: &str,
    taken: &mut HashSet<String>,
    select: &str,
) -> rusqlite::Result<String> {
    let use_name = format!("SELECT {name}.x FROM (SELECT 1 AS x) AS {name}");
    let is_keyword = connection.prepare(&use_name).is_err();
    let name = if is_keyword {
        format!("{name}_table")
    } else {
        name.to_owned()
    };
    let mut free = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}_{number}")));
    let name = free.find(|name| taken.insert(name.clone())).unwrap_or(name);
    connection.execute_batch(&format!(
        "CREATE TEMP VIEW {} AS {select}",
        quote_identifier(&name)
    ))?;
    Ok(name)
}

/// Returns a name that needs no quotes, unless it is a keyword: in lower case, with `_` for all but letters and digits.
fn table_name(name: &str, max_chars: usize) -> String {
    // A letter with its accent is one character, however the file's name writes it.
    let name = ComposingNormalizerBorrowed::new_nfc().normalize(name);
    let mut plain = String::new();
    for c in name.chars().take(max_chars) {
        if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        } else if !plain.is_empty() && !plain.ends_with('_') {
            plain.push('_');
        }
    }
    match plain.trim_end_matches('_') {
        "" => "table_1".into(),
        plain if plain.starts_with(|c: char| c.is_numeric()) => format!("t_{plain}"),
        // SQLite's own names: a view would hide a function that reads the catalogue.
        plain if plain.starts_with("sqlite_") || plain.starts_with("pragma_") => format!("t_{plain}"),
        plain => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_need_no_quotes() {
        for (name, expected) in [
            ("Sales 2024 (final)", "sales_2024_final"),
            ("Åbningstider", "åbningstider"),
            ("2024-01", "t_2024_01"),
            ("--", "table_1"),
            ("sqlite_master", "t_sqlite_master"),
            ("pragma_table_info", "t_pragma_table_info"),
            ("A\u{30a}bning", "åbning"),
            ("a\"; DROP TABLE b", "a_drop_table_b"),
        ] {
            assert_eq!(table_name(name, MAX_NAME_CHARS), expected);
        }
    }

    #[test]
    fn views_have_different_names() {
        let connection = Connection::open_in_memory().expect("a database");
        let mut taken = HashSet::new();
        for name in ["order", "a", "a", "order", "cast", "current_date"] {
            create_view(&connection, name, &mut taken, "SELECT 1 AS x").expect("a view");
        }
        for name in [
            "order_table",
            "order_table_2",
            "a",
            "a_2",
            "cast_table",
            "current_date_table",
        ] {
            let select = format!("SELECT x FROM {name}");
            let x = connection.query_row(&select, [], |row| row.get::<_, i64>(0));
            assert_eq!(x, Ok(1), "{name}");
        }
    }
}
