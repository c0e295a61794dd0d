//! How many tokens a model can take: from the settings, from the list of models, or from the ways in which servers that
//! people run themselves say it. OpenAI's protocol has no word for it.
//!
//! What can be said of a model that is loaded (llama.cpp, Ollama) comes before what it was trained for: the rest of the
//! window would silently be forgotten.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::{RequestBuilder, Url, header::HeaderMap};
use serde_json::{Value, json};

use super::transport::Transport;
use crate::{providers::EndpointConfig, settings::WINDOWS};

/// How long an answer is waited for: the first one stands before the model's own.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much of an answer is read: Ollama says a lot about a model.
const ANSWER_BYTES: usize = 4 << 20;

/// The windows of an endpoint's models, as far as they are known.
#[derive(Debug)]
pub struct Windows {
    set: Option<usize>,
    set_of: BTreeMap<String, usize>,
    /// Where servers of one's own say it: beside `/v1`, with the query of the base URL. Others are not asked, since it would only be in their way.
    root: Option<Url>,
    /// As the list of models has it, once there was one.
    listed: Mutex<Option<HashMap<String, usize>>>,
}

impl Windows {
    pub fn new(config: &EndpointConfig, url: &Url) -> Self {
        let is_own = url.scheme() == "http";
        let mut root = url.clone();
        root.set_fragment(None);
        let path = root.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path).to_owned() + "/";
        root.set_path(&path);
        Self {
            set: config.context_window,
            set_of: config.context_windows.clone(),
            root: is_own.then_some(root),
            listed: Mutex::default(),
        }
    }

    /// What the settings say of a model: then nobody is asked.
    pub fn set(&self, model: &str) -> Option<usize> {
        self.set_of.get(model).copied().or(self.set)
    }

    /// Whether a list of models was read.
    pub fn have_list(&self) -> bool {
        self.listed().is_some()
    }

    /// Takes from a list of models what it says of their windows.
    pub fn read(&self, list: &Value) {
        let places = [Some(list), list.get("data"), list.get("models")];
        let entries = places.into_iter().flatten().find_map(Value::as_array);
        let mut windows = self.listed();
        let windows = windows.get_or_insert_default();
        for entry in entries.into_iter().flatten() {
            let name = entry.get("id").or_else(|| entry.get("name"));
            if let (Some(name), Some(window)) = (name.and_then(Value::as_str), listed(entry)) {
                windows.insert(name.to_owned(), window);
            }
        }
    }

    /// Asks in the ways in which servers say it, and else believes the list.
    pub async fn ask(&self, transport: &Transport, headers: &HeaderMap, model: &str) -> Option<usize> {
        let loaded = match &self.root {
            Some(root) => {
                let asked = tokio::time::timeout(PATIENCE, ask(transport, headers, root, model)).await;
                asked.ok().flatten()
            }
            None => None,
        };
        loaded.or_else(|| self.listed().as_ref()?.get(model).copied())
    }

    fn listed(&self) -> MutexGuard<'_, Option<HashMap<String, usize>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an entry of a list of models says of its window: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp.
fn listed(entry: &Value) -> Option<usize> {
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
    NAMES.iter().find_map(|name| tokens(entry.pointer(name)?))
}

/// Asks llama.cpp, then Ollama: of the model as it is loaded, and else of what it would be loaded with.
async fn ask(transport: &Transport, headers: &HeaderMap, root: &Url, model: &str) -> Option<usize> {
    let http = transport.http();
    let at = |path: &str| {
        let mut url = root.join(path).ok()?;
        url.set_query(root.query());
        Some(url)
    };
    let get = |path: &str| Some(http.get(at(path)?).headers(headers.clone()));
    if let Some(props) = answer(get("props")?).await
        && let Some(window) = props
            .pointer("/default_generation_settings/n_ctx")
            .and_then(tokens)
    {
        return Some(window);
    }
    if let Some(running) = answer(get("api/ps")?).await {
        let models = running.get("models").and_then(Value::as_array);
        let mut models = models.into_iter().flatten();
        let is_it = |entry: &&Value| entry["name"] == model || entry["model"] == model;
        if let Some(window) = models
            .find(is_it)
            .and_then(|entry| tokens(&entry["context_length"]))
        {
            return Some(window);
        }
    }
    let show = http
        .post(at("api/show")?)
        .headers(headers.clone())
        .header(reqwest::header::CONTENT_TYPE, "application/json")
        .body(json!({"model": model}).to_string());
    shown(&answer(show).await?)
}

