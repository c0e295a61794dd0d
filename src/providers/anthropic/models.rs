//! The list of models, and the maximum length of their answers, which every request has to name.

use serde_json::Value;

use crate::providers::catalog::{ListedModel, read_entries, token_count};

/// The length of an answer unless the person sets one, if the model allows as much.
const USUAL_MAX_TOKENS: u64 = 64_000;

/// The same for a model whose limit is unknown. The server rejects more than it allows, and names its limit.
const UNKNOWN_MAX_TOKENS: u64 = 32_000;

/// The limits of old models, by the beginnings of their names.
const OLD_MAX_TOKENS: [(&str, u64); 4] = [
    ("claude-3-haiku", 4096),
    ("claude-3-opus", 4096),
    ("claude-3-sonnet", 4096),
    ("claude-3-5", 8192),
];

/// Returns the query of the page after this one.
pub fn next_page(page: &Value) -> Option<String> {
    let has_more = page["has_more"].as_bool().unwrap_or(false);
    let last = page["last_id"].as_str().filter(|_| has_more)?;
    let last = percent_encoding::utf8_percent_encode(last, percent_encoding::NON_ALPHANUMERIC);
    Some(format!("{}&after_id={last}", super::FIRST_LIST_QUERY))
}

/// Reads the pages of the list, newest models first, as the server sends them.
pub fn read_list(pages: Vec<Value>) -> Option<Vec<ListedModel>> {
    read_entries(pages, "data", |entry| {
        let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty());
        Some(ListedModel {
            id: text("id")?.to_owned(),
            name: text("display_name").map(str::to_owned),
            window: token_count(entry, "max_input_tokens").and_then(|count| usize::try_from(count).ok()),
            max_output: token_count(entry, "max_tokens"),
            entry: entry.clone(),
        })
    })
}

/// Returns the maximum length of a model's answer unless the person sets one. `learned` is the limit that the
/// server has named.
pub fn default_max_tokens(model: &str, listed: Option<&ListedModel>, learned: Option<u64>) -> u64 {
    let listed = listed.and_then(|listed| listed.max_output);
    if let Some(limit) = learned.or(listed) {
        return limit.min(USUAL_MAX_TOKENS);
    }
    let old = OLD_MAX_TOKENS.iter().find(|(name, _)| model.starts_with(name));
    old.map_or(UNKNOWN_MAX_TOKENS, |(_, limit)| *limit)
}

/// Returns the limit of a model in a rejection: "max_tokens: 64000 > 8192, which is the maximum allowed number
/// of output tokens".
pub fn parse_max_tokens(message: &str) -> Option<u64> {
    let (_, after) = message.split_once("max_tokens: ")?;
    let (_, limit) = after.split_once(" > ")?;
    leading_number(limit).filter(|limit| *limit > 0)
}

/// Returns the room for an answer in a rejection: "input length and `max_tokens` exceed context limit: 190000 +
/// 32000 > 200000".
pub fn parse_room(message: &str) -> Option<u64> {
    let (_, sum) = message.split_once("exceed context limit: ")?;
    let (input, rest) = sum.split_once(" + ")?;
    let (_, limit) = rest.split_once(" > ")?;
    let room = leading_number(limit)?.checked_sub(leading_number(input)?)?;
    (room > 0).then_some(room)
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_pages_with_windows() {
        let first = json!({"data": [
            {"id": "claude-b", "display_name": "Claude B", "type": "model", "max_input_tokens": 1_000_000, "max_tokens": 128_000},
        ], "has_more": true, "last_id": "claude-b"});
        assert_eq!(
            next_page(&first).as_deref(),
            Some("limit=1000&after_id=claude%2Db")
        );
        let second = json!({"data": [{"id": "claude-a"}, {"id": "claude-b"}], "has_more": false, "last_id": "claude-b"});
        assert_eq!(next_page(&second), None);
        let listed = read_list(vec![first, second]).unwrap();
        let facts = |model: &ListedModel| (model.id.clone(), model.window, model.max_output);
        assert_eq!(
            listed.iter().map(facts).collect::<Vec<_>>(),
            [
                ("claude-b".into(), Some(1_000_000), Some(128_000)),
                ("claude-a".into(), None, None)
            ]
        );
        assert_eq!(read_list(vec![json!({"models": []})]), None);
    }

    #[test]
    fn reads_limits_from_rejections() {
        let limit = "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens";
        assert_eq!((parse_max_tokens(limit), parse_room(limit)), (Some(8192), None));
        let room = "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease";
        assert_eq!((parse_max_tokens(room), parse_room(room)), (None, Some(10_000)));
        for other in [
            "max_tokens: field required",
            "exceed context limit: 210000 + 32000 > 200000",
        ] {
            assert_eq!((parse_max_tokens(other), parse_room(other)), (None, None));
        }
    }

    #[test]
    fn knows_the_limits_of_old_models() {
        assert_eq!(default_max_tokens("claude-3-5-haiku-20241022", None, None), 8192);
        assert_eq!(default_max_tokens("claude-new", None, None), UNKNOWN_MAX_TOKENS);
        let listed = ListedModel {
            max_output: Some(128_000),
            ..ListedModel::default()
        };
        assert_eq!(
            default_max_tokens("claude-new", Some(&listed), None),
            USUAL_MAX_TOKENS
        );
        assert_eq!(default_max_tokens("claude-new", Some(&listed), Some(8000)), 8000);
    }
}
