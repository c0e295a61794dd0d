//! The list of an endpoint's models: parsed leniently, without models that can't chat, newest first.

use serde_json::Value;

use super::{catalog::ListedModel, list_entry::read_capabilities};
use parlor_base::settings::CONTEXT_WINDOW_RANGE;
use parlor_protocol::{ModelCapabilities, model_list::ModelInfo};

/// The maximum number of models offered for one endpoint.
pub const MAX_OFFERED_MODELS: usize = 500;

/// The maximum number of list entries that are read.
pub const MAX_LIST_ENTRIES: usize = 10_000;

/// Parts of the names of listed models that can't chat.
const NON_CHAT_NAME_PARTS: [&str; 14] = [
    "babbage",
    "dall-e",
    "davinci",
    "embed",
    "gpt-image",
    "moderation",
    "ocr",
    "realtime",
    "rerank",
    "sora",
    "speech",
    "transcribe",
    "tts",
    "whisper",
];

/// The list of models in one protocol.
pub struct ModelList {
    pub path: &'static str,
    /// The query of the first page.
    pub first_query: &'static str,
    /// Returns the query of the page after the given one.
    pub next_query: fn(&Value) -> Option<String>,
    /// Reads all pages. Returns `None` if they are no list.
    pub read: fn(Vec<Value>) -> Option<Vec<ListedModel>>,
}

/// The list in OpenAI's protocols, which has one page.
pub const OPENAI_LIST: ModelList = ModelList {
    path: "/models",
    first_query: "",
    next_query: |_| None,
    read: |pages| read_models(pages.first()?),
};

/// Parses a response of `/v1/models`: `{data: [{id, created?, name?}]}`, `{models: [{name}]}` or a plain
/// array. The models that can chat come first, newest first. Returns `None` for any other format.
pub fn read_models(answer: &Value) -> Option<Vec<ListedModel>> {
    let candidates = [Some(answer), answer.get("data"), answer.get("models")];
    let entries = candidates.into_iter().flatten().find_map(Value::as_array);
    // Ollama without models sends `data: null`.
    let entries = match entries {
        None if answer.get("data").is_some_and(Value::is_null) => return Some(Vec::new()),
        entries => entries?,
    };
    let mut models: Vec<(i64, ListedModel)> = entries
        .iter()
        .take(MAX_LIST_ENTRIES)
        .filter_map(|entry| {
            let text = |key: &str| {
                entry
                    .get(key)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            let id = entry.as_str().or_else(|| text("id")).or_else(|| text("name"))?;
            let created = entry.get("created").and_then(Value::as_i64).unwrap_or(0);
            let model = ListedModel {
                id: id.to_owned(),
                name: text("name").map(str::to_owned),
                capabilities: read_capabilities(entry),
            };
            Some((created, model))
        })
        .collect();
    models.sort_by(|(a_created, a), (b_created, b)| {
        let newest_first = b_created.cmp(a_created).then_with(|| a.id.cmp(&b.id));
        is_chat_model(&b.id).cmp(&is_chat_model(&a.id)).then(newest_first)
    });
    models.dedup_by(|(_, a), (_, b)| a.id == b.id);
    Some(models.into_iter().map(|(_, model)| model).collect())
}

/// Returns a number of tokens that can be a window.
pub fn parse_tokens(value: &Value) -> Option<usize> {
    plausible_window(parse_count(value)?)
}

/// Returns a count: a number, or one in a text, as `"131072"`, `"131,072"` or `"128k"`.
pub fn parse_count(value: &Value) -> Option<usize> {
    let Value::String(text) = value else {
        let whole = value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && *number >= 0.0);
        let whole = || Some(whole? as u64).filter(|number| *number < u64::MAX);
        return usize::try_from(value.as_u64().or_else(whole)?).ok();
    };
    let text = text.trim().to_lowercase().replace([',', '_', ' '], "");
    let (digits, unit) = match text.strip_suffix('k').map(|digits| (digits, 1024)) {
        Some(thousands) => thousands,
        None => match text.strip_suffix('m') {
            Some(digits) => (digits, 1024 * 1024),
            None => (&*text, 1),
        },
    };
    digits
        .strip_suffix(".0")
        .unwrap_or(digits)
        .parse::<usize>()
        .ok()?
        .checked_mul(unit)
}

