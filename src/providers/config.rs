//! What is known of an endpoint before it is asked. Where this comes from (file, environment) is the
//! settings' business.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use reqwest::Url;
use secrecy::SecretString;

use crate::{
    secrets::Secrets,
    settings::{Dialect, PromptLength},
};

/// The longest SSE frame that is taken from a model server, unless the settings say otherwise.
pub const DEFAULT_MAX_FRAME_BYTES: usize = 1 << 20;

/// How long a connection to a model server may take, unless the settings say otherwise.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One place where models are served over OpenAI's protocol.
#[derive(Clone)]
pub struct EndpointConfig {
    /// The first half of its models' ids: not empty, without `/`.
    pub name: String,
    /// Up to and with `/v1`.
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// Where the address is set, as hints say it: "OPENAI_BASE_URL", "base_url of “x” in Leptos.toml". Empty if
    /// nobody has set it.
    pub base_url_source: String,
    /// Where the key is taken from, as hints say it: "OPENAI_API_KEY".
    pub api_key_source: String,
    /// Sent with every request; may be as secret as a key.
    pub headers: Vec<(String, SecretString)>,
    /// Offered instead of what the endpoint lists, for those that list nothing.
    pub models: Vec<String>,
    /// How many tokens its models can take, where it does not say so itself.
    pub context_window: Option<usize>,
    /// The same for single models, by their names there.
    pub context_windows: BTreeMap<String, usize>,
    /// Whether models that it does not list are refused before it is asked.
    pub lists_all_models: bool,
    /// What of the settings must not be quoted, even if this server says it: another one's key may have got there.
    pub secrets: Arc<Secrets>,
    /// Where it differs from others.
    pub dialect: Dialect,
    /// The system prompt that its models are given.
    pub prompt_length: PromptLength,
    /// Whether its models take tools, if the settings say so.
    pub takes_tools: Option<bool>,
    /// The longest SSE frame that is taken, in bytes.
    pub max_frame_bytes: usize,
    /// How long a connection may take.
    pub connect_timeout: Duration,
}

impl EndpointConfig {
    /// An endpoint without a key.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            api_key: None,
            base_url_source: String::new(),
            api_key_source: String::new(),
            headers: Vec::new(),
            models: Vec::new(),
            context_window: None,
            context_windows: BTreeMap::new(),
            lists_all_models: true,
            secrets: Arc::default(),
            dialect: Dialect::default(),
            prompt_length: PromptLength::default(),
            takes_tools: None,
            max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
        }
    }
}

/// User info in the address is as secret as a key.
impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointConfig")
            .field("name", &self.name)
            .field("base_url", &Url::parse(&self.base_url).as_ref().map(redact_url))
            .field("api_key", &self.api_key)
            .field("base_url_source", &self.base_url_source)
            .field("api_key_source", &self.api_key_source)
            .field("headers", &self.headers)
            .field("models", &self.models)
            .field("context_window", &self.context_window)
            .field("context_windows", &self.context_windows)
            .field("lists_all_models", &self.lists_all_models)
            .field("dialect", &self.dialect)
            .field("prompt", &self.prompt_length)
            .field("tools", &self.takes_tools)
            .field("max_frame", &self.max_frame_bytes)
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}

/// A URL without what may be secret in it, as settings and messages show it.
pub fn redact_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // They fail only for URLs that cannot have user info.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.as_str().trim_end_matches('/').to_owned()
}
