//! MCP servers: sources of additional tools. Only the settings can name them, because one kind is a command
//! that Parlor runs.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Deserialize;

use super::{Secret, strip_secrets};

/// The maximum length of a server's name. It is the prefix of its tools' names, which have at most 64
/// characters.
const MAX_NAME_BYTES: usize = 32;

/// The default timeout of a tool call.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A server of tools.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RawMcpServer")]
pub struct McpServer {
    /// The prefix of its tools' names.
    pub name: String,
    pub transport: McpTransport,
    /// The approval policy of its tools. If unset, a call needs approval unless the server marks the tool as
    /// read-only.
    pub approval: Option<ApprovalPolicy>,
    /// The timeout of one call.
    pub timeout: Duration,
    /// Tools that are not offered, by the server's names for them.
    pub disabled_tools: Vec<String>,
}

/// The transport to a server.
#[derive(Clone, PartialEq)]
pub enum McpTransport {
    /// A child process that speaks MCP over its standard streams.
    Command {
        command: String,
        args: Vec<String>,
        env: SecretVariables,
    },
    /// Streamable HTTP.
    Url { url: String, headers: SecretVariables },
}

/// Values by name: some from the file, some from Parlor's environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecretVariables {
    /// All known values.
    pub values: BTreeMap<String, Secret>,
    /// The variable in Parlor's environment for each remaining value.
    pub from_environment: BTreeMap<String, String>,
}

/// The approval policy of a server's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalPolicy {
    Ask,
    Never,
}

/// The entry as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMcpServer {
    /// The prefix of its tools' names: up to 32 of a-z, 0-9, _ and -.
    name: String,
    /// The command that Parlor runs.
    command: Option<String>,
    /// The command's arguments.
    args: Option<Vec<String>>,
    /// The command's environment.
    env: Option<BTreeMap<String, Secret>>,
    /// The rest of its environment: the variable of Parlor's environment for each value.
    env_from: Option<BTreeMap<String, String>>,
    /// The URL, instead of a command.
    url: Option<String>,
    /// Headers sent with every request.
    headers: Option<BTreeMap<String, Secret>>,
    /// Further headers: the variable of Parlor's environment for each value.
    headers_from: Option<BTreeMap<String, String>>,
    /// "ask": each call needs approval; "never": none does. If unset, "ask" unless the server marks a tool as
    /// read-only.
    approval: Option<ApprovalPolicy>,
    /// The timeout of one call.
    #[serde(default = "default_timeout", deserialize_with = "super::duration::positive")]
    timeout: Duration,
    /// Tools that are not offered, by the server's names for them.
    #[serde(default)]
    disabled_tools: Vec<String>,
}

fn default_timeout() -> Duration {
    DEFAULT_TIMEOUT
}

impl TryFrom<RawMcpServer> for McpServer {
    type Error = String;

    fn try_from(entry: RawMcpServer) -> Result<Self, String> {
        let name = entry.name;
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_allowed) {
            return Err(format!(
                "an MCP server can't have the name “{name}”: use up to {MAX_NAME_BYTES} of a-z, 0-9, _ and -"
            ));
        }
        let is_run = entry.args.is_some() || entry.env.is_some() || entry.env_from.is_some();
        let is_asked = entry.headers.is_some() || entry.headers_from.is_some();
        let transport = match (entry.command, entry.url) {
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
        Ok(Self {
            name,
            transport,
            approval: entry.approval,
            timeout: entry.timeout,
            disabled_tools: entry.disabled_tools,
        })
    }
}

impl McpServer {
    /// Reads the values that the file leaves to the environment.
    pub(super) fn read_environment(&mut self, env: impl Fn(&str) -> Option<String>) {
        let variables = self.variables_mut();
        for (name, variable) in &variables.from_environment {
            match env(variable) {
                Some(value) => {
                    variables.values.insert(name.clone(), Secret(value));
                }
                None => tracing::warn!(
                    variable,
                    "the variable for an MCP server is not set: the server does not get it"
                ),
            }
        }
    }

    /// Returns the values that must not be printed.
    pub fn variables(&self) -> &SecretVariables {
        match &self.transport {
            McpTransport::Command { env, .. } => env,
            McpTransport::Url { headers, .. } => headers,
        }
    }

    fn variables_mut(&mut self) -> &mut SecretVariables {
        match &mut self.transport {
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

/// Redacts URLs and arguments, which may contain a password.
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
