//! Databases that the assistant may query. Only the settings can name them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::Path,
};

use reqwest::Url;
use serde::Deserialize;

use super::{Secret, SettingPath, SettingsError, strip_secrets};

/// The name of the database with the tables of attached files.
const RESERVED_NAME: &str = "files";

/// The maximum length of a database's name.
const MAX_NAME_BYTES: usize = 32;

/// The beginnings of names of functions that run SQL from a text, so that they could call any other.
const SQL_RUNNERS: [&str; 11] = [
    "connectby",
    "crosstab",
    "cursor_to_xml",
    "database_to_xml",
    "dblink",
    "query_to_xml",
    "schema_to_xml",
    "table_to_xml",
    "ts_rewrite",
    "ts_stat",
    "xpath_table",
];

/// A database that the assistant may read.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSettings {
    /// Its name for the person and the model: letters, digits, - and _.
    pub name: String,
    /// The URL: `sqlite:` and the path of a file, or `postgres://user@host/database`. Nothing is written to it, but give
    /// Postgres a role that may only read.
    pub url: String,
    /// The environment variable that has the password. Passwords don't belong in files.
    #[serde(default)]
    pub password_env: Option<String>,
    /// The password, read from the environment.
    #[serde(skip)]
    pub password: Option<Secret>,
    /// The meaning of the data: a Markdown file (`# Subject`, `## table`, `- column: text`), or a table of subjects, each with
    /// about and tables, and each table with about and columns. Without it, the comments in the database are used.
    #[serde(default)]
    pub documentation: Option<DocumentationSettings>,
    /// Functions of Postgres that a query may call besides the harmless ones that Parlor knows, by their names without a schema.
    /// Such as your own that only compute.
    #[serde(default)]
    pub functions: Vec<String>,
}

/// The documentation of a database.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum DocumentationSettings {
    /// A Markdown file.
    File(SettingPath),
    /// The subjects by name.
    Subjects(BTreeMap<String, SubjectSettings>),
}

/// A subject: tables that belong together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubjectSettings {
    pub about: String,
    pub tables: BTreeMap<String, TableSettings>,
}

/// The documentation of a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableSettings {
    pub about: String,
    pub columns: BTreeMap<String, String>,
}

/// The place of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of SQLite.
    Sqlite(SettingPath),
    /// The URL of a Postgres server. It may contain a password.
    Postgres(Url),
}

/// A setting of a database that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseSettingsError {
    #[error(
        "the database name “{0}” must have 1 to {MAX_NAME_BYTES} letters, digits, - or _ (setting databases.name)"
    )]
    Name(String),
    #[error(
        "no database can have the name “files”, under which attached files are queried (setting databases.name)"
    )]
    ReservedName,
    #[error("two databases have the name “{0}” (setting databases.name): give each its own")]
    DuplicateName(String),
    #[error(
        "the URL of the database “{0}” must be sqlite: and the path of a file, or postgres://user@host/database (setting \
         databases.url)"
    )]
    Url(String),
    #[error("the file {} of the database “{name}” can't be read: {why} (setting databases.url)", path.display())]
    File {
        name: String,
        path: SettingPath,
        why: String,
    },
    #[error("the password of the database “{name}” is missing: set the environment variable {variable}")]
    Password { name: String, variable: String },
    #[error(
        "the database “{name}” can't allow the function “{function}”, which runs SQL from a text (setting databases.functions)"
    )]
    SqlRunner { name: String, function: String },
    #[error(
        "the function “{function}” of the database “{name}” must be a name without a schema and parentheses (setting \
         databases.functions)"
    )]
    Function { name: String, function: String },
    #[error(
        "the database “{0}” is no Postgres, so it has no functions to allow (setting databases.functions)"
    )]
    NoFunctions(String),
    #[error(
        "the documentation {} of the database “{name}” can't be read: {cause} (setting databases.documentation)",
        path.display()
    )]
    Documentation {
        name: String,
        path: SettingPath,
        cause: std::io::Error,
    },
}

