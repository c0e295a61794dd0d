//! The settings: one typed struct, read once. Flags win over the environment, the environment over the
//! file, the file over the defaults.
//!
//! It holds no secrets in clear: keys are [`Secret`]s, which print as dots.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

pub use self::{
    history::{Dialect, History, LengthField, ThinkingField},
    literature::Literature,
    mcp::McpServer,
    tools::{FetchWebpage, Pubmed, SearchProvider, Tools, WebSearch},
};

mod history;
mod literature;
pub mod mcp;
mod tools;

#[cfg(test)]
mod tests;

/// The file that is read if no other is named, and if it is there.
pub const DEFAULT_FILE: &str = "Leptos.toml";

/// The name of the endpoint that `OPENAI_BASE_URL` and `OPENAI_API_KEY` make.
pub const ENVIRONMENT_ENDPOINT: &str = "openai";

/// The longest that anything may be set to take: a hundred years, which can be added to any time.
const LONGEST_SPAN: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub server: Server,
    pub models: Models,
    /// Servers of models that speak OpenAI's protocol.
    pub endpoints: Vec<Endpoint>,
    pub agent: Agent,
    pub history: History,
    pub tools: Tools,
    /// Servers of tools.
    pub mcp: Vec<McpServer>,
    pub literature: Literature,
    pub limits: Limits,
    pub timeouts: Timeouts,
    pub log: Log,
}

/// Where Parlor listens and keeps its data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The address to listen on. Loopback only, until there are accounts. Port 0 takes any free one.
    pub addr: SocketAddr,
    /// The one folder with everything in it.
    pub data: PathBuf,
}

/// Which models are offered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    /// The model of a new conversation, as `endpoint/model`; without it the first that is found.
    pub default: Option<String>,
    /// Whether to look for Ollama, llama.cpp and LM Studio on this machine when no endpoint is set.
    pub discover: bool,
    /// Where to look, by name: the base URLs of servers on this machine.
    pub local: BTreeMap<String, String>,
    /// What models cost whose servers don't say so, by `endpoint/model`.
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
pub struct Endpoint {
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
    /// How many tokens its models can take, where the server does not say so itself.
    #[serde(default)]
    pub context_window: Option<usize>,
    /// The same for single models, by their names there.
    #[serde(default)]
    pub context_windows: BTreeMap<String, usize>,
    #[serde(default)]
    pub dialect: Dialect,
}

/// An address may hold a password.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("base_url", &without_password(&self.base_url))
            .field("api_key_env", &self.api_key_env)
            .field("api_key", &self.api_key)
            .field("headers", &self.headers)
            .field("context_window", &self.context_window)
            .field("context_windows", &self.context_windows)
            .field("dialect", &self.dialect)
            .finish()
    }
}

/// What of an address may be shown: the password in it, if there is one, ends with an @.
fn without_password(address: &str) -> &str {
    address.rsplit_once('@').map_or(address, |(_, host)| host)
}

/// How the model is let work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// How many times in one turn the model may ask for tools. Then it has to answer with what there is.
    pub max_iterations: usize,
    /// What the assistant is told beside who it is: how to talk, what to do and what not.
    pub instructions: String,
}

/// The largest that Parlor takes, in bytes unless the name says otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A person's message.
    pub message_bytes: usize,
    /// A title, or an API token's name, in characters.
    pub title_characters: usize,
    /// A request's body.
    pub request_bytes: usize,
    /// One event of a model's stream.
    pub model_event_bytes: usize,
    /// What one answer may come to, its thinking included.
    pub answer_bytes: usize,
    /// What a tool makes for the panel in one call.
    pub payload_bytes: usize,
    /// What is kept of one call of a model for the diagnostics: of what was sent, and as much of what came back.
    pub diagnostics_bytes: usize,
    /// Answers of a conversation that there are diagnostics of: the newest.
    pub diagnostics_answers: usize,
    /// One file that a tool gives.
    pub attachment_bytes: usize,
    /// Files that a tool may give in one call.
    pub attachments: usize,
    /// Conversations in one page of the list.
    pub conversations_page: usize,
    /// Messages in one page of a conversation.
    pub messages_page: usize,
    /// A page of a conversation ends with the message with which it comes to this.
    pub messages_page_bytes: usize,
    /// One thing that is remembered of a person.
    pub memory_bytes: usize,
    /// Things that are remembered of a person.
    pub memories: usize,
    /// What a request says of what the person is looking at.
    pub context_bytes: usize,
    /// What a person wants the assistant to be told in every conversation.
    pub instructions_bytes: usize,
    /// A person's API tokens.
    pub api_tokens: usize,
}

