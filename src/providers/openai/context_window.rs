//! The context windows of an endpoint's models: from the settings, from the model list, or from the APIs of
//! local servers. OpenAI's protocol has no field for it.
//!
//! llama.cpp also returns the chat template. If the template has no place for tools, they would have to be
//! described to the model in text that it was not trained on, which costs a small model more than its answer.
//!
//! The window of a loaded model (llama.cpp, Ollama) takes precedence over the trained one, because the server
//! silently drops everything beyond it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::{RequestBuilder, Url, header::HeaderMap};
use serde_json::{Value, json};

use super::transport::Transport;
use crate::{providers::EndpointConfig, settings::CONTEXT_WINDOW_RANGE};

/// The time limit of a probe, which delays the first answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum size of a probe's response: Ollama returns much about a model.
const MAX_PROBE_BYTES: usize = 4 << 20;

/// The known windows of an endpoint's models.
#[derive(Debug)]
pub struct ContextWindows {
    configured_for: Option<usize>,
    by_model: BTreeMap<String, usize>,
    /// The root address of a local server, beside `/v1`, with the query of the base URL. Hosted servers are
    /// not probed, since they would only have to reject the requests.
    root: Option<Url>,
    /// The windows in the model list; `None` before the first list.
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

    /// Returns the configured window of a model, which makes a probe unnecessary.
    pub fn configured_window(&self, model: &str) -> Option<usize> {
        self.by_model.get(model).copied().or(self.configured_for)
    }

    /// Returns true if a model list was read.
    pub fn has_list(&self) -> bool {
        self.lock_listed().is_some()
    }

    /// Reads the windows from a model list.
    pub fn read_list(&self, list: &Value) {
        let candidates = [Some(list), list.get("data"), list.get("models")];
        let entries = candidates.into_iter().flatten().find_map(Value::as_array);
        let mut windows = self.lock_listed();
        let windows = windows.get_or_insert_default();
        for entry in entries.into_iter().flatten() {
            let name = entry.get("id").or_else(|| entry.get("name"));
            if let (Some(name), Some(window)) = (name.and_then(Value::as_str), listed_window(entry)) {
                windows.insert(name.to_owned(), window);
            }
        }
    }

    /// Probes the server, and falls back to the model list. A configured window is not probed.
    pub async fn probe(&self, transport: &Transport, headers: &HeaderMap, model: &str) -> ModelProbe {
        let mut result = ModelProbe::default();
        if let Some(root) = &self.root {
            let server = LocalServer {
                transport,
                headers,
                root,
            };
            let is_wanted = self.configured_window(model).is_none();
            // Partial results before the timeout are used.
            let probe = server.probe(model, is_wanted, &mut result);
            let _ = tokio::time::timeout(PROBE_TIMEOUT, probe).await;
        }
        let listed = || self.lock_listed().as_ref()?.get(model).copied();
        result.window = result.window.or_else(listed);
        result
    }

    fn lock_listed(&self) -> MutexGuard<'_, Option<HashMap<String, usize>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the window in an entry of a model list: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp.
fn listed_window(entry: &Value) -> Option<usize> {
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

/// The results of a probe. `None` for what the server did not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelProbe {
    pub window: Option<usize>,
    pub takes_tools: Option<bool>,
}

/// A server that the user runs.
struct LocalServer<'a> {
    transport: &'a Transport,
    headers: &'a HeaderMap,
    root: &'a Url,
}

impl LocalServer<'_> {
    /// Probes llama.cpp's API and then, if the window is still needed, Ollama's.
    async fn probe(&self, model: &str, is_window_wanted: bool, result: &mut ModelProbe) {
        if let Some(props) = self.get_json("props").await {
            *result = ModelProbe {
                window: props
                    .pointer("/default_generation_settings/n_ctx")
                    .and_then(parse_tokens),
                takes_tools: template_takes_tools(&props),
            };
        }
        if result.window.is_none() && is_window_wanted {
            result.window = self.ollama_window(model).await;
        }
    }

    /// Returns the window of the loaded model, or the window that it would be loaded with.
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

    /// Returns an address of the server, with the query of the base URL.
    fn url(&self, path: &str) -> Option<Url> {
        let mut url = self.root.join(path).ok()?;
        url.set_query(self.root.query());
        Some(url)
    }
}

/// Returns true if the template of llama.cpp's model has a place for tools. The server's own judgement is
/// used; for an older server, the template is searched for them.
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

/// Returns the window in Ollama's description of a model: the configured parameter, or else the trained
/// length.
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

/// Sends a request and returns the JSON of a successful response. Not every server has every address.
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
