//! How many tokens a model can take: from the settings, from the list of models, or from the ways in which servers that
//! people run themselves say it. OpenAI's protocol has no word for it.
//!
//! llama.cpp also gives the template that a conversation is put into: a model whose template has no place for tools would be told
//! of them in words that it was not trained on, which costs a small one more than its answer.
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
use crate::{providers::EndpointConfig, settings::CONTEXT_WINDOW_RANGE};

/// How long an answer is waited for: the first one stands before the model's own.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// How much of an answer is read: Ollama says a lot about a model.
const MAX_PROBE_BYTES: usize = 4 << 20;

/// The windows of an endpoint's models, as far as they are known.
#[derive(Debug)]
pub struct ContextWindows {
    configured_for: Option<usize>,
    by_model: BTreeMap<String, usize>,
    /// Where servers of one's own say it: beside `/v1`, with the query of the base URL. Others are not asked, since it would only be in their way.
    root: Option<Url>,
    /// As the list of models has it, once there was one.
    listed: Mutex<Option<HashMap<String, usize>>>,
}

impl ContextWindows {
    pub fn new(config: &EndpointConfig, url: &Url) -> Self {
        let is_own = url.scheme() == "http";
        let mut root = url.clone();
        root.set_fragment(None);
        let path = root.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path).to_owned() + "/";
        root.set_path(&path);
        Self {
            configured_for: config.context_window,
            by_model: config.context_windows.clone(),
            root: is_own.then_some(root),
            listed: Mutex::default(),
        }
    }

    /// What the settings say of a model: then nobody is asked.
    pub fn set(&self, model: &str) -> Option<usize> {
        self.by_model.get(model).copied().or(self.configured_for)
    }

    /// Whether a list of models was read.
    pub fn has_list(&self) -> bool {
        self.listed().is_some()
    }

    /// Takes from a list of models what it says of their windows.
    pub fn read_list(&self, list: &Value) {
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

    /// Asks in the ways in which servers say it, and else believes the list. A window that is set is not asked for.
    pub async fn probe(&self, transport: &Transport, headers: &HeaderMap, model: &str) -> ModelProbe {
        let mut said = ModelProbe::default();
        if let Some(root) = &self.root {
            let server = LocalServer {
                transport,
                headers,
                root,
            };
            let is_wanted = self.set(model).is_none();
            // What was said in time counts, whatever else was not.
            let asked = server.probe(model, is_wanted, &mut said);
            let _ = tokio::time::timeout(PROBE_TIMEOUT, asked).await;
        }
        let listed = || self.listed().as_ref()?.get(model).copied();
        said.window = said.window.or_else(listed);
        said
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
    NAMES.iter().find_map(|name| parse_tokens(entry.pointer(name)?))
}

/// What a server has said of a model: each is nothing if it has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelProbe {
    pub window: Option<usize>,
    pub takes_tools: Option<bool>,
}

/// A server of one's own.
struct LocalServer<'a> {
    transport: &'a Transport,
    headers: &'a HeaderMap,
    root: &'a Url,
}

impl LocalServer<'_> {
    /// Asks as llama.cpp wants it and then, if the window is still wanted, as Ollama does.
    async fn probe(&self, model: &str, is_window_wanted: bool, said: &mut ModelProbe) {
        if let Some(props) = self.get_json("props").await {
            *said = ModelProbe {
                window: props
                    .pointer("/default_generation_settings/n_ctx")
                    .and_then(parse_tokens),
                takes_tools: template_takes_tools(&props),
            };
        }
        if said.window.is_none() && is_window_wanted {
            said.window = self.ollama_window(model).await;
        }
    }

    /// The window of the model as it is loaded, and else as it would be loaded.
    async fn ollama_window(&self, model: &str) -> Option<usize> {
        if let Some(running) = self.get_json("api/ps").await {
            let models = running.get("models").and_then(Value::as_array);
            let mut models = models.into_iter().flatten();
            let is_it = |entry: &&Value| entry["name"] == model || entry["model"] == model;
            if let Some(window) = models
                .find(is_it)
                .and_then(|entry| parse_tokens(&entry["context_length"]))
            {
                return Some(window);
            }
        }
        let http = self.transport.http();
        let show = http
            .post(self.url("api/show")?)
            .headers(self.headers.clone())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(json!({"model": model}).to_string());
        ollama_shown_window(&json_answer(show).await?)
    }

    async fn get_json(&self, path: &str) -> Option<Value> {
        let http = self.transport.http();
        json_answer(http.get(self.url(path)?).headers(self.headers.clone())).await
    }

    /// An address of the server, with the query of the endpoint's own.
    fn url(&self, path: &str) -> Option<Url> {
        let mut url = self.root.join(path).ok()?;
        url.set_query(self.root.query());
        Some(url)
    }
}

/// Whether the template of llama.cpp's model has a place for tools: as the server judges it, or, if it is too old for that, whether
/// the template speaks of them.
fn template_takes_tools(props: &Value) -> Option<bool> {
    let caps = &props["chat_template_caps"];
    let judged = ["supports_tools", "supports_tool_calls"].map(|name| caps[name].as_bool());
    if judged.iter().any(Option::is_some) {
        return Some(judged.contains(&Some(true)));
    }
    let template = |name: &str| props[name].as_str().filter(|template| !template.is_empty());
    if template("chat_template_tool_use").is_some() {
        return Some(true);
    }
    template("chat_template").map(|template| template.contains("tools"))
}

/// What Ollama shows of a model: the parameter that it is loaded with, and else what it was trained for.
fn ollama_shown_window(model: &Value) -> Option<usize> {
    let parameters = model
        .get("parameters")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok().and_then(plausible))?
    });
    set.or_else(|| {
        let info = model.get("model_info")?.as_object()?;
        let (_, length) = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
        parse_tokens(length)
    })
}

/// The JSON of an answer, if it is one: not every server knows every address.
async fn json_answer(request: RequestBuilder) -> Option<Value> {
    let mut response = request.send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_PROBE_BYTES {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

fn parse_tokens(value: &Value) -> Option<usize> {
    plausible(usize::try_from(value.as_u64()?).ok()?)
}

fn plausible(tokens: usize) -> Option<usize> {
    CONTEXT_WINDOW_RANGE.contains(&tokens).then_some(tokens)
}

#[cfg(test)]
mod tests;
