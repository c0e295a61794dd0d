//! The probe of a local server's own API for the context window of a model. No protocol has a field for it.
//!
//! llama.cpp also returns the chat template. If the template has no place for tools, they would have to be
//! described to the model in text that it was not trained on, which costs a small model more than its answer.
//!
//! The window of a loaded model (llama.cpp, Ollama) takes precedence over the trained one, because the server
//! silently drops everything beyond it.

use std::time::Duration;

use reqwest::{RequestBuilder, Url, header::HeaderMap};
use serde_json::{Value, json};

use crate::providers::{
    model_list::{parse_tokens, plausible},
    transport::Transport,
};

/// The ends of base URLs with a version.
const VERSIONS: [&str; 2] = ["/v1", "/v1beta"];

/// The time limit of a probe, which delays the first answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum size of a probe's response: Ollama returns much about a model.
const MAX_PROBE_BYTES: usize = 4 << 20;

/// The probe of a server that the user may run.
#[derive(Clone, Debug)]
pub struct LocalProbe {
    /// The root address of a local server, before the version, with the query of the base URL. Hosted servers
    /// are not probed, since they would only have to reject the requests.
    root: Option<Url>,
}

impl LocalProbe {
    /// Creates the probe of the server with this base URL.
    pub fn new(url: &Url) -> Self {
        let is_own = url.scheme() == "http";
        let mut root = url.clone();
        root.set_fragment(None);
        let path = root.path().trim_end_matches('/');
        let version = VERSIONS.iter().find_map(|version| path.strip_suffix(version));
        let path = version.unwrap_or(path).to_owned() + "/";
        root.set_path(&path);
        Self {
            root: is_own.then_some(root),
        }
    }

    /// Probes the server. The window is requested from all APIs only if it is wanted.
    pub async fn run(
        &self,
        transport: &Transport,
        headers: &HeaderMap,
        model: &str,
        is_window_wanted: bool,
    ) -> ModelProbe {
        let mut result = ModelProbe::default();
        if let Some(root) = &self.root {
            let server = LocalServer {
                transport,
                headers,
                root,
            };
            // Partial results before the timeout are used.
            let probe = server.probe(model, is_window_wanted, &mut result);
            let _ = tokio::time::timeout(PROBE_TIMEOUT, probe).await;
        }
        result
    }
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

#[cfg(test)]
mod tests;
