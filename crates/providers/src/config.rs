//! The configuration of an endpoint. The settings read it from files and the environment.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use reqwest::Url;
use secrecy::SecretString;

use parlor_base::{
    secrets::Secrets,
    settings::{Dialect, EndpointKind, PromptLength},
};
use parlor_protocol::ModelCapabilities;

/// The default maximum size of an SSE frame from a model server, in bytes.
pub const DEFAULT_MAX_FRAME_BYTES: usize = 1 << 20;

/// The default connect timeout of a model server.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The default maximum number of tools in one request: OpenAI's. Other providers take more, but each tool is a part of every prompt.
pub const DEFAULT_MAX_TOOLS: usize = 128;

/// The configuration of an endpoint.
#[derive(Clone)]
pub struct EndpointConfig {
    /// The name, which is the first half of its models' ids: not empty, without `/`.
    pub name: String,
    /// The protocol.
    pub kind: EndpointKind,
    /// The base URL, with the version unless it is Anthropic's.
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// The source of the URL for hints: "OPENAI_BASE_URL", "base_url of “x” in Leptos.toml". Empty if it
    /// is not set.
    pub base_url_source: String,
    /// True if it was added in the page, where its URL and its key are changed.
    pub is_added: bool,
    /// True if a user has added it for themselves alone.
    pub is_own: bool,
    /// True if it is never connected to at an internal IP address: nobody here has chosen its address.
    pub is_guarded: bool,
    /// The source of the key for hints: "OPENAI_API_KEY".
    pub api_key_source: String,
    /// The headers of every request. Their values may be secret.
    pub headers: Vec<(String, SecretString)>,
    /// The models to offer instead of the endpoint's own list, for endpoints without one.
    pub models: Vec<String>,
    /// The context window of its models in tokens, if the endpoint does not report it.
    pub context_window: Option<usize>,
    /// The context windows of single models, by the endpoint's names.
    pub context_windows: BTreeMap<String, usize>,
    /// The capabilities of single models in the settings, by the endpoint's names.
    pub capabilities: BTreeMap<String, ModelCapabilities>,
    /// True if models that the endpoint does not list are rejected without a call.
    pub lists_all_models: bool,
    /// Secrets of all settings. They are removed from quoted server messages: another endpoint's key may have
    /// reached this server.
    pub secrets: Arc<Secrets>,
    /// The differences from the standard protocol.
    pub dialect: Dialect,
    /// The length of the system prompt for its models.
    pub prompt_length: PromptLength,
    /// The tool support of its models, if the settings define it.
    pub takes_tools: Option<bool>,
    /// The maximum number of tools in one request.
    pub max_tools: usize,
    /// The maximum size of an SSE frame, in bytes.
    pub max_frame_bytes: usize,
    /// The connect timeout.
    pub connect_timeout: Duration,
}

impl EndpointConfig {
    /// Creates the configuration of an endpoint without a key.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: EndpointKind::default(),
            base_url: base_url.into(),
            api_key: None,
            base_url_source: String::new(),
            is_added: false,
            is_own: false,
            is_guarded: false,
            api_key_source: String::new(),
            headers: Vec::new(),
            models: Vec::new(),
            context_window: None,
            context_windows: BTreeMap::new(),
            capabilities: BTreeMap::new(),
            lists_all_models: true,
            secrets: Arc::default(),
            dialect: Dialect::default(),
            prompt_length: PromptLength::default(),
            takes_tools: None,
            max_tools: DEFAULT_MAX_TOOLS,
            max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
        }
    }
}

/// User info in the URL is as secret as a key.
impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointConfig")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("base_url", &Url::parse(&self.base_url).as_ref().map(redact_url))
            .field("api_key", &self.api_key)
            .field("base_url_source", &self.base_url_source)
            .field("is_added", &self.is_added)
            .field("is_own", &self.is_own)
            .field("is_guarded", &self.is_guarded)
            .field("api_key_source", &self.api_key_source)
            .field("headers", &self.headers)
            .field("models", &self.models)
            .field("context_window", &self.context_window)
            .field("context_windows", &self.context_windows)
            .field("capabilities", &self.capabilities)
            .field("lists_all_models", &self.lists_all_models)
            .field("dialect", &self.dialect)
            .field("prompt", &self.prompt_length)
            .field("tools", &self.takes_tools)
            .field("max_tools", &self.max_tools)
            .field("max_frame", &self.max_frame_bytes)
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}

/// Returns the URL of an endpoint without secrets; empty if it is none.
pub fn display_url(url: &str) -> String {
    Url::parse(url.trim())
        .as_ref()
        .map(redact_url)
        .unwrap_or_default()
}

/// Returns a URL without secrets, for settings and messages.
pub fn redact_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These calls fail only for URLs that can't have userinfo.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.as_str().trim_end_matches('/').to_owned()
}