/// What Ollama shows of a model: the parameter that it is loaded with, and else what it was trained for.
fn shown(model: &Value) -> Option<usize> {
    let parameters = model
        .get("parameters")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok().and_then(believable))?
    });
    set.or_else(|| {
        let info = model.get("model_info")?.as_object()?;
        let (_, length) = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
        tokens(length)
    })
}

/// The JSON of an answer, if it is one: not every server knows every address.
async fn answer(request: RequestBuilder) -> Option<Value> {
    let mut response = request.send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_BYTES {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

fn tokens(value: &Value) -> Option<usize> {
    believable(usize::try_from(value.as_u64()?).ok()?)
}

fn believable(tokens: usize) -> Option<usize> {
    WINDOWS.contains(&tokens).then_some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_window_in_a_list_is_read() {
        for (entry, window) in [
            (json!({"id": "m", "max_model_len": 32768}), Some(32768)),
            (
                json!({"id": "m", "context_length": 200000, "top_provider": {"context_length": 128000}}),
                Some(128000),
            ),
            (
                json!({"id": "m", "context_length": 200000, "top_provider": {"context_length": null}}),
                Some(200000),
            ),
            (json!({"id": "m", "context_window": 131072}), Some(131072)),
            (json!({"id": "m", "max_context_length": 8192}), Some(8192)),
            (
                json!({"id": "m", "meta": {"n_ctx_train": 131072, "n_ctx": 4096}}),
                Some(4096),
            ),
            (json!({"id": "m", "meta": {"n_ctx_train": 131072}}), Some(131072)),
            (json!({"id": "m", "max_model_len": 0}), None),
            (json!({"id": "m", "max_model_len": "many"}), None),
            (json!({"id": "m"}), None),
        ] {
            assert_eq!(listed(&entry), window, "{entry}");
        }
    }

    #[test]
    fn what_ollama_loads_a_model_with_comes_before_what_it_was_trained_for() {
        let info = json!({"llama.context_length": 131072, "llama.embedding_length": 4096});
        assert_eq!(shown(&json!({"model_info": info})), Some(131072));
        let parameters = "stop    \"<|end|>\"\nnum_ctx    8192";
        assert_eq!(
            shown(&json!({"model_info": info, "parameters": parameters})),
            Some(8192)
        );
        assert_eq!(
            shown(&json!({"model_info": info, "parameters": "num_ctx 0"})),
            Some(131072),
            "nobody can talk in no tokens"
        );
        assert_eq!(shown(&json!({"error": "no such model"})), None);
    }

    #[test]
    fn what_is_set_comes_first_and_a_single_model_before_all() {
        let mut config = EndpointConfig::new("e", "http://x/v1");
        let url = Url::parse(&config.base_url).unwrap();
        assert_eq!(Windows::new(&config, &url).set("m"), None);
        config.context_window = Some(1000);
        config.context_windows = [("big".to_owned(), 5000)].into();
        let windows = Windows::new(&config, &url);
        assert_eq!((windows.set("m"), windows.set("big")), (Some(1000), Some(5000)));
    }

    #[test]
    fn only_servers_of_ones_own_are_asked_and_beside_their_v1() {
        let root = |url: &str| {
            let config = EndpointConfig::new("e", url);
            Windows::new(&config, &Url::parse(url).unwrap())
                .root
                .map(String::from)
        };
        assert_eq!(root("http://gpu:8000/v1/").as_deref(), Some("http://gpu:8000/"));
        assert_eq!(root("http://gpu/llm/v1").as_deref(), Some("http://gpu/llm/"));
        assert_eq!(root("https://api.openai.com/v1"), None);
    }
}