/// How long Parlor waits, in seconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection to a model server.
    pub connect_seconds: f64,
    /// For the first token of an answer.
    pub first_token_seconds: f64,
    /// Between two tokens.
    pub silence_seconds: f64,
    /// For a whole answer.
    pub run_seconds: f64,
    /// Between two signs of life on an event stream. Proxies cut what is silent for longer than 15 or so.
    pub heartbeat_seconds: f64,
    /// For MCP servers that have not said yet which tools they have, before an answer is begun without them.
    pub mcp_start_seconds: f64,
    /// For runs to end when the server is asked to stop.
    pub shutdown_seconds: f64,
    /// For an answer to whoever asked for all of it at once; then they are told where to find it.
    pub batch_seconds: f64,
    /// For an answer that is worth a notification when it ends while nobody looks.
    pub long_answer_seconds: f64,
}

/// How much of the log is kept for catching up. Messages are kept for ever.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    pub keep_hours: u32,
    /// At most this many events of each user.
    pub keep_events: u64,
    /// How often what is too much is removed.
    pub trim_seconds: f64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            addr: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data: "data".into(),
        }
    }
}

impl Default for Models {
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

impl Default for Agent {
    fn default() -> Self {
        Self {
            max_iterations: 5,
            instructions: String::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 512 << 10,
            title_characters: 200,
            request_bytes: 2 << 20,
            model_event_bytes: 1 << 20,
            answer_bytes: 8 << 20,
            payload_bytes: 1 << 20,
            diagnostics_bytes: 256 << 10,
            diagnostics_answers: 50,
            attachment_bytes: 8 << 20,
            attachments: 16,
            conversations_page: 40,
            messages_page: 20,
            messages_page_bytes: 256 << 10,
            memory_bytes: 2000,
            memories: 500,
            context_bytes: 16 << 10,
            instructions_bytes: 8 << 10,
            api_tokens: 50,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_seconds: 10.0,
            first_token_seconds: 120.0,
            silence_seconds: 60.0,
            run_seconds: 3600.0,
            heartbeat_seconds: 10.0,
            mcp_start_seconds: 5.0,
            shutdown_seconds: 5.0,
            batch_seconds: 300.0,
            // Who waits for less still looks.
            long_answer_seconds: 30.0,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            keep_hours: 24,
            keep_events: 1_000_000,
            trim_seconds: 600.0,
        }
    }
}

/// What the command line says, which wins over all else.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The settings file; it must exist.
    pub file: Option<PathBuf>,
    pub addr: Option<SocketAddr>,
    pub data: Option<PathBuf>,
}

/// The settings can't be used. Says which one and why.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings file {} can't be read: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("the settings file {} is not understood: {cause}", path.display())]
    Syntax {
        path: PathBuf,
        cause: Box<toml::de::Error>,
    },
    #[error("{name} is set to “{value}”, which is not {expected}")]
    Variable {
        name: &'static str,
        value: String,
        expected: &'static str,
    },
    #[error(
        "the address {0} can be reached from other machines, and Parlor has no accounts yet: use a loopback \
         address such as 127.0.0.1:8080 (setting server.addr, PARLOR_ADDR, --addr)"
    )]
    NotLoopback(SocketAddr),
    #[error("two endpoints have the name “{0}”: the names make the models' ids, so give each its own")]
    SameName(String),
    #[error("two MCP servers have the name “{0}”: the names begin the tools' names, so give each its own")]
    SameMcpName(String),
    #[error(
        "the MCP servers “{0}” and “{1}”: a name must not be the beginning of another one up to a _, or a tool of the one could \
         have the name of a tool of the other"
    )]
    NestedMcpNames(String, String),
    #[error("the setting {0} must be a span of time above 0 (a billionth at least, a hundred years at most)")]
    NotASpan(&'static str),
    #[error("the setting {0} must be an address that begins with http:// or https://")]
    NotAUrl(&'static str),
    #[error(
        "the setting history.timezone is “{0}”, which is no time zone: name one as IANA does, such as Europe/Copenhagen"
    )]
    NoTimeZone(String),
    #[error("tools.web_search has the provider “searxng” and no url: where is it?")]
    NoSearchUrl,
    #[error(
        "tools.web_search has a provider that wants a key and no api_key_env: name the environment variable that holds it"
    )]
    NoSearchKey,
}

