//! The settings: one typed struct, read once. Flags override the environment, the environment overrides the
//! file, and the file overrides the defaults.
//!
//! Keys are [`Secret`]s, which print as dots. A base URL may contain a password; its `Debug` leaves that out.

use std::{
    collections::BTreeMap,
    fmt,
    net::{Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::Path,
};

use ipnet::IpNet;
use serde::{Deserialize, de::IgnoredAny};

pub use parlor_protocol::EndpointKind;

pub use self::{
    access_rules::AccessRule,
    accounts::{AccountSettings, AuthMode, SignUp},
    allowed_hosts::{AllowedHosts, InvalidHostError},
    capabilities::{CapabilitySettings, Price, ThinkingSetting},
    data::DataSettings,
    databases::{
        DatabaseSettings, DatabaseSettingsError, DatabaseUrl, DocumentationSettings, SubjectSettings,
        TableSettings,
    },
    dialect::{Dialect, MaxTokensField, ThinkingField},
    file_store::{FileStore, InvalidStore},
    files::FileSettings,
    history::{HistorySettings, MetadataMode},
    images::{ImageApiSetting, ImageSettings},
    jobs::JobSettings,
    limits::{Limits, LogRetention, Retention, Timeouts},
    literature::LiteratureSettings,
    mcp::McpServer,
    metrics::MetricSettings,
    nodes::NodeSettings,
    oidc::OidcSettings,
    path::{ProgramPath, SettingPath},
    places::SYSTEM_SETTINGS_FILE,
    projects::ProjectSettings,
    prompt::{PromptLength, PromptSettings},
    python::PythonSettings,
    read::{Overrides, SettingsError, is_local_url},
    schedules::ScheduleSettings,
    sharing::SharingSettings,
    storage::StorageSettings,
    titles::{TitleMode, TitleSettings},
    tools::{FetchWebpageSettings, PubmedSettings, SearchEngine, ToolSettings, WebSearchSettings},
};

mod access_rules;
mod accounts;
mod allowed_hosts;
mod capabilities;
mod data;
mod databases;
mod dialect;
mod duration;
mod environment;
mod file_store;
mod files;
mod history;
mod images;
mod jobs;
mod limits;
mod listen;
mod literature;
pub mod mcp;
mod metrics;
mod model_capabilities;
mod nodes;
mod oidc;
mod path;
mod places;
mod projects;
mod prompt;
mod python;
mod read;
mod schedules;
mod sharing;
mod storage;
mod titles;
mod tools;

#[cfg(test)]
mod tests;

/// The default port. No well-known server uses it, in particular no model server.
pub const DEFAULT_PORT: u16 = 7387;

/// The plausible range of a model's context window, in tokens. It keeps a wrong value from truncating a
/// conversation.
pub const CONTEXT_WINDOW_RANGE: RangeInclusive<usize> = 256..=1_000_000_000;

/// The accepted range of limits that may not be 0.
const POSITIVE_RANGE: RangeInclusive<usize> = 1..=1_000_000_000;

/// The maximum of `max_iterations`. A model that calls tools more often is in a loop.
const MAX_ITERATIONS: usize = 1000;

/// The maximum of `max_resumptions`. An answer that was interrupted more often probably ends the server itself.
const MAX_RESUMPTIONS: usize = 1000;

/// The minimum of `repetitions`. Fewer repetitions of a passage are normal.
const MIN_REPETITIONS: usize = 3;

/// The maximum of `repetitions`. More repetitions may not fit into the part of an answer that is checked.
const MAX_REPETITIONS: usize = 100;

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub server: ServerSettings,
    #[serde(deserialize_with = "storage::section_or_url")]
    pub database: StorageSettings,
    pub nodes: NodeSettings,
    pub accounts: AccountSettings,
    pub sharing: SharingSettings,
    pub projects: ProjectSettings,
    pub schedules: ScheduleSettings,
    pub models: ModelSettings,
    /// Model servers.
    pub endpoints: Vec<EndpointSettings>,
    pub agent: AgentSettings,
    pub prompt: PromptSettings,
    pub history: HistorySettings,
    pub titles: TitleSettings,
    pub tools: ToolSettings,
    /// MCP servers.
    pub mcp: Vec<McpServer>,
    pub literature: LiteratureSettings,
    pub jobs: JobSettings,
    /// Databases that the assistant may query.
    pub databases: Vec<DatabaseSettings>,
    pub data: DataSettings,
    pub python: PythonSettings,
    pub files: FileSettings,
    pub images: ImageSettings,
    pub limits: Limits,
    pub timeouts: Timeouts,
    pub retention: Retention,
    pub log: LogRetention,
    pub metrics: MetricSettings,
    /// The file that they were read from.
    #[serde(skip)]
    pub file: Option<SettingPath>,
    /// Leptos' own section of the same file.
    pub package: IgnoredAny,
}

