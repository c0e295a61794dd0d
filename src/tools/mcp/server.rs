//! One MCP server: keeps it connected whenever possible, and holds its tools.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use rmcp::model::Tool;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Connection, OpenError, OpenMode},
    http, legacy,
    listed::{self, ListedTool},
    log::ServerLog,
    redactor::ServerRedactor,
    stdio::StdioTransport,
    tool::ServerTool,
};
use crate::{
    control::escape_metadata,
    protocol::RunError,
    secrets::Secrets,
    settings::{McpServer, mcp::McpTransport},
    tools::{AnyTool, Guidance, text::truncate_bytes},
};

/// The time limit for connecting to a server and listing its tools: npx may have to download it
/// first.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// The time that a call waits for a server that is connecting.
const CONNECTION_WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The delay before the first retry; it doubles after each further failure, up to the maximum.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

/// A connection that has lasted this long does not count as a failure.
const STABLE_CONNECTION_AGE: Duration = Duration::from_secs(30);

/// Maximum size of a server's instructions, in bytes: they are part of every prompt.
const MAX_INSTRUCTIONS_BYTES: usize = 4 << 10;

/// The minimum time between two listings of a server's tools.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

/// A configured server.
pub struct Server {
    pub settings: McpServer,
    redactor: ServerRedactor,
    state: watch::Sender<ServerState>,
    /// The last listed tools. They stay while a lost connection is restored, if that succeeds at
    /// once.
    tools: RwLock<Vec<Arc<ListedTool>>>,
    /// The server's instructions for its tools.
    guidance: RwLock<Option<Arc<Guidance>>>,
    /// The server does not support discovery, so it is connected with the handshake from now on.
    wants_handshake: AtomicBool,
    /// Tools that the server lists but does not allow to be called; kept while they are listed and
    /// the connection lasts.
    withdrawn: Mutex<HashSet<String>>,
}

/// The state of a server.
#[derive(Clone)]
enum ServerState {
    /// Connecting for the first time.
    Starting,
    Connected(Arc<Connection>),
    /// Reconnecting, with the reason for the last failure.
    Reconnecting(String),
    /// Stopped by Parlor.
    Stopped,
}

impl Server {
    pub fn new(settings: McpServer, secrets: Arc<Secrets>) -> Self {
        Self {
            redactor: ServerRedactor::new(&settings, secrets),
            settings,
            state: watch::Sender::new(ServerState::Starting),
            tools: RwLock::default(),
            guidance: RwLock::default(),
            wants_handshake: AtomicBool::new(false),
            withdrawn: Mutex::default(),
        }
    }

    pub fn log(&self) -> &ServerLog {
        self.redactor.log()
    }

    pub fn guidance(&self) -> Option<Arc<Guidance>> {
        self.guidance.read().clone()
    }

    /// Returns the reason why its tools are not offered, for a person.
    pub fn problem(&self) -> Option<RunError> {
        let ServerState::Reconnecting(why) = &*self.state.borrow() else {
            return None;
        };
        let name = &self.settings.name;
        Some(RunError {
            code: "mcp_unavailable".into(),
            message: format!("The MCP server “{name}” can't be used: {why}."),
            hint: format!(
                "Its tools are not offered meanwhile. Parlor keeps trying to connect. If that does not help, correct “{name}” under [[mcp]] in \
                 the settings and restart Parlor."
            ),
        })
    }

    /// Stops offering a tool.
    pub fn withdraw(&self, name: &str) {
        let mut withdrawn = self.withdrawn.lock();
        if withdrawn.insert(name.to_owned()) {
            let tool = listed::first_line(name, listed::MAX_TITLE_BYTES);
            self.log().warn(&format!(
                "does not take calls of its tool {tool}: it is not offered any more"
            ));
        }
        let mut tools = self.tools.write();
        tools.retain(|tool| !withdrawn.contains(&tool.name));
    }

    pub fn is_withdrawn(&self, name: &str) -> bool {
        self.withdrawn.lock().contains(name)
    }

    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn AnyTool>> {
        let tools = self.tools.read();
        let server_tool = |tool: &Arc<ListedTool>| ServerTool {
            server: self.clone(),
            tool: tool.clone(),
        };
        tools
            .iter()
            .map(server_tool)
            .map(|tool| Arc::new(tool) as _)
            .collect()
    }

