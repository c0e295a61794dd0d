//! The list of an endpoint's models: parsed leniently, without models that can't chat, newest first.

use std::collections::HashMap;

use serde_json::Value;

use super::catalog::ListedModel;
use crate::{model::ListedModels, protocol::model_list::ModelInfo, settings::CONTEXT_WINDOW_RANGE};

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

/// Returns the models in the settings, in their order.
pub fn from_names(endpoint: &str, models: &[String]) -> ListedModels {
    ListedModels {
        selectable: models
            .iter()
            .map(|model| model_info(endpoint, model, None))
            .collect(),
        ids: models.to_vec(),
    }
}

/// Returns the models of a response of `/v1/models`, without those that can't chat, newest first, and their
/// windows.
pub fn read_models(answer: &Value) -> Option<Vec<ListedModel>> {
    let ListedModels { selectable, ids } = parse_list("", answer)?;
    let windows = listed_windows(answer);
    let models = selectable.into_iter().map(|model| {
        let id = model.id.strip_prefix('/').unwrap_or(&model.id).to_owned();
        ListedModel {
            window: windows.get(&id).copied(),
            name: Some(model.name),
            id,
            ..ListedModel::default()
        }
    });
    let mut models: Vec<ListedModel> = models.collect();
    // The others can be called by their names.
    let is_other = |id: &String| models.iter().all(|model| model.id != *id);
    let others: Vec<String> = ids.into_iter().filter(is_other).collect();
    models.extend(others.into_iter().map(|id| ListedModel {
        id,
        ..ListedModel::default()
    }));
    Some(models)
}

/// Parses a response of `/v1/models`: `{data: [{id, created?, name?}]}`, `{models: [{name}]}` or a plain
/// array. Returns `None` for any other format.
pub fn parse_list(endpoint: &str, answer: &Value) -> Option<ListedModels> {
    let candidates = [Some(answer), answer.get("data"), answer.get("models")];
    let entries = candidates.into_iter().flatten().find_map(Value::as_array);
    // Ollama without models sends `data: null`.
    let entries = match entries {
        None if answer.get("data").is_some_and(Value::is_null) => return Some(ListedModels::default()),
        entries => entries?,
    };
    let mut ids = Vec::new();
    let mut models: Vec<(i64, ModelInfo)> = entries
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
            ids.push(id.to_owned());
            Some((created, model_info(endpoint, id, text("name"))))
        })
        .collect();
    if models.iter().any(|(_, model)| is_chat_model(&model.id)) {
        models.retain(|(_, model)| is_chat_model(&model.id));
    }
    models.sort_by(|(a_created, a), (b_created, b)| b_created.cmp(a_created).then_with(|| a.id.cmp(&b.id)));
    models.dedup_by(|(_, a), (_, b)| a.id == b.id);
    models.truncate(MAX_OFFERED_MODELS);
    Some(ListedModels {
        selectable: models.into_iter().map(|(_, model)| model).collect(),
        ids,
    })
}

/// Returns the windows in a model list by the endpoint's names.
pub fn listed_windows(list: &Value) -> HashMap<String, usize> {
    let candidates = [Some(list), list.get("data"), list.get("models")];
    let entries = candidates.into_iter().flatten().find_map(Value::as_array);
    let entries = entries.into_iter().flatten();
    let windows = entries.filter_map(|entry| {
        let name = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
        Some((name.to_owned(), listed_window(entry)?))
    });
    windows.collect()
}

/// Returns the window in an entry of a model list: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp.
pub fn listed_window(entry: &Value) -> Option<usize> {
    const NAMES: [&str; 8] = [
        "/max_model_len",
        "/top_provider/context_length",
        "/context_length",
        "/context_window",
        "/loaded_context_length",
        "/max_context_length",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    NAMES.iter().find_map(|name| parse_tokens(entry.pointer(name)?))
}

/// Returns a number of tokens that can be a window.
pub fn parse_tokens(value: &Value) -> Option<usize> {
    plausible(usize::try_from(value.as_u64()?).ok()?)
}

/// Returns a window unless it is implausible.
pub fn plausible(tokens: usize) -> Option<usize> {
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
    }
}

/// Returns true unless the name is that of a model that can't chat.
pub fn is_chat_model(id: &str) -> bool {
    let id = id.to_lowercase();
    !NON_CHAT_NAME_PARTS.iter().any(|part| id.contains(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(answer: Value) -> Option<Vec<String>> {
        let offered = parse_list("e", &answer)?.selectable;
        Some(offered.into_iter().map(|model| model.id).collect())
    }

    #[test]
    fn parses_every_list_format() {
        for answer in [
            json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}),
            json!({"models": [{"name": "b"}, {"name": "a"}, {"no": 1}]}),
            json!(["b", "a", "a"]),
        ] {
            assert_eq!(ids(answer).unwrap(), ["e/a", "e/b"]);
        }
        assert_eq!(ids(json!({"data": null})), Some(vec![]));
        assert_eq!(ids(json!({"hello": "world"})), None);
        assert_eq!(ids(json!("hello")), None);
    }

    #[test]
    fn sorts_newest_first_and_drops_non_chat_models() {
        let answer = json!({"data": [
            {"id": "old", "created": 1}, {"id": "new", "created": 2}, {"id": "text-embedding-3", "created": 3},
        ]});
        assert_eq!(ids(answer).unwrap(), ["e/new", "e/old"]);
        assert_eq!(
            ids(json!({"data": [{"id": "embed-only"}]})).unwrap(),
            ["e/embed-only"]
        );
    }

    #[test]
    fn shows_model_files_by_name() {
        let answer = json!({"data": [{"id": "/srv/models/smol.gguf"}, {"id": "x/y", "name": "X: Y"}]});
        let names: Vec<String> = parse_list("e", &answer)
            .unwrap()
            .selectable
            .into_iter()
            .map(|model| model.name)
            .collect();
        assert_eq!(names, ["smol", "X: Y"]);
    }
}
