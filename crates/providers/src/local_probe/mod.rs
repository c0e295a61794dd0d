//! The probe of a local server's own API for the context window and the capabilities of a model. No protocol has
//! fields for them.
//!
//! llama.cpp returns the chat template. If the template has no place for tools, they would have to be
//! described to the model in text that it was not trained on, which costs a small model more than its answer.
//!
//! The window of a loaded model (llama.cpp, Ollama) takes precedence over the trained one, because the server
//! silently drops everything beyond it.

use std::time::Duration;

use reqwest::{RequestBuilder, Url, header::HeaderMap};
use serde_json::{Value, json};

use crate::{
    list_entry::read_capabilities,
    model_list::{parse_tokens, plausible_window},
    transport::Transport,
};
use parlor_model::lenient_json;
use parlor_protocol::{ModelCapabilities, ThinkingLevel, ThinkingSupport};

/// The version suffixes of base URLs.
const VERSION_SUFFIXES: [&str; 2] = ["/v1", "/v1beta"];

/// The time limit of a probe, which delays the first answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum size of a probe's response: Ollama returns much about a model.
const MAX_PROBE_BYTES: usize = 4 << 20;

/// The probe of a server that the user may run.
#[derive(Clone, Debug)]
pub struct LocalProbe {
    /// The root URL of a local server, before the version, with the query of the base URL. Hosted servers
    /// are not probed, since they would only have to reject the requests.
    root: Option<Url>,
}

impl LocalProbe {
    /// Creates the probe of the server with this base URL.
    pub fn new(url: &Url) -> Self {
        // Hosted servers use TLS.
        let is_local = url.scheme() == "http";
        let mut root = url.clone();
        root.set_fragment(None);
        let path = root.path().trim_end_matches('/');
        let version = VERSION_SUFFIXES
            .iter()
            .find_map(|version| path.strip_suffix(version));
        let path = version.unwrap_or(path).to_owned() + "/";
        root.set_path(&path);
        Self {
            root: is_local.then_some(root),
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelProbe {
    pub capabilities: ModelCapabilities,
    /// True if the chat template has a field that turns the thinking on and off (`enable_thinking`).
    pub has_template_switch: bool,
}

/// A server that the user runs.
struct LocalServer<'a> {
    transport: &'a Transport,
    headers: &'a HeaderMap,
    root: &'a Url,
}

impl LocalServer<'_> {
    /// Probes llama.cpp's API, or else Ollama's and then LM Studio's.
    async fn probe(&self, model: &str, is_window_wanted: bool, result: &mut ModelProbe) {
        if let Some(props) = self.get_json("props").await.filter(is_llama_cpp) {
            *result = read_props(&props);
            if result.capabilities.context_window.is_some() || !is_window_wanted {
                return;
            }
        }
        let running = self.running_window(model).await;
        let found = &mut result.capabilities;
        found.context_window = found.context_window.or(running);
        if let Some(shown) = self.show(model).await {
            *found = std::mem::take(found).or(read_shown(&shown));
        } else if let Some(entry) = self.lm_studio_entry(model).await {
            *found = std::mem::take(found).or(read_capabilities(&entry));
        }
    }

    /// Returns the window of the loaded model, from Ollama.
    async fn running_window(&self, model: &str) -> Option<usize> {
        let running = self.get_json("api/ps").await?;
        let mut models = running.get("models")?.as_array()?.iter();
        let entry = models.find(|entry| entry["name"] == model || entry["model"] == model)?;
        parse_tokens(&entry["context_length"])
    }

    /// Returns Ollama's description of a model.
    async fn show(&self, model: &str) -> Option<Value> {
        let http = self.transport.http();
        let show = http
            .post(self.url("api/show")?)
            .headers(self.headers.clone())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(json!({"model": model}).to_string());
        let shown = json_answer(show).await?;
        shown.get("error").is_none().then_some(shown)
    }

    /// Returns a model in LM Studio's own list.
    async fn lm_studio_entry(&self, model: &str) -> Option<Value> {
        let list = self.get_json("api/v0/models").await?;
        let mut entries = list.get("data")?.as_array()?.iter();
        entries.find(|entry| entry["id"] == model).cloned()
    }

    async fn get_json(&self, path: &str) -> Option<Value> {
        let http = self.transport.http();
        json_answer(http.get(self.url(path)?).headers(self.headers.clone())).await
    }

    /// Returns a URL of the server, with the query of the base URL.
    fn url(&self, path: &str) -> Option<Url> {
        let mut url = self.root.join(path).ok()?;
        url.set_query(self.root.query());
        Some(url)
    }
}

/// Returns true for properties of llama.cpp. Other servers respond to any URL with an object.
fn is_llama_cpp(props: &Value) -> bool {
    [
        "default_generation_settings",
        "chat_template",
        "chat_template_caps",
    ]
    .iter()
    .any(|field| props.get(field).is_some())
}

/// Reads the properties of llama.cpp's model.
fn read_props(props: &Value) -> ModelProbe {
    let template = props["chat_template"].as_str().unwrap_or_default();
    let has_template_switch = template.contains("enable_thinking");
    let thinking = if has_template_switch {
        Some(ThinkingSupport::levels(&[ThinkingLevel::Off, ThinkingLevel::On]))
    } else if template.contains("reasoning_effort") {
        let levels = [ThinkingLevel::Low, ThinkingLevel::Medium, ThinkingLevel::High];
        Some(ThinkingSupport::levels(&levels))
    } else {
        None
    };
    ModelProbe {
        capabilities: ModelCapabilities {
            image_input: props.pointer("/modalities/vision").and_then(Value::as_bool),
            tool_use: template_takes_tools(props),
            thinking,
            context_window: props
                .pointer("/default_generation_settings/n_ctx")
                .and_then(parse_tokens),
            ..ModelCapabilities::default()
        },
        has_template_switch,
    }
}

/// Reads Ollama's description of a model. Its thinking is set by the effort, where any but `none` means on,
/// except for models with levels of their own, which are known by name.
fn read_shown(model: &Value) -> ModelCapabilities {
    let listed = model["capabilities"].as_array();
    let has = |name: &str| listed.map(|listed| listed.iter().any(|capability| capability == name));
    let thinking = has("thinking").map(|thinks| match thinks {
        true => ThinkingSupport::levels(&[ThinkingLevel::Off, ThinkingLevel::On]),
        false => ThinkingSupport::NONE,
    });
    let has_own_levels = model
        .pointer("/details/family")
        .is_some_and(|family| family == "gptoss");
    ModelCapabilities {
        image_input: has("vision"),
        tool_use: has("tools"),
        thinking: thinking.filter(|_| !has_own_levels),
        context_window: ollama_shown_window(model),
        ..ModelCapabilities::default()
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
        (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok().and_then(plausible_window))?
    });
    set.or_else(|| {
        let info = model.get("model_info")?.as_object()?;
        let (_, length) = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
        parse_tokens(length)
    })
}

/// Sends a request and returns the JSON of a successful response. Not every server has every URL.
async fn json_answer(request: RequestBuilder) -> Option<Value> {
    let mut response = request.send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_PROBE_BYTES {
            return None;
        }
    }
    lenient_json::parse_bytes(&body).ok()
}

#[cfg(test)]
mod tests;
