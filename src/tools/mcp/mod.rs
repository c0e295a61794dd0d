//! MCP servers: tools that others have made. Parlor runs them or asks them over HTTP, as the settings say, and offers what they
//! list among its own tools.
//!
//! One task a server connects, lists, and connects again when the connection is lost. Nothing waits for it, and nothing that a
//! server does or leaves undone harms more than the calls that it was given. The protocol is rmcp's. Here is what it is spoken
//! through ([`stdio`], [`http`]), when ([`server`], [`connection`]), and what becomes of it ([`listed`], [`tool`], [`result`]).

mod client;
mod connection;
mod http;
mod legacy;
mod lines;
mod listed;
mod log;
mod redactor;
mod result;
mod server;
mod stdio;
mod tool;

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, join_all};
use tokio::{sync::Mutex, task::JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::server::Server;
use super::{AnyTool, ToolSource};
use crate::{protocol::RunError, secrets::Secrets, settings::McpServer};

/// The largest message of a server: a larger one ends its connection.
const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// All MCP servers. They are let go when this is dropped.
pub struct Servers {
    servers: Vec<Arc<Server>>,
    /// One for each server, for as long as this lives.
    tasks: Mutex<JoinSet<()>>,
    stop: CancellationToken,
    _stops: DropGuard,
}

impl Servers {
    /// Begins to connect, and returns at once.
    ///
    /// None of these secrets will be in what is said of a server.
    pub fn start(settings: &[McpServer], secrets: &Arc<Secrets>) -> Self {
        let stop = CancellationToken::new();
        let servers: Vec<_> = settings
            .iter()
            .map(|settings| Arc::new(Server::new(settings.clone(), secrets.clone())))
            .collect();
        let keep = |server: &Arc<Server>| server.clone().keep_connected(stop.clone());
        Self {
            tasks: Mutex::new(servers.iter().map(keep).collect()),
            servers,
            _stops: stop.clone().drop_guard(),
            stop,
        }
    }

    /// Lets them go, and returns when they have gone.
    pub async fn shut_down(&self) {
        self.stop.cancel();
        let mut tasks = self.tasks.lock().await;
        while tasks.join_next().await.is_some() {}
    }
}

impl ToolSource for Servers {
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        self.servers.iter().flat_map(Server::tools).collect()
    }

    fn wait_until_settled(&self) -> BoxFuture<'_, ()> {
        let servers = self.servers.iter().map(|server| server.wait_until_settled());
        join_all(servers).map(drop).boxed()
    }

    fn problems(&self) -> Vec<RunError> {
        self.servers
            .iter()
            .filter_map(|server| server.problem())
            .collect()
    }
}
