//! The settings: one typed struct, read once. Flags win over the environment, the environment over the
//! file, the file over the defaults.
//!
//! It holds no secrets in clear: keys are [`Secret`]s, which print as dots.

use std::{
    collections::BTreeMap,
    fmt,
    net::{Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, de::IgnoredAny};

pub use self::{
    allowed_hosts::{AllowedHosts, InvalidHostError},
    dialect::{Dialect, MaxTokensField, ThinkingField},
    history::{HistorySettings, MetadataMode},
    limits::{Limits, LogRetention, Timeouts},
    literature::LiteratureSettings,
    mcp::McpServer,
    prompt::{PromptLength, PromptSettings},
    read::{Overrides, SettingsError},
    tools::{FetchWebpageSettings, PubmedSettings, SearchProvider, ToolSettings, WebSearchSettings},
};

mod allowed_hosts;
mod dialect;
mod history;
mod limits;
mod listen;
mod literature;
pub mod mcp;
mod prompt;
mod read;
mod tools;

#[cfg(test)]
mod tests;

/// The file that is read if no other is named, and if it is there.
pub const DEFAULT_SETTINGS_FILE: &str = "Leptos.toml";

/// The port that is listened on if no other is set: one that no well-known server uses, model servers least of all.
pub const DEFAULT_PORT: u16 = 7387;

/// The name of the endpoint that `OPENAI_BASE_URL` and `OPENAI_API_KEY` make.
pub const ENVIRONMENT_ENDPOINT: &str = "openai";

/// The longest that anything may be set to take: a hundred years, which can be added to any time.
const MAX_DURATION: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

/// How many tokens a model can take, as far as that can be believed: no model has less room, nor more. A conversation should not be
/// cut because of a mistake.
pub const CONTEXT_WINDOW_RANGE: RangeInclusive<usize> = 256..=1_000_000_000;

/// The speeds that can be asked of an upload, in bytes per second.
const UPLOAD_SPEED_RANGE: RangeInclusive<usize> = 1..=1_000_000_000;

/// More often than this a model would ask for tools only because it goes round in circles.
const MAX_ITERATIONS: usize = 1000;

/// A passage that stands in an answer fewer times in a row is nothing unusual.
const MIN_REPETITIONS: usize = 3;

/// More repetitions than this may not fit into what is remembered of an answer.
const MAX_REPETITIONS: usize = 100;

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub server: ServerSettings,
    pub models: ModelSettings,
    /// Servers of models that speak OpenAI's protocol.
    pub endpoints: Vec<EndpointSettings>,
    pub agent: AgentSettings,
    pub prompt: PromptSettings,
    pub history: HistorySettings,
    pub tools: ToolSettings,
    /// Servers of tools.
    pub mcp: Vec<McpServer>,
    pub literature: LiteratureSettings,
    pub limits: Limits,
    pub timeouts: Timeouts,
    pub log: LogRetention,
    /// What Leptos has in the same file.
    pub package: IgnoredAny,
}

/// Where Parlor listens and keeps its data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// The address to listen on; a name is resolved. Loopback only, until there are accounts. Port 0 takes any free one.
    #[serde(deserialize_with = "listen::deserialize")]
    pub addr: SocketAddr,
    /// The one folder with everything in it.
    pub data: PathBuf,
    /// Names under which a proxy offers Parlor, as browsers show them: `host`, or `host:port`. Compared whole.
    pub allowed_hosts: Vec<String>,
    /// The database is looked through for damage after each start, beside all else.
    pub check_data: bool,
}

/// Which models are offered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The model of a new conversation, as `endpoint/model` or, if only one endpoint lists it, by its name there; without it the
    /// first that is found.
    pub default: Option<String>,
    /// Whether to look for Ollama, llama.cpp and LM Studio on this machine when no endpoint is set.
    pub discover: bool,
    /// Where to look, by name: the base URLs of servers on this machine.
    pub local: BTreeMap<String, String>,
    /// Prices of models whose servers don't name them, by the models' names (as `default`).
    pub prices: BTreeMap<String, Price>,
}

/// What a model costs: US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

/// A server of models.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointSettings {
    /// The first half of its models' ids.
    pub name: String,
    /// Up to and with the version, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The environment variable that holds the key.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The key itself, read from the environment.
    #[serde(skip)]
    pub api_key: Option<Secret>,
    /// Sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// Headers whose values are read from the environment: the variable of each.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// Its models, by their names there, where it can't list them itself. Then it is not asked for a list.
    #[serde(default)]
    pub models: Vec<String>,
    /// How many tokens its models can take, where the server does not say so itself.
    #[serde(default)]
    pub context_window: Option<usize>,
    /// The same for single models, by their names there.
    #[serde(default)]
    pub context_windows: BTreeMap<String, usize>,
    /// Models that it does not list are refused before it is asked. Some servers know aliases, or take any name.
    #[serde(default = "yes")]
    pub lists_all_models: bool,
    #[serde(default)]
    pub dialect: Dialect,
    /// The system prompt that its models are given.
    #[serde(default)]
    pub prompt: PromptLength,
    /// Its models take tools, or don't. Without it, what the server says of their templates decides.
    #[serde(default)]
    pub tools: Option<bool>,
}

/// An address may hold a password.
impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("base_url", &strip_secrets(&self.base_url))
            .field("api_key_env", &self.api_key_env)
            .field("api_key", &self.api_key)
            .field("headers", &self.headers)
            .field("headers_env", &self.headers_env)
            .field("models", &self.models)
            .field("context_window", &self.context_window)
            .field("context_windows", &self.context_windows)
            .field("lists_all_models", &self.lists_all_models)
            .field("dialect", &self.dialect)
            .field("prompt", &self.prompt)
            .field("tools", &self.tools)
            .finish()
    }
}

fn yes() -> bool {
    true
}

/// The part of an address that may be shown: neither a password nor a query, which may hold a key.
fn strip_secrets(address: &str) -> &str {
    let place = strip_password(address);
    place.split(['?', '#']).next().unwrap_or_default()
}

/// What of an address may be shown: the password in it, if there is one, ends with an @.
fn strip_password(address: &str) -> &str {
    address.rsplit_once('@').map_or(address, |(_, host)| host)
}

/// How the model is let work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// How many times in one turn the model may ask for tools, at most [`MOST_ITERATIONS`]. Then it has to answer with what there is.
    pub max_iterations: usize,
    /// An answer, or what the model thinks, is ended when the same passage stands in it so many times in a row. 0 means never.
    pub repetitions: usize,
    /// What the assistant is told beside who it is: how to talk, what to do and what not.
    pub instructions: String,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            data: "data".into(),
            allowed_hosts: Vec::new(),
            check_data: true,
        }
    }
}

impl Default for ModelSettings {
    fn default() -> Self {
        let local = [
            ("ollama", "http://127.0.0.1:11434/v1"),
            ("llama.cpp", "http://127.0.0.1:8080/v1"),
            ("lmstudio", "http://127.0.0.1:1234/v1"),
        ];
        let local = local
            .map(|(name, base_url)| (name.to_owned(), base_url.to_owned()))
            .into();
        Self {
            default: None,
            discover: true,
            local,
            prices: BTreeMap::new(),
        }
    }
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            max_iterations: 5,
            repetitions: 8,
            instructions: String::new(),
        }
    }
}

/// Text that must not be printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}