/// The address to listen on and the data folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// The address to listen on, such as localhost:7387; or `PARLOR_ADDR`, or `--addr`. Loopback only, unless
    /// `accounts.auth` is "password", "oidc" or "proxy". Port 0 selects any free port.
    #[serde(deserialize_with = "listen::deserialize")]
    pub addr: SocketAddr,
    /// The folder for all data; or `PARLOR_DATA`, or `--data`. Copy it to keep the conversations. If unset,
    /// `$XDG_DATA_HOME/parlor`, which is usually `~/.local/share/parlor`.
    pub data: Option<SettingPath>,
    /// The file with the key that encrypts secrets entered in the page, such as keys of model servers; made when it is needed.
    /// If unset, secret.key in the data folder. `PARLOR_SECRET_KEY` has precedence over it.
    pub secret_key_file: Option<SettingPath>,
    /// The key itself (32 bytes in hexadecimal digits or Base64), read from the environment. Several are separated by commas:
    /// the first one encrypts, all decrypt.
    #[serde(skip)]
    pub secret_key: Option<Secret>,
    /// The folder of the files that browsers load, in place of those in the program; or `PARLOR_SITE`. Only for a program with
    /// pages of its own (docs/pages.md).
    pub site: Option<SettingPath>,
    /// Host names under which Parlor or a proxy in front of it is reached, as browsers show them: host, or
    /// host:port (docs/http.md, "Behind a proxy"). With `accounts.auth` "none", everybody who can reach the proxy has
    /// access to all conversations, so have it ask for a password.
    pub allowed_hosts: Vec<String>,
    /// The addresses or networks of proxies, such as 127.0.0.1 or 10.0.0.0/8. Only from them count X-Forwarded-For,
    /// X-Forwarded-Proto and the header of `accounts.user_header`.
    #[serde(deserialize_with = "accounts::networks")]
    pub proxies: Vec<IpNet>,
    /// True if the database is checked for damage after each start. The check runs in the background and reads
    /// the whole file once.
    pub check_data: bool,
}

/// The offered models.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The model of a new conversation, as `endpoint/model`, or by its plain name if only one endpoint lists
    /// it; or `PARLOR_MODEL`. If unset, the first one found.
    pub default: Option<String>,
    /// True if Ollama, llama.cpp and LM Studio are searched on this machine while no endpoint is set.
    pub discover: bool,
    /// The base URLs of the searched servers, by name.
    pub local: BTreeMap<String, String>,
    /// Prices of models whose servers report none, by the models' names (as in `default`), in US dollars per
    /// million tokens: `input` and `output`, and `cached_input`, `cache_write` and `image_output` if they differ.
    pub prices: BTreeMap<String, Price>,
}

