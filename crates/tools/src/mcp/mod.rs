//! MCP servers: external tools. Parlor runs them as processes or connects over HTTP, as the
//! settings say, and offers the listed tools among its own.
//!
//! One task a server connects, lists the tools, and reconnects when the connection is lost. Nothing
//! waits for it, and a faulty server affects only its own calls. The protocol is implemented by
//! rmcp; here are its transports ([`stdio`], [`http`]), its connections ([`server`],
//! [`connection`]), the lenient reading of what rmcp would refuse ([`lenient`]), and the conversion of tools and results
//! ([`listed`], [`tool`], [`resource`], [`result`]).

mod client;
mod connection;
mod http;
mod legacy;
mod lenient;
mod listed;
mod log;
mod open_error;
mod redactor;
mod resource;
mod result;
mod server;
mod stdio;
mod tool;

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, join_all};
use tokio::{sync::Mutex, task::JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::server::ConfiguredServer;
pub use self::server::Unavailable;
use super::{AnyTool, ToolProvider};
use parlor_base::{secrets::Secrets, settings::McpServer};
use parlor_protocol::RunError;

/// Maximum size of a server's message, in bytes; a larger one ends its connection.
const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// All MCP servers. They are stopped when this is dropped.
pub struct Servers {
    servers: Vec<Arc<ConfiguredServer>>,
    /// One task for each server, for the lifetime of this value.
    tasks: Mutex<JoinSet<()>>,
    stop: CancellationToken,
    _stops: DropGuard,
}

impl Servers {
    /// Starts the servers in the background. `secrets` are redacted in all texts of a server.
    pub fn start(settings: &[McpServer], secrets: &Arc<Secrets>) -> Self {
        let stop = CancellationToken::new();
        let servers: Vec<_> = settings
            .iter()
            .map(|settings| Arc::new(ConfiguredServer::new(settings.clone(), secrets.clone())))
            .collect();
        let keep = |server: &Arc<ConfiguredServer>| server.clone().keep_connected(stop.clone());
        Self {
            tasks: Mutex::new(servers.iter().map(keep).collect()),
            servers,
            _stops: stop.clone().drop_guard(),
            stop,
        }
    }

    /// Returns the names of the servers with the number of tools that each offers, or the reason why it offers none.
    pub fn states(&self) -> Vec<(String, Result<usize, Unavailable>)> {
        let state = |server: &Arc<ConfiguredServer>| (server.settings.name.clone(), server.tool_count());
        self.servers.iter().map(state).collect()
    }

    /// Stops all servers, and returns when they have ended.
    pub async fn shut_down(&self) {
        self.stop.cancel();
        let mut tasks = self.tasks.lock().await;
        while tasks.join_next().await.is_some() {}
    }
}

impl ToolProvider for Servers {
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        self.servers.iter().flat_map(ConfiguredServer::tools).collect()
    }

    fn wait_until_settled(&self) -> BoxFuture<'_, ()> {
        let servers = self.servers.iter().map(|server| server.wait_until_settled());
        join_all(servers).map(drop).boxed()
    }

    fn may_have(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let mut prefixes = self
            .servers
            .iter()
            .map(|server| format!("{}_", server.settings.name));
        prefixes.any(|prefix| name.starts_with(&prefix.to_lowercase()))
    }

    fn problems(&self) -> Vec<RunError> {
        self.servers
            .iter()
            .filter_map(|server| server.problem())
            .collect()
    }

    fn unavailable(&self) -> Vec<RunError> {
        self.servers
            .iter()
            .filter_map(|server| server.left_out())
            .collect()
    }
}