    /// Returns the connection, and waits for it if necessary.
    ///
    /// # Errors
    ///
    /// If there is none within the time limit: the message for the model.
    pub async fn connection(&self) -> Result<Arc<Connection>, String> {
        let mut state = self.state.subscribe();
        let decided =
            state.wait_for(|state| !matches!(state, ServerState::Starting | ServerState::Reconnecting(_)));
        // After a timeout, the present state has the reason.
        let _ = timeout(CONNECTION_WAIT_TIMEOUT, decided).await;
        let name = &self.settings.name;
        match &*state.borrow() {
            ServerState::Connected(connection) => Ok(connection.clone()),
            ServerState::Starting => Err(format!(
                "The server “{name}” can't be reached: it has not answered yet."
            )),
            ServerState::Reconnecting(why) => Err(format!("The server “{name}” can't be reached: {why}.")),
            ServerState::Stopped => Err(format!(
                "The server “{name}” can't be reached: Parlor is stopping."
            )),
        }
    }

    /// Waits until the server has listed its tools for the first time, or has failed to.
    pub async fn wait_until_settled(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as `self`.
        let _ = state
            .wait_for(|state| !matches!(state, ServerState::Starting))
            .await;
    }

    /// Redacts a server's text or an error for display.
    pub fn redact(&self, what: impl ToString) -> String {
        self.redactor.redact_excerpt(&what.to_string(), false)
    }

    /// Connects, and reconnects when the connection is lost, until stopped.
    pub async fn keep_connected(self: Arc<Self>, stop: CancellationToken) {
        stop.run_until_cancelled(self.reconnect_loop()).await;
        self.set_tools(Vec::new());
        let last = self.state.send_replace(ServerState::Stopped);
        if let ServerState::Connected(connection) = last {
            connection.close().await;
        }
    }

    async fn reconnect_loop(self: &Arc<Self>) {
        let mut wait = MIN_RETRY_DELAY;
        loop {
            let began = Instant::now();
            let why = match self.connect().await {
                Ok(connection) => self.follow_connection(Arc::new(connection)).await,
                Err(why) => {
                    self.set_tools(Vec::new());
                    why
                }
            };
            if began.elapsed() > STABLE_CONNECTION_AGE {
                wait = MIN_RETRY_DELAY;
            }
            self.log().warn(&format!("{why}; trying again in {wait:?}"));
            self.set_state(ServerState::Reconnecting(why));
            sleep(wait).await;
            wait = (wait * 2).min(MAX_RETRY_DELAY);
        }
    }

    async fn connect(self: &Arc<Self>) -> Result<Connection, String> {
        let connecting = async {
            let connection = self.open().await?;
            let instructions = connection.instructions().unwrap_or_default();
            let guidance = self.make_guidance(&instructions).map(Arc::new);
            *self.guidance.write() = guidance;
            self.withdrawn.lock().clear();
            self.refresh_tools(&connection).await?;
            self.log()
                .info(&format!("has listed its tools ({})", self.tools().len()));
            Ok(connection)
        };
        let connected = timeout(CONNECT_TIMEOUT, connecting).await;
        let late = |_| Err(format!("it has not introduced itself within {CONNECT_TIMEOUT:?}"));
        connected
            .unwrap_or_else(late)
            .map_err(|why: String| self.redact(why))
    }

    /// Opens a connection, with the handshake if the server does not support discovery.
    async fn open(&self) -> Result<Connection, String> {
        if !self.wants_handshake.load(Relaxed) {
            match self.open_with(OpenMode::DiscoverOrHandshake).await {
                Ok(connection) => return Ok(connection),
                Err(error) if !error.is_odd_discovery => return Err(self.explain_failure(error).await),
                Err(error) => {
                    let is_its_own = error.status.is_none_or(is_unknown);
                    self.wants_handshake.store(is_its_own, Relaxed);
                }
            }
        }
        match self.open_with(OpenMode::HandshakeOnly).await {
            Ok(connection) => Ok(connection),
            Err(error) => {
                self.wants_handshake.store(false, Relaxed);
                Err(self.explain_failure(error).await)
            }
        }
    }

