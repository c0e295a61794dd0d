//! The list of models, and the maximum length of their answers, which every request has to name.

use serde_json::Value;

use super::thinking::MIN_BUDGET_TOKENS;
use crate::{
    catalog::{ListedModel, read_entries, token_count},
    model_list::ModelList,
};
use parlor_protocol::{ModelCapabilities, ThinkingLevel, ThinkingSupport};

/// The length of an answer unless the user sets one, if the model allows as much.
const USUAL_MAX_TOKENS: u64 = 64_000;

/// The same for a model whose limit is unknown. The server rejects more than it allows, and names its limit.
const UNKNOWN_MAX_TOKENS: u64 = 32_000;

/// The list of models, in the largest pages.
pub const LIST: ModelList = ModelList {
    path: "/v1/models",
    first_query: "limit=1000",
    next_query: next_page,
    read: read_list,
};

/// Returns the query of the page after this one.
fn next_page(page: &Value) -> Option<String> {
    let has_more = page["has_more"].as_bool().unwrap_or(false);
    let last = page["last_id"].as_str().filter(|_| has_more)?;
    let last = percent_encoding::utf8_percent_encode(last, percent_encoding::NON_ALPHANUMERIC);
    Some(format!("{}&after_id={last}", LIST.first_query))
}

/// Reads the pages of the list, newest models first, as the server sends them.
pub fn read_list(pages: Vec<Value>) -> Option<Vec<ListedModel>> {
    read_entries(pages, "data", |entry| {
        let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty());
        Some(ListedModel {
            id: text("id")?.to_owned(),
            name: text("display_name").map(str::to_owned),
            capabilities: read_capabilities(entry),
        })
    })
}

/// Reads the capabilities of a model from its entry in the list.
fn read_capabilities(entry: &Value) -> ModelCapabilities {
    let says = |capability: &str| {
        let pointer = format!("/capabilities/{capability}/supported");
        entry.pointer(&pointer).and_then(Value::as_bool)
    };
    let max_output_tokens = token_count(entry, "max_tokens");
    ModelCapabilities {
        image_input: says("image_input"),
        pdf_input: says("pdf_input"),
        thinking: read_thinking(says, max_output_tokens),
        context_window: token_count(entry, "max_input_tokens"),
        max_output_tokens,
        ..ModelCapabilities::default()
    }
}

/// Reads the thinking. An effort is preferred to a budget, which newer models no longer take.
fn read_thinking(
    says: impl Fn(&str) -> Option<bool>,
    max_output_tokens: Option<usize>,
) -> Option<ThinkingSupport> {
    if says("thinking") == Some(false) {
        return Some(ThinkingSupport::NONE);
    }
    if !says("thinking/types/adaptive")? {
        let max_budget =
            max_output_tokens.map_or(UNKNOWN_MAX_TOKENS as usize, |tokens| tokens.saturating_sub(1));
        return Some(match says("thinking/types/enabled") {
            Some(true) => ThinkingSupport::budget(MIN_BUDGET_TOKENS, max_budget.max(MIN_BUDGET_TOKENS), true),
            _ => ThinkingSupport::levels(&[]),
        });
    }
    let efforts = ThinkingLevel::ALL.into_iter();
    let efforts = efforts.filter(|level| says(&format!("effort/{}", level.as_str())) == Some(true));
    let mut levels: Vec<ThinkingLevel> = match says("effort") {
        Some(true) => efforts.collect(),
        // The list is older than the effort.
        None => vec![ThinkingLevel::Low, ThinkingLevel::Medium, ThinkingLevel::High],
        Some(false) => Vec::new(),
    };
    if levels.is_empty() {
        levels.push(ThinkingLevel::On);
    }
    levels.insert(0, ThinkingLevel::Off);
    Some(ThinkingSupport::levels(&levels))
}

/// Returns the maximum length of a model's answer unless the user sets one. `learned` is the limit that the
/// server has named.
pub fn default_max_tokens(capabilities: &ModelCapabilities, learned: Option<u64>) -> u64 {
    let known = capabilities.max_output_tokens.map(|tokens| tokens as u64);
    let limit = learned.or(known);
    limit.map_or(UNKNOWN_MAX_TOKENS, |limit| limit.min(USUAL_MAX_TOKENS))
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
        let facts = |model: &ListedModel| {
            let known = &model.capabilities;
            (model.id.clone(), known.context_window, known.max_output_tokens)
        };
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
    fn limits_answers_as_model_and_server_do() {
        let capabilities = |max_output_tokens| ModelCapabilities {
            max_output_tokens,
            ..ModelCapabilities::default()
        };
        assert_eq!(default_max_tokens(&capabilities(Some(8192)), None), 8192);
        assert_eq!(default_max_tokens(&capabilities(None), None), UNKNOWN_MAX_TOKENS);
        assert_eq!(
            default_max_tokens(&capabilities(Some(128_000)), None),
            USUAL_MAX_TOKENS
        );
        assert_eq!(default_max_tokens(&capabilities(Some(128_000)), Some(8000)), 8000);
    }

    #[test]
    fn reads_the_capabilities_of_an_entry() {
        let supported = |supported: bool| json!({ "supported": supported });
        let entry = |adaptive: bool, efforts: Value| {
            read_capabilities(&json!({
                "id": "claude-x", "max_tokens": 64_000,
                "capabilities": {
                    "image_input": supported(true), "pdf_input": supported(false), "effort": efforts,
                    "thinking": { "supported": true, "types": { "adaptive": supported(adaptive), "enabled": supported(true) } },
                },
            }))
        };
        let efforts = json!({ "supported": true, "low": supported(true), "medium": supported(true),
            "high": supported(true), "xhigh": supported(false), "max": supported(true) });
        let found = entry(true, efforts);
        use ThinkingLevel::{High, Low, Max, Medium, Off, On};
        assert_eq!(
            found.thinking,
            Some(ThinkingSupport::levels(&[Off, Low, Medium, High, Max]))
        );
        assert_eq!((found.image_input, found.pdf_input), (Some(true), Some(false)));
        let without_effort = entry(true, supported(false)).thinking;
        assert_eq!(without_effort, Some(ThinkingSupport::levels(&[Off, On])));
        let with_budget = entry(false, supported(false)).thinking;
        assert_eq!(with_budget, Some(ThinkingSupport::budget(1024, 63_999, true)));
        let never = json!({ "capabilities": { "thinking": supported(false) } });
        assert_eq!(read_capabilities(&never).thinking, Some(ThinkingSupport::NONE));
        assert_eq!(
            read_capabilities(&json!({ "id": "old" })),
            ModelCapabilities::default()
        );
    }
}