/// Returns a window unless it is implausible.
pub fn plausible_window(tokens: usize) -> Option<usize> {
    CONTEXT_WINDOW_RANGE.contains(&tokens).then_some(tokens)
}

pub fn model_info(endpoint: &str, model: &str, name: Option<&str>) -> ModelInfo {
    // llama.cpp uses the file name as the model's name.
    let file = model
        .rsplit(['/', '\\'])
        .next()
        .and_then(|file| file.strip_suffix(".gguf"));
    ModelInfo {
        id: format!("{endpoint}/{model}"),
        name: name.or(file).unwrap_or(model).to_owned(),
        endpoint: endpoint.to_owned(),
        // They are added whenever the list is requested, since more may be known then.
        capabilities: ModelCapabilities::default(),
    }
}

/// Returns true unless the name is that of a model that can't chat.
fn is_chat_model(id: &str) -> bool {
    let id = id.to_lowercase();
    !NON_CHAT_NAME_PARTS.iter().any(|part| id.contains(part))
}

/// Returns a test for the ids of models that are offered: those that can chat, or all if none is known to.
pub fn offered_models(listed: &[ListedModel]) -> impl Fn(&str) -> bool + use<> {
    let has_chat_models = listed.iter().any(|model| is_chat_model(&model.id));
    move |id| !has_chat_models || is_chat_model(id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(answer: Value) -> Option<Vec<String>> {
        let listed = read_models(&answer)?;
        Some(listed.into_iter().map(|model| model.id).collect())
    }

    #[test]
    fn parses_every_list_format() {
        for answer in [
            json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}),
            json!({"models": [{"name": "b"}, {"name": "a"}, {"no": 1}]}),
            json!(["b", "a", "a"]),
        ] {
            assert_eq!(ids(answer).unwrap(), ["a", "b"]);
        }
        assert_eq!(ids(json!({"data": null})), Some(vec![]));
        assert_eq!(ids(json!({"hello": "world"})), None);
        assert_eq!(ids(json!("hello")), None);
    }

    #[test]
    fn reads_counts_in_every_form() {
        for (value, count) in [
            (json!(8192), Some(8192)),
            (json!(8192.0), Some(8192)),
            (json!("131072"), Some(131_072)),
            (json!(" 131,072 "), Some(131_072)),
            (json!("32768.0"), Some(32_768)),
            (json!("128k"), Some(131_072)),
            (json!("1M"), Some(1_048_576)),
            (json!("many"), None),
            (json!(""), None),
            (json!(-1), None),
            (json!(0.5), None),
            (json!(1e300), None),
            (json!("99999999999999999999"), None),
            (json!(null), None),
        ] {
            assert_eq!(parse_count(&value), count, "{value}");
        }
        assert_eq!(parse_tokens(&json!("8192")), Some(8192));
    }

    #[test]
    fn an_unreadable_entry_costs_itself() {
        let list = r#"{"data":[{"id":"a"},{"id":"b\ud83d","x":NaN},null,7,{"id":{}},{"id":"c","id":"c"},[],
            {"id":"d","context_length":"8192","created":1e999}]}"#;
        let list: Value = parlor_model::lenient_json::parse(list).unwrap();
        assert_eq!(ids(list).unwrap(), ["a", "b\u{fffd}", "c", "d"]);
    }

    #[test]
    fn sorts_chat_models_first_and_newest_first() {
        let answer = json!({"data": [
            {"id": "old", "created": 1}, {"id": "new", "created": 2}, {"id": "text-embedding-3", "created": 3},
        ]});
        assert_eq!(ids(answer).unwrap(), ["new", "old", "text-embedding-3"]);
        assert_eq!(
            ids(json!({"data": [{"id": "embed-only"}]})).unwrap(),
            ["embed-only"]
        );
    }

    #[test]
    fn shows_model_files_by_name() {
        assert_eq!(model_info("e", "/srv/models/smol.gguf", None).name, "smol");
        assert_eq!(model_info("e", "x/y", Some("X: Y")).name, "X: Y");
    }
}