    async fn open_with(&self, opening: OpenMode) -> Result<Connection, OpenError> {
        let unusable = |why| OpenError {
            message: why,
            is_odd_discovery: false,
            status: None,
        };
        match &self.settings.transport {
            McpTransport::Command { command, args, env } => {
                let run = StdioTransport::spawn(command, args, env, self.redactor.clone());
                let transport = run.map_err(|error| unusable(format!("{command} can't be run: {error}")))?;
                Connection::open(transport, opening).await
            }
            McpTransport::Url { url, headers } => {
                let transport = http::transport(url, headers).map_err(unusable)?;
                Connection::open(transport, opening).await
            }
        }
    }

    /// Returns the reason for a failed connection, as a clearer message where possible.
    async fn explain_failure(&self, error: OpenError) -> String {
        match &self.settings.transport {
            McpTransport::Url { url, headers }
                if error.status.is_some_and(is_unknown) && legacy::is_legacy(url, headers).await =>
            {
                legacy::LEGACY_TRANSPORT_ERROR.into()
            }
            McpTransport::Url { .. } | McpTransport::Command { .. } => error.message,
        }
    }

    /// Converts a server's instructions for the model.
    fn make_guidance(&self, instructions: &str) -> Option<Guidance> {
        // Redacted first: a truncated secret could not be found any more.
        let shown = self.redactor.redact(instructions.trim());
        let text = truncate_bytes(&escape_metadata(&shown), MAX_INSTRUCTIONS_BYTES);
        (!text.is_empty()).then(|| Guidance {
            server: self.settings.name.clone(),
            text,
        })
    }

    /// Follows a connection until it is lost, and returns the reason.
    async fn follow_connection(self: &Arc<Self>, connection: Arc<Connection>) -> String {
        self.set_state(ServerState::Connected(connection.clone()));
        let why = tokio::select! {
            () = connection.wait_until_lost() => "the connection is lost".into(),
            why = self.follow_changes(&connection) => why,
        };
        self.set_state(ServerState::Reconnecting(why.clone()));
        connection.close().await;
        why
    }

    /// Lists the tools again whenever they change. Returns the error when that fails.
    async fn follow_changes(self: &Arc<Self>, connection: &Connection) -> String {
        loop {
            connection.wait_for_tool_change().await;
            match timeout(CONNECT_TIMEOUT, self.refresh_tools(connection)).await {
                Ok(Ok(())) => {}
                Ok(Err(why)) => return self.redact(why),
                Err(_) => return "it does not list its tools".into(),
            }
            sleep(MIN_LIST_INTERVAL).await;
        }
    }

    async fn refresh_tools(self: &Arc<Self>, connection: &Connection) -> Result<(), String> {
        let tools = connection.list_tools().await?;
        self.set_tools(self.listed(tools));
        Ok(())
    }

    /// Returns the tools of a list that can be offered.
    fn listed(&self, tools: Vec<Tool>) -> Vec<Arc<ListedTool>> {
        // A tool that disappears and comes back may be another one.
        self.withdrawn
            .lock()
            .retain(|name| tools.iter().any(|tool| tool.name == *name));
        ListedTool::from_list(self, tools)
    }

    fn set_state(&self, state: ServerState) {
        self.state.send_replace(state);
    }

    fn set_tools(&self, tools: Vec<Arc<ListedTool>>) {
        *self.tools.write() = tools;
    }
}

/// Returns `true` for a status that says that a server does not support the request. Any other
/// status may come from a proxy or be temporary. (Specification 2025-11-25, Transports, Backwards
/// Compatibility)
fn is_unknown(status: u16) -> bool {
    matches!(status, 400 | 404 | 405)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::settings::Settings;

    #[test]
    fn a_withdrawn_tool_that_comes_back_is_offered() {
        let settings: Settings = toml::from_str("[[mcp]]\nname = 'x'\nurl = 'u'").unwrap();
        let server = Server::new(settings.mcp[0].clone(), Arc::default());
        let names = |listed: Value| {
            let listed = server.listed(serde_json::from_value(listed).unwrap());
            listed.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
        };
        let both = json!([{ "name": "a", "inputSchema": {} }, { "name": "b", "inputSchema": {} }]);
        assert_eq!(names(both.clone()), ["a", "b"]);
        server.withdraw("a");
        assert_eq!(names(both.clone()), ["b"]);
        assert_eq!(names(json!([both[1]])), ["b"]);
        assert_eq!(names(both.clone()), ["a", "b"]);
    }
}
