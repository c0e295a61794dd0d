//! Names in data that commits before 0.1.0 stored. They are read for ever and written no more.

use serde::{Deserialize, Deserializer};

use crate::{SuggestedAction, data::DataLocation, json, literature::LiteratureLocation};

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

/// The data of the actions that opened an article, a table or a payload before one action opened all.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OpeningData {
    pmid: Option<String>,
    table: Option<String>,
    database: Option<String>,
}

/// Returns an action under its present name, with the data that it has now.
pub fn suggested_action(mut action: SuggestedAction) -> SuggestedAction {
    if !matches!(
        action.action.as_str(),
        "open_article" | "open_table" | "open_payload"
    ) {
        return action;
    }
    let name = std::mem::replace(&mut action.action, "open".into());
    let data = action.data.as_deref().unwrap_or_default();
    let OpeningData {
        pmid,
        table,
        database,
    } = json::parse(data.as_bytes()).unwrap_or_default();
    let url = match (name.as_str(), pmid, table) {
        ("open_article", Some(pmid), _) => LiteratureLocation {
            article: Some(pmid),
            ..LiteratureLocation::default()
        }
        .to_url(),
        ("open_table", _, Some(table)) => match database.filter(|name| !name.is_empty()) {
            Some(database) => DataLocation::of_table(&database, &table).to_url(),
            // It meant the only database.
            None => DataLocation {
                query: table,
                table: None,
            }
            .to_url(),
        },
        // The data of a payload are the same.
        _ => return action,
    };
    // A URL needs no escapes in JSON.
    action.data = Some(["{\"url\":\"", &url, "\"}"].concat());
    action
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ActionHandler;

    #[test]
    fn earlier_openings_keep_their_meaning() {
        for (name, data, expected) in [
            (
                "open_article",
                r#"{"pmid":"12"}"#,
                r#"{"url":"/literature/articles/12"}"#,
            ),
            (
                "open_article",
                r#"{"pmid":"1\"2"}"#,
                r#"{"url":"/literature/articles/1%222"}"#,
            ),
            (
                "open_table",
                r#"{"table":"jobs","database":"town"}"#,
                r#"{"url":"/data/town/jobs"}"#,
            ),
            ("open_table", r#"{"table":"jobs"}"#, r#"{"url":"/data?q=jobs"}"#),
            (
                "open_payload",
                r#"{"payload_id":"abc"}"#,
                r#"{"payload_id":"abc"}"#,
            ),
            ("open_article", "[]", "[]"),
        ] {
            let action = SuggestedAction {
                label: "See".into(),
                action: name.into(),
                handler: ActionHandler::Client,
                data: Some(data.into()),
                style: crate::ActionStyle::default(),
                taken: false,
            };
            let now = suggested_action(action);
            assert_eq!(
                (now.action.as_str(), now.data.as_deref()),
                ("open", Some(expected))
            );
        }
    }
}