impl DatabaseSettings {
    /// Returns the place of the database; `None` if the setting can't be read.
    pub fn parsed_url(&self) -> Option<DatabaseUrl> {
        if let Some(path) = self.url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return (!path.is_empty()).then(|| DatabaseUrl::Sqlite(path.into()));
        }
        let url = Url::parse(&self.url).ok()?;
        let is_postgres = matches!(url.scheme(), "postgres" | "postgresql");
        is_postgres.then_some(DatabaseUrl::Postgres(url))
    }

    pub(super) fn read_password(&mut self, env: impl Fn(&str) -> Option<String>) {
        self.password = self.password_env.as_deref().and_then(env).map(Secret);
    }

    fn check(&self) -> Result<(), DatabaseSettingsError> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if !(1..=MAX_NAME_BYTES).contains(&self.name.len()) || !self.name.bytes().all(is_part) {
            return Err(DatabaseSettingsError::Name(self.name.clone()));
        }
        if self.name.eq_ignore_ascii_case(RESERVED_NAME) {
            return Err(DatabaseSettingsError::ReservedName);
        }
        let name = || self.name.clone();
        match self.parsed_url() {
            Some(DatabaseUrl::Sqlite(path)) => {
                check_file(&path).map_err(|why| DatabaseSettingsError::File {
                    name: name(),
                    path,
                    why,
                })?;
            }
            Some(DatabaseUrl::Postgres(_)) => {}
            // The URL is not shown: it may contain a password.
            None => return Err(DatabaseSettingsError::Url(name())),
        }
        self.check_functions()?;
        if let (Some(variable), None) = (&self.password_env, &self.password) {
            return Err(DatabaseSettingsError::Password {
                name: name(),
                variable: variable.clone(),
            });
        }
        if let Some(DocumentationSettings::File(path)) = &self.documentation {
            fs::read_to_string(path).map_err(|cause| DatabaseSettingsError::Documentation {
                name: name(),
                path: path.clone(),
                cause,
            })?;
        }
        Ok(())
    }
    fn check_functions(&self) -> Result<(), DatabaseSettingsError> {
        if !self.functions.is_empty() && matches!(self.parsed_url(), Some(DatabaseUrl::Sqlite(_))) {
            return Err(DatabaseSettingsError::NoFunctions(self.name.clone()));
        }
        for function in &self.functions {
            let (name, function) = (self.name.clone(), function.clone());
            if function.is_empty() || function.contains(['.', '(', '"', ' ']) {
                return Err(DatabaseSettingsError::Function { name, function });
            }
            if SQL_RUNNERS.iter().any(|runner| function.starts_with(runner)) {
                return Err(DatabaseSettingsError::SqlRunner { name, function });
            }
        }
        Ok(())
    }
}

fn check_file(path: &Path) -> Result<(), String> {
    match fs::File::open(path).and_then(|file| file.metadata()) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err("it is not a file".into()),
        Err(cause) => Err(cause.to_string()),
    }
}

/// Checks all databases: their names, URLs, files and passwords.
pub(super) fn check(databases: &[DatabaseSettings]) -> Result<(), SettingsError> {
    let mut names = BTreeSet::new();
    for database in databases {
        database.check()?;
        if !names.insert(&database.name) {
            return Err(DatabaseSettingsError::DuplicateName(database.name.clone()).into());
        }
    }
    Ok(())
}

/// Redacts the URL, which may contain a password.
impl fmt::Debug for DatabaseSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("name", &self.name)
            .field("url", &strip_secrets(&self.url))
            .field("password_env", &self.password_env)
            .field("password", &self.password)
            .field("documentation", &self.documentation)
            .field("functions", &self.functions)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(name: &str, url: &str) -> DatabaseSettings {
        toml::from_str(&format!("name = \"{name}\"\nurl = \"{url}\"")).unwrap()
    }

    #[test]
    fn unusable_databases_are_named() {
        let mut without_password = database("a", "postgres://me@localhost/x");
        without_password.password_env = Some("NO_SUCH".into());
        let mut undocumented = database("a", "postgres://me@localhost/x");
        undocumented.documentation = Some(DocumentationSettings::File("/no/such.md".into()));
        let allowing = |url: &str, function: &str| DatabaseSettings {
            functions: vec![function.into()],
            ..database("a", url)
        };
        let postgres = "postgres://me@localhost/x";
        for (databases, expected) in [
            (
                vec![allowing(postgres, "dblink_exec")],
                "“dblink_exec”, which runs SQL from a text",
            ),
            (
                vec![allowing(postgres, "ts_rewrite")],
                "“ts_rewrite”, which runs SQL from a text",
            ),
            (
                vec![allowing(postgres, "pay.total")],
                "must be a name without a schema",
            ),
            (vec![allowing("sqlite:Cargo.toml", "total")], "no Postgres"),
            (vec![database("a b", "sqlite:x")], "name “a b” must have"),
            (vec![database("a", "mysql://x")], "must be sqlite: and the path"),
            (vec![database("a", "sqlite:")], "must be sqlite: and the path"),
            (
                vec![database("a", "sqlite:/no/such.db")],
                "/no/such.db of the database “a” can't be read",
            ),
            (vec![database("a", "sqlite:src")], "it is not a file"),
            (vec![without_password], "set the environment variable NO_SUCH"),
            (vec![undocumented], "documentation /no/such.md"),
            (
                vec![
                    database("a", "sqlite:Cargo.toml"),
                    database("a", "sqlite:Cargo.toml"),
                ],
                "two databases have the name “a”",
            ),
        ] {
            let error = check(&databases).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(check(&[database("a", "sqlite://Cargo.toml")]).is_ok());
        assert!(check(&[allowing(postgres, "total")]).is_ok());
    }

    #[test]
    fn debug_shows_no_password() {
        let mut database = database("a", "postgres://me:hunter22@db.example/x?password=hunter33");
        database.password = Some(Secret("hunter44".into()));
        let printed = format!("{database:?}");
        assert!(
            printed.contains("db.example/x") && !printed.contains("hunter"),
            "{printed}"
        );
    }
}
