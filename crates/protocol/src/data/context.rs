//! The page *Data* in the context of a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PageFields;

/// The state of the page *Data*: the search in the catalogue and the open table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DataFields {
    /// The words that the user searches the catalogue for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalogue_query: Option<String>,
    /// The database of the open table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The name of the open table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

impl PageFields for DataFields {
    const PAGE: &'static str = super::PAGE.name;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageContext;

    #[test]
    fn stored_context_stays_readable() {
        let stored = r#"{"current_page":"data","catalogue_query":"pay","database":"town","table":"jobs"}"#;
        let context: PageContext = serde_json::from_str(stored).unwrap();
        let fields: DataFields = context.fields().unwrap();
        assert_eq!(fields.table.as_deref(), Some("jobs"));
        let again = context.normalized::<DataFields>().unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), stored);
    }
}
