//! Names in data that commits before 0.1.0 stored. They are read for ever and written no more.

use serde::{Deserialize, Deserializer};

/// Returns the present name of a payload's type.
pub fn payload_type(name: String) -> String {
    match name.as_str() {
        "article" => "pubmed_article".into(),
        "article_list" => "pubmed_search_results".into(),
        "web_results" => "web_search_results".into(),
        _ => name,
    }
}

/// Reads a payload's type as [`payload_type`] names it.
pub(crate) fn read_payload_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(payload_type)
}
