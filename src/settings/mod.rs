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
    allowed_hosts::{AllowedHosts, BadHost},
    dialect::{Dialect, LengthField, ThinkingField},
    history::{History, Metadata},
    literature::Literature,
    mcp::McpServer,
    prompt::{Prompt, PromptLength},
    read::{Overrides, SettingsError},
    tools::{FetchWebpage, Pubmed, SearchProvider, Tools, WebSearch},
};

mod allowed_hosts;
mod dialect;
mod history;
mod listen;
mod literature;
pub mod mcp;
mod prompt;
mod read;
mod tools;

#[cfg(test)]
mod tests;

/// The file that is read if no other is named, and if it is there.
pub const DEFAULT_FILE: &str = "Leptos.toml";

/// The port that is listened on if no other is set: one that no well-known server uses, model servers least of all.
pub const DEFAULT_PORT: u16 = 7387;

/// The name of the endpoint that `OPENAI_BASE_URL` and `OPENAI_API_KEY` make.
pub const ENVIRONMENT_ENDPOINT: &str = "openai";

/// The longest that anything may be set to take: a hundred years, which can be added to any time.
const LONGEST_SPAN: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

/// How many tokens a model can take, as far as that can be believed: no model has less room, nor more. A conversation should not be
/// cut because of a mistake.
pub const WINDOWS: RangeInclusive<usize> = 256..=1_000_000_000;

/// The speeds that can be asked of an upload, in bytes per second.
const UPLOAD_SPEEDS: RangeInclusive<usize> = 1..=1_000_000_000;

/// More often than this a model would ask for tools only because it goes round in circles.
const MOST_ITERATIONS: usize = 1000;

/// A passage that stands in an answer fewer times in a row is nothing unusual.
const MIN_REPETITIONS: usize = 3;

/// More repetitions than this may not fit into what is remembered of an answer.
const MAX_REPETITIONS: usize = 100;

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub server: Server,
    pub models: Models,
    /// Servers of models that speak OpenAI's protocol.
    pub endpoints: Vec<Endpoint>,
    pub agent: Agent,
    pub prompt: Prompt,
    pub history: History,
    pub tools: Tools,
    /// Servers of tools.
    pub mcp: Vec<McpServer>,
    pub literature: Literature,
    pub limits: Limits,
    pub timeouts: Timeouts,
    pub log: Log,
    /// What Leptos has in the same file.
    pub package: IgnoredAny,
}

/// Where Parlor listens and keeps its data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The address to listen on; a name is resolved. Loopback only, until there are accounts. Port 0 takes any free one.
    #[serde(deserialize_with = "listen::deserialize")]
    pub addr: SocketAddr,
    /// The one folder with everything in it.
    pub data: PathBuf,
    /// Names under which a proxy offers Parlor, as browsers show them: `host`, or `host:port`. Compared whole.
    pub allowed_hosts: Vec<String>,
    /// Whether the database is looked through for damage after each start, beside all else.
    pub check_data: bool,
}

/// Which models are offered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    /// The model of a new conversation, as `endpoint/model` or, if only one endpoint lists it, by its name there; without it the
    /// first that is found.
    pub default: Option<String>,
    /// Whether to look for Ollama, llama.cpp and LM Studio on this machine when no endpoint is set.
    pub discover: bool,
    /// Where to look, by name: the base URLs of servers on this machine.
    pub local: BTreeMap<String, String>,
    /// What models cost whose servers don't say so, by their names (as `default`).
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
    /// Whether models that it does not list are refused before it is asked. Some servers know aliases, or take any name.
    #[serde(default = "yes")]
    pub lists_all_models: bool,
    #[serde(default)]
    pub dialect: Dialect,
    /// The system prompt that its models are given.
    #[serde(default)]
    pub prompt: PromptLength,
    /// Whether its models take tools. Without it, what the server says of their templates decides.
    #[serde(default)]
    pub tools: Option<bool>,
}

/// An address may hold a password.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("base_url", &without_secrets(&self.base_url))
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
fn without_secrets(address: &str) -> &str {
    let place = without_password(address);
    place.split(['?', '#']).next().unwrap_or_default()
}

/// What of an address may be shown: the password in it, if there is one, ends with an @.
fn without_password(address: &str) -> &str {
    address.rsplit_once('@').map_or(address, |(_, host)| host)
}

/// How the model is let work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// How many times in one turn the model may ask for tools, at most [`MOST_ITERATIONS`]. Then it has to answer with what there is.
    pub max_iterations: usize,
    /// An answer, or what the model thinks, is ended when the same passage stands in it so many times in a row. 0 means never.
    pub repetitions: usize,
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
    /// The least average speed of a request's body, once it has taken `timeouts.request_body_seconds`.
    pub request_bytes_per_second: usize,
    /// One event of a model's stream.
    pub model_event_bytes: usize,
    /// What one answer may come to, its thinking included.
    pub answer_bytes: usize,
    /// What a model server wants to see again of one call of it and nobody else understands (signatures, encrypted thoughts), in
    /// bytes. What is more is not kept.
    pub opaque_bytes: usize,
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
    /// For the head of a request, from its first byte or from the end of the request before: how long an idle connection lasts.
    pub request_head_seconds: f64,
    /// Between two pieces of a request's body.
    pub request_body_seconds: f64,
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
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            data: "data".into(),
            allowed_hosts: Vec::new(),
            check_data: true,
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
            repetitions: 8,
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
            request_bytes_per_second: 100,
            model_event_bytes: 1 << 20,
            answer_bytes: 8 << 20,
            opaque_bytes: 1 << 20,
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
            request_head_seconds: 30.0,
            request_body_seconds: 30.0,
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

/// Text that must not be printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}