/// A model server.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointSettings {
    /// The first half of its models' ids.
    pub name: String,
    /// Its protocol: "openai" (chat completions), "openai-responses", "anthropic" or "gemini".
    #[serde(default)]
    pub kind: EndpointKind,
    /// The base URL, including the version, such as `https://api.openai.com/v1`. Anthropic's has none: it is
    /// what stands before `/v1/messages`.
    pub base_url: String,
    /// The environment variable that has the key. Keys don't belong in files.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The key, read from the environment.
    #[serde(skip)]
    pub api_key: Option<Secret>,
    /// Headers sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// Headers whose values are read from the environment, with the variable of each.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// Its models, by their names there, if it can't list them. Then no list is requested.
    #[serde(default)]
    pub models: Vec<String>,
    /// The context window of its models in tokens, if the server does not report it.
    #[serde(default)]
    pub context_window: Option<usize>,
    /// The context windows of single models, by their names there.
    #[serde(default)]
    pub context_windows: BTreeMap<String, usize>,
    /// The capabilities of single models, by their names there, if neither the server nor Parlor knows them.
    #[serde(default)]
    pub capabilities: BTreeMap<String, CapabilitySettings>,
    /// True (the default) if models that it does not list are rejected without a request. Set it to false for a
    /// server that knows aliases or accepts any name.
    #[serde(default = "default_true")]
    pub lists_all_models: bool,
    /// The differences of its requests from OpenAI's.
    #[serde(default)]
    pub dialect: Dialect,
    /// The system prompt for its models: "short", "full", or "auto" (by `prompt.small_window`).
    #[serde(default)]
    pub prompt: PromptLength,
    /// True if its models can use tools. If unset, what the server reports decides; without a report they can.
    #[serde(default)]
    pub tools: Option<bool>,
    /// The number of tools that one request may have; 128 if unset, as OpenAI takes. The model finds the others with `find_tool`.
    #[serde(default)]
    pub max_tools: Option<usize>,
    /// The origin of the base URL.
    #[serde(skip)]
    pub base_url_origin: BaseUrlOrigin,
}

/// The origin of an endpoint's base URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseUrlOrigin {
    #[default]
    File,
    /// This environment variable.
    Variable(&'static str),
    /// The provider's own address, which nothing has set.
    Provider,
}

/// Redacts the URL, which may contain a password.
impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("base_url", &strip_secrets(&self.base_url))
            .field("api_key_env", &self.api_key_env)
            .field("api_key", &self.api_key)
            .field("headers", &self.headers)
            .field("headers_env", &self.headers_env)
            .field("models", &self.models)
            .field("context_window", &self.context_window)
            .field("context_windows", &self.context_windows)
            .field("capabilities", &self.capabilities)
            .field("lists_all_models", &self.lists_all_models)
            .field("dialect", &self.dialect)
            .field("prompt", &self.prompt)
            .field("tools", &self.tools)
            .field("max_tools", &self.max_tools)
            .finish()
    }
}

fn default_true() -> bool {
    true
}

/// Returns the displayable part of a URL: without password and query, which may contain a key.
fn strip_secrets(url: &str) -> &str {
    let shown = strip_password(url);
    shown.split(['?', '#']).next().unwrap_or_default()
}

/// Returns the displayable part of a URL. A password in it ends with an @.
fn strip_password(url: &str) -> &str {
    url.rsplit_once('@').map_or(url, |(_, host)| host)
}

/// Limits and instructions of the agent loop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// The number of times per turn that the model may call tools, at most 1000. Then it has to answer with
    /// the data it has.
    pub max_iterations: usize,
    /// The number of times that an answer goes on by itself after a crash or restart of the server, at most 1000. It waits for
    /// the user instead if a call of a tool was active that may have had an effect. 0 means never.
    pub max_resumptions: usize,
    /// The number of consecutive repetitions of a passage that ends an answer or its thinking. Passages of less than 500
    /// characters need proportionally more. 0 means never.
    pub repetitions: usize,
    /// True if the model gets messages that wait in a queue after its present tool calls, not only after its answer: the
    /// answer ends there, and the next one continues.
    pub steer: bool,
    /// Additional instructions for the assistant in every conversation.
    pub instructions: String,
}

impl ServerSettings {
    /// Returns the data folder. [`Settings::read`] sets it in any case.
    pub fn data(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new("data"))
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            data: None,
            secret_key_file: None,
            secret_key: None,
            site: None,
            allowed_hosts: Vec::new(),
            proxies: Vec::new(),
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
            max_iterations: 25,
            max_resumptions: 3,
            repetitions: 8,
            steer: false,
            instructions: String::new(),
        }
    }
}

/// A text that must not be printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}
