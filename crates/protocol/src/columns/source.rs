//! The sources of rows to ask about.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

const ARTICLES: &str = "articles";

/// Something with rows, as a text: `articles`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ColumnSource {
    /// The saved articles. The key of a row is its PMID.
    Articles,
}

impl ColumnSource {
    /// All sources.
    pub const ALL: [Self; 1] = [Self::Articles];
}

/// The error for a text that names no source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSource;

impl fmt::Display for InvalidSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rows that columns can have are: articles")
    }
}

impl fmt::Display for ColumnSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Articles => f.write_str(ARTICLES),
        }
    }
}

impl FromStr for ColumnSource {
    type Err = InvalidSource;

    fn from_str(text: &str) -> Result<Self, InvalidSource> {
        match text {
            ARTICLES => Ok(Self::Articles),
            _ => Err(InvalidSource),
        }
    }
}

impl TryFrom<String> for ColumnSource {
    type Error = InvalidSource;

    fn try_from(text: String) -> Result<Self, InvalidSource> {
        text.parse()
    }
}

impl From<ColumnSource> for String {
    fn from(source: ColumnSource) -> Self {
        source.to_string()
    }
}

impl JsonSchema for ColumnSource {
    fn schema_name() -> Cow<'static, str> {
        "ColumnSource".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "Something with rows: `articles` are your saved articles.", "type": "string" })
    }
}
