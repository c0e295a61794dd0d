//! The list of an endpoint's models: read leniently, without those that cannot chat, newest first.

use std::time::Duration;

use serde_json::Value;

use crate::{model::ListedModels, protocol::chat::ModelInfo};

/// How long a list may take: a page waits for it.
pub const TIMEOUT: Duration = Duration::from_secs(4);

/// The most models that are offered of one endpoint.
const MAX_MODELS: usize = 500;

/// The most entries of a list that are read.
const MAX_LISTED: usize = 10_000;

/// Parts of the names of models that are no chat models, though listed beside them.
const NOT_FOR_CHAT: [&str; 14] = [
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

/// The models that the settings name, in their order.
pub fn named(endpoint: &str, models: &[String]) -> ListedModels {
    ListedModels {
        offered: models.iter().map(|model| info(endpoint, model, None)).collect(),
        ids: models.to_vec(),
    }
}

/// The models in an answer to `/v1/models`: `{data: [{id, created?, name?}]}`, `{models: [{name}]}` or a plain
/// array. `None` if it is none of these.
pub fn listed(endpoint: &str, answer: &Value) -> Option<ListedModels> {
    let places = [Some(answer), answer.get("data"), answer.get("models")];
    let entries = places.into_iter().flatten().find_map(Value::as_array);
    // Ollama with no model says `data: null`.
    let entries = match entries {
        None if answer.get("data").is_some_and(Value::is_null) => return Some(ListedModels::default()),
        entries => entries?,
    };
    let mut ids = Vec::new();
    let mut models: Vec<(i64, ModelInfo)> = entries
        .iter()
        .take(MAX_LISTED)
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
            Some((created, info(endpoint, id, text("name"))))
        })
        .collect();
    if models.iter().any(|(_, model)| can_chat(&model.id)) {
        models.retain(|(_, model)| can_chat(&model.id));
    }
    models.sort_by(|(a_created, a), (b_created, b)| b_created.cmp(a_created).then_with(|| a.id.cmp(&b.id)));
    models.dedup_by(|(_, a), (_, b)| a.id == b.id);
    models.truncate(MAX_MODELS);
    Some(ListedModels {
        offered: models.into_iter().map(|(_, model)| model).collect(),
        ids,
    })
}

fn info(endpoint: &str, model: &str, name: Option<&str>) -> ModelInfo {
    // llama.cpp calls a model by its file.
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

fn can_chat(id: &str) -> bool {
    let id = id.to_lowercase();
    !NOT_FOR_CHAT.iter().any(|part| id.contains(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(answer: Value) -> Option<Vec<String>> {
        let offered = listed("e", &answer)?.offered;
        Some(offered.into_iter().map(|model| model.id).collect())
    }

    #[test]
    fn every_shape_of_a_list_is_read_and_anything_else_is_none() {
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
    fn the_newest_comes_first_and_what_cannot_chat_is_left_out() {
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
    fn a_file_is_shown_by_its_name() {
        let answer = json!({"data": [{"id": "/srv/models/smol.gguf"}, {"id": "x/y", "name": "X: Y"}]});
        let names: Vec<String> = listed("e", &answer)
            .unwrap()
            .offered
            .into_iter()
            .map(|model| model.name)
            .collect();
        assert_eq!(names, ["smol", "X: Y"]);
    }
}