impl Settings {
    /// Reads the settings; `env` gives the value of an environment variable.
    ///
    /// # Errors
    ///
    /// If something that is set can't be used; never for what is not set.
    pub fn read(overrides: &Overrides, env: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let env = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let named = overrides
            .file
            .clone()
            .or_else(|| env("PARLOR_CONFIG").map(PathBuf::from));
        let mut settings = match &named {
            Some(path) => Self::from_file(path)?,
            None if Path::new(DEFAULT_FILE).is_file() => Self::from_file(Path::new(DEFAULT_FILE))?,
            None => Self::default(),
        };
        if let Some(value) = env("PARLOR_ADDR") {
            settings.server.addr = value.parse().map_err(|_| SettingsError::Variable {
                name: "PARLOR_ADDR",
                value,
                expected: "an address and port such as 127.0.0.1:8080",
            })?;
        }
        if let Some(value) = env("PARLOR_DATA") {
            settings.server.data = value.into();
        }
        if let Some(value) = env("PARLOR_MODEL") {
            settings.models.default = Some(value);
        }
        for endpoint in &mut settings.endpoints {
            endpoint.api_key = endpoint.api_key_env.as_deref().and_then(&env).map(Secret);
        }
        settings
            .endpoints
            .extend(endpoint_from_environment(&settings.endpoints, env));
        settings.tools.read_keys(env);
        for server in &mut settings.mcp {
            server.fill(env);
        }
        settings.server.addr = overrides.addr.unwrap_or(settings.server.addr);
        if let Some(data) = &overrides.data {
            settings.server.data.clone_from(data);
        }
        settings.check()?;
        Ok(settings)
    }

    fn from_file(path: &Path) -> Result<Self, SettingsError> {
        let text = fs::read_to_string(path).map_err(|cause| SettingsError::File {
            path: path.to_owned(),
            cause,
        })?;
        toml::from_str(&text).map_err(|cause| SettingsError::Syntax {
            path: path.to_owned(),
            cause: Box::new(cause),
        })
    }

    fn check(&self) -> Result<(), SettingsError> {
        if !self.server.addr.ip().is_loopback() {
            return Err(SettingsError::NotLoopback(self.server.addr));
        }
        if let Some(name) = said_twice(self.endpoints.iter().map(|endpoint| &endpoint.name)) {
            return Err(SettingsError::SameName(name.clone()));
        }
        if let Some(name) = said_twice(self.mcp.iter().map(|server| &server.name)) {
            return Err(SettingsError::SameMcpName(name.clone()));
        }
        let names = || self.mcp.iter().map(|server| &server.name);
        for name in names() {
            let begins = |other: &&String| {
                other
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with('_'))
            };
            if let Some(other) = names().find(begins) {
                return Err(SettingsError::NestedMcpNames(name.clone(), other.clone()));
            }
        }
        let spans = [
            ("timeouts.connect_seconds", self.timeouts.connect_seconds),
            ("timeouts.first_token_seconds", self.timeouts.first_token_seconds),
            ("timeouts.silence_seconds", self.timeouts.silence_seconds),
            ("timeouts.run_seconds", self.timeouts.run_seconds),
            ("timeouts.heartbeat_seconds", self.timeouts.heartbeat_seconds),
            ("timeouts.mcp_start_seconds", self.timeouts.mcp_start_seconds),
            ("timeouts.shutdown_seconds", self.timeouts.shutdown_seconds),
            ("timeouts.batch_seconds", self.timeouts.batch_seconds),
            ("timeouts.long_answer_seconds", self.timeouts.long_answer_seconds),
            (
                "tools.fetch_webpage.timeout_seconds",
                self.tools.fetch_webpage.timeout_seconds,
            ),
            ("history.session_gap_hours", self.history.session_gap_hours),
            ("history.summary_seconds", self.history.summary_seconds),
            ("log.trim_seconds", self.log.trim_seconds),
        ];
        if let Some((name, _)) = spans.into_iter().find(|(_, span)| !is_a_span(*span)) {
            return Err(SettingsError::NotASpan(name));
        }
        self.history.check()?;
        self.tools.check()
    }
}

fn said_twice<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut said = BTreeSet::new();
    let mut names = names;
    names.find(|name| !said.insert(*name))
}

/// Whether so many seconds can be waited for: a timer needs a moment at least, and a moment that the clock reaches.
fn is_a_span(seconds: f64) -> bool {
    Duration::try_from_secs_f64(seconds).is_ok_and(|span| !span.is_zero() && span <= LONGEST_SPAN)
}

/// `OPENAI_BASE_URL` and `OPENAI_API_KEY`, as OpenAI's own libraries read them: either is enough.
fn endpoint_from_environment(
    endpoints: &[Endpoint],
    env: impl Fn(&str) -> Option<String>,
) -> Option<Endpoint> {
    const KEY: &str = "OPENAI_API_KEY";
    let (base_url, key) = (env("OPENAI_BASE_URL"), env(KEY));
    if base_url.is_none() && key.is_none() {
        return None;
    }
    // The file names this endpoint itself, perhaps with more to say about it.
    if endpoints
        .iter()
        .any(|endpoint| endpoint.name == ENVIRONMENT_ENDPOINT)
    {
        return None;
    }
    Some(Endpoint {
        name: ENVIRONMENT_ENDPOINT.into(),
        base_url: base_url.unwrap_or_else(|| "https://api.openai.com/v1".into()),
        api_key_env: Some(KEY.into()),
        api_key: key.map(Secret),
        headers: BTreeMap::new(),
        context_window: None,
        context_windows: BTreeMap::new(),
        dialect: Dialect::default(),
    })
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
