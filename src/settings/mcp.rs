//! MCP servers: where tools come from that Parlor does not have itself. Only the settings name them: one of them is a command
//! that Parlor runs.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Deserialize;

use super::{Secret, read::is_valid_duration, strip_secrets};

/// The longest name of a server. It begins the names of its tools, which have 64 characters.
const MAX_NAME_BYTES: usize = 32;

/// How long a tool may take if nothing else is set.
const DEFAULT_TIMEOUT_SECONDS: f64 = 60.0;

/// A server of tools.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Entry")]
pub struct McpServer {
    /// The first part of its tools' names.
    pub name: String,
    pub reached: McpTransport,
    /// Whether a person is asked before a tool runs. Without it, unless the server says that the tool only reads.
    pub approval: Option<ApprovalPolicy>,
    /// How long one call may take.
    pub timeout: Duration,
    /// Tools that are not offered, by the names that the server gives them.
    pub disabled_tools: Vec<String>,
}

/// How a server is reached.
#[derive(Clone, PartialEq)]
pub enum McpTransport {
    /// By running it: it reads and writes MCP on its standard streams.
    Command {
        command: String,
        args: Vec<String>,
        env: SecretVariables,
    },
    /// Over HTTP ("streamable HTTP").
    Url { url: String, headers: SecretVariables },
}

/// Values by name: some as they stand in the file, some from Parlor's environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecretVariables {
    /// All that are known.
    pub values: BTreeMap<String, Secret>,
    /// Which variable of Parlor's environment each of the others is in.
    pub from_environment: BTreeMap<String, String>,
}

/// Whether a person is asked before a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalPolicy {
    Ask,
    Never,
}

/// What stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, Secret>>,
    env_from: Option<BTreeMap<String, String>>,
    url: Option<String>,
    headers: Option<BTreeMap<String, Secret>>,
    headers_from: Option<BTreeMap<String, String>>,
    approval: Option<ApprovalPolicy>,
    timeout_seconds: Option<f64>,
    #[serde(default)]
    disabled_tools: Vec<String>,
}

impl TryFrom<Entry> for McpServer {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, String> {
        let name = entry.name;
        let is_fit = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_fit) {
            return Err(format!(
                "an MCP server can't have the name “{name}”: use up to {MAX_NAME_BYTES} of a-z, 0-9, _ and -"
            ));
        }
        let is_run = entry.args.is_some() || entry.env.is_some() || entry.env_from.is_some();
        let is_asked = entry.headers.is_some() || entry.headers_from.is_some();
        let reached = match (entry.command, entry.url) {
            (Some(command), None) if !is_asked => McpTransport::Command {
                command,
                args: entry.args.unwrap_or_default(),
                env: SecretVariables::new(entry.env, entry.env_from),
            },
            (None, Some(url)) if !is_run => McpTransport::Url {
                url,
                headers: SecretVariables::new(entry.headers, entry.headers_from),
            },
            _ => {
                return Err(format!(
                    "the MCP server “{name}” needs either command (with args, env and env_from) or url (with headers and \
                     headers_from)"
                ));
            }
        };
        let seconds = entry.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS);
        if !is_valid_duration(seconds) {
            return Err(format!(
                "timeout_seconds of the MCP server “{name}” must be a number of seconds above 0"
            ));
        }
        Ok(Self {
            name,
            reached,
            approval: entry.approval,
            timeout: Duration::from_secs_f64(seconds),
            disabled_tools: entry.disabled_tools,
        })
    }
}

impl McpServer {
    /// Reads from the environment what the file leaves to it.
    pub(super) fn read_environment(&mut self, env: impl Fn(&str) -> Option<String>) {
        let variables = self.variables_mut();
        for (name, variable) in &variables.from_environment {
            match env(variable) {
                Some(value) => {
                    variables.values.insert(name.clone(), Secret(value));
                }
                None => tracing::warn!(
                    variable,
                    "an MCP server is to be given a variable that is not set"
                ),
            }
        }
    }

    /// What it is given that must not be printed.
    pub fn variables(&self) -> &SecretVariables {
        match &self.reached {
            McpTransport::Command { env, .. } => env,
            McpTransport::Url { headers, .. } => headers,
        }
    }

    fn variables_mut(&mut self) -> &mut SecretVariables {
        match &mut self.reached {
            McpTransport::Command { env, .. } => env,
            McpTransport::Url { headers, .. } => headers,
        }
    }
}

impl SecretVariables {
    fn new(values: Option<BTreeMap<String, Secret>>, from: Option<BTreeMap<String, String>>) -> Self {
        Self {
            values: values.unwrap_or_default(),
            from_environment: from.unwrap_or_default(),
        }
    }
}

/// An address or an argument may hold a password.
impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, args, env } => f
                .debug_struct("Command")
                .field("command", command)
                .field("args", &args.len())
                .field("env", env)
                .finish(),
            Self::Url { url, headers } => f
                .debug_struct("Url")
                .field("url", &strip_secrets(url))
                .field("headers", headers)
                .finish(),
        }
    }
}
