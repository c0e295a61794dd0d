//! One server: connected whenever that is possible, and which tools it has.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

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

/// How long a server may take to introduce itself and to list its tools: npx may have to download it first.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a call waits for a server that is being connected.
const CONNECTION_WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// How soon it is tried again after the first failure; twice as long after each further one, up to the longest.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

/// A connection that has lasted for so long was not a failure.
const STABLE_CONNECTION_AGE: Duration = Duration::from_secs(30);

/// The longest words of a server about using its tools, in bytes: they are in every prompt.
const MAX_INSTRUCTIONS_BYTES: usize = 4 << 10;

/// A server changes its tools no more often than it is worth.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

/// A server of the settings.
pub struct Server {
    pub settings: McpServer,
    redactor: ServerRedactor,
    state: watch::Sender<ServerState>,
    /// As they were listed last. They stay while a lost connection is made again, if that works at once.
    tools: RwLock<Vec<Arc<ListedTool>>>,
    /// Its words about using them.
    guidance: RwLock<Option<Arc<Guidance>>>,
    /// It does not answer the question of newer clients: it is not asked again.
    wants_handshake: AtomicBool,
    /// Tools that it lists and does not let be called, for as long as it lists them and the connection lasts.
    withdrawn: Mutex<HashSet<String>>,
}

/// Where it stands with a server.
#[derive(Clone)]
enum ServerState {
    /// It is being connected for the first time.
    Starting,
    Connected(Arc<Connection>),
    /// It is being connected. Until now this was in the way.
    Reconnecting(String),
    /// Parlor has let it go.
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
        self.guidance
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the reason that its tools are not offered, as a person is told.
    pub fn problem(&self) -> Option<RunError> {
        let ServerState::Reconnecting(why) = &*self.state.borrow() else {
            return None;
        };
        let name = &self.settings.name;
        Some(RunError {
            code: "mcp_unavailable".into(),
            message: format!("The MCP server “{name}” can't be used: {why}."),
            hint: format!(
                "Its tools are not offered meanwhile. Parlor goes on trying; if that does not help, correct “{name}” under [[mcp]] in \
                 the settings and restart Parlor."
            ),
        })
    }

    /// Does not offer a tool any more.
    pub fn withdraw(&self, name: &str) {
        let mut withdrawn = self.withdrawn();
        if withdrawn.insert(name.to_owned()) {
            let tool = listed::first_line(name, listed::MAX_TITLE_BYTES);
            self.log().warn(&format!(
                "does not take calls of its tool {tool}: it is not offered any more"
            ));
        }
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        tools.retain(|tool| !withdrawn.contains(&tool.name));
    }

    pub fn is_withdrawn(&self, name: &str) -> bool {
        self.withdrawn().contains(name)
    }

    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn AnyTool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let here = |tool: &Arc<ListedTool>| ServerTool {
            server: self.clone(),
            tool: tool.clone(),
        };
        tools.iter().map(here).map(|tool| Arc::new(tool) as _).collect()
    }

    /// The connection, as soon as there is one.
    ///
    /// # Errors
    ///
    /// If there is none for a while: what the model is told.
    pub async fn connection(&self) -> Result<Arc<Connection>, String> {
        let mut state = self.state.subscribe();
        let decided =
            state.wait_for(|state| !matches!(state, ServerState::Starting | ServerState::Reconnecting(_)));
        // If it takes too long, what it is now says why.
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

    /// Ready when it has listed its tools for the first time, or has failed to.
    pub async fn wait_until_settled(&self) {
        let mut state = self.state.subscribe();
        // It is not gone while this is asked.
        let _ = state
            .wait_for(|state| !matches!(state, ServerState::Starting))
            .await;
    }

    /// What a server has said, or an error, as it may be shown.
    pub fn redact(&self, what: impl ToString) -> String {
        self.redactor.redact_excerpt(&what.to_string(), false)
    }

    /// Connects, and again when the connection is lost, until it is stopped.
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
            *self.guidance.write().unwrap_or_else(PoisonError::into_inner) = guidance;
            self.withdrawn().clear();
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

    /// Opens a connection, with the handshake if the server answers nothing else.
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
        match &self.settings.reached {
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

    /// Returns the reason that there is no connection, in better words if there are any.
    async fn explain_failure(&self, error: OpenError) -> String {
        match &self.settings.reached {
            McpTransport::Url { url, headers }
                if error.status.is_some_and(is_unknown) && legacy::is_legacy(url, headers).await =>
            {
                legacy::LEGACY_TRANSPORT_ERROR.into()
            }
            McpTransport::Url { .. } | McpTransport::Command { .. } => error.message,
        }
    }

    /// A server's words about using its tools, as the model may be shown them.
    fn make_guidance(&self, instructions: &str) -> Option<Guidance> {
        // Hidden first: a secret that is cut could not be found any more.
        let shown = self.redactor.redact(instructions.trim());
        let text = truncate_bytes(&escape_metadata(&shown), MAX_INSTRUCTIONS_BYTES);
        (!text.is_empty()).then(|| Guidance {
            server: self.settings.name.clone(),
            text,
        })
    }

    /// Until the connection is lost, which gives why.
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

    /// Lists the tools again whenever they change. Returns when that fails.
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
        // What comes back another time may be another tool.
        self.withdrawn()
            .retain(|name| tools.iter().any(|tool| tool.name == *name));
        ListedTool::from_list(self, tools)
    }

    fn withdrawn(&self) -> MutexGuard<'_, HashSet<String>> {
        self.withdrawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_state(&self, state: ServerState) {
        self.state.send_replace(state);
    }

    fn set_tools(&self, tools: Vec<Arc<ListedTool>>) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }
}

/// Tells if a status says that a server does not know what it was asked. Any other may be a proxy's, or be gone the next
/// time. (Specification 2025-11-25, Transports, Backwards Compatibility)
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
