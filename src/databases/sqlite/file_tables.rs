//! The tables of several files as one database: a view for each, in the temporary schema of the connection.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::quote_identifier;

/// The maximum length of a table's name, in characters.
const MAX_NAME_CHARS: usize = 60;

/// The tables of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// The file's name, from which its tables have theirs.
    pub name: String,
    /// The database with its tables.
    pub path: PathBuf,
}

impl TableFile {
    /// The number of files that SQLite opens at once: the main one and those that it can attach.
    pub const MAX_COUNT: usize = 10;
}

/// Returns the database that is opened first; an empty one without files.
pub fn first_path(files: &[TableFile]) -> &Path {
    files.first().map_or(Path::new(":memory:"), |file| &file.path)
}

/// Creates the views, whose first columns are shown. The first file is open already.
pub fn create_views(
    connection: &Connection,
    files: &[TableFile],
    max_columns: usize,
) -> rusqlite::Result<()> {
    let mut names = HashSet::new();
    for (index, file) in files.iter().enumerate() {
        let schema = match index {
            0 => "main".to_owned(),
            _ => format!("file{index}"),
        };
        if index > 0 {
            let path = file.path.to_string_lossy();
            connection.execute(&format!("ATTACH ?1 AS {schema}"), [path])?;
        }
        let mut statement = connection.prepare(&format!(
            "SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' ORDER BY rowid"
        ))?;
        let tables = statement.query_map([], |row| row.get(0))?;
        let tables: Vec<String> = tables.collect::<rusqlite::Result<_>>()?;
        let stem = Path::new(&file.name).file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        for table in &tables {
            let name = match &tables[..] {
                [_] => stem.to_string(),
                _ => format!("{stem} {table}"),
            };
            let columns = column_list(connection, &schema, table, max_columns)?;
            create_view(
                connection,
                &table_name(&name),
                &mut names,
                &format!("SELECT {columns} FROM {schema}.{}", quote_identifier(table)),
            )?;
        }
    }
    Ok(())
}

fn column_list(
    connection: &Connection,
    schema: &str,
    table: &str,
    max_columns: usize,
) -> rusqlite::Result<String> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1, ?2) LIMIT ?3")?;
    let count = i64::try_from(max_columns).unwrap_or(i64::MAX);
    let names = statement.query_map((table, schema, count), |row| row.get::<_, String>(0))?;
    let names = names.map(|name| Ok(quote_identifier(&name?)));
    Ok(names.collect::<rusqlite::Result<Vec<_>>>()?.join(", "))
}

/// Creates a view under a name that needs no quotes: a keyword gets an end.
fn create_view(
    connection: &Connection,
    name: &str,
    taken: &mut HashSet<String>,
    select: &str,
) -> rusqlite::Result<()> {
    let is_keyword = connection.prepare(&format!("SELECT 1 AS {name}")).is_err();
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
    ))
}

/// Returns a name that needs no quotes, unless it is a keyword: in lower case, with `_` for all but letters and digits.
fn table_name(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars().take(MAX_NAME_CHARS) {
        if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        } else if !plain.is_empty() && !plain.ends_with('_') {
            plain.push('_');
        }
    }
    match plain.trim_end_matches('_') {
        "" => "table_1".into(),
        plain if plain.starts_with(|c: char| c.is_numeric()) => format!("t_{plain}"),
        // SQLite's own names.
        plain if plain.starts_with("sqlite_") => format!("t_{plain}"),
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
            ("a\"; DROP TABLE b", "a_drop_table_b"),
        ] {
            assert_eq!(table_name(name), expected);
        }
    }

    #[test]
    fn views_have_different_names() {
        let connection = Connection::open_in_memory().expect("a database");
        let mut taken = HashSet::new();
        for name in ["order", "a", "a", "order"] {
            create_view(&connection, name, &mut taken, "SELECT 1 AS x").expect("a view");
        }
        for name in ["order_table", "order_table_2", "a", "a_2"] {
            let select = format!("SELECT x FROM {name}");
            let x = connection.query_row(&select, [], |row| row.get::<_, i64>(0));
            assert_eq!(x, Ok(1), "{name}");
        }
    }
}
