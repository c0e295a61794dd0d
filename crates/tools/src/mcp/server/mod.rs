//! One MCP server: its state and its tools. `reconnect` keeps it connected.

mod reconnect;

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
use tokio::{sync::watch, time::timeout};

pub use self::reconnect::CONNECT_TIMEOUT;
use super::{
    connection::McpConnection,
    listed::{self, ListNotes, ListedTool, MAX_TOOLS, join_notes},
    log::ServerLog,
    redactor::ServerRedactor,
    resource::ReadResource,
    tool::ServerTool,
};
use crate::{AnyTool, Guidance};
use parlor_base::{secrets::Secrets, settings::McpServer};
use parlor_protocol::RunError;

/// The time that a call waits for a server that is connecting.
const CONNECTION_WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// A configured server.
pub struct ConfiguredServer {
    pub settings: McpServer,
    redactor: ServerRedactor,
    state: watch::Sender<ServerState>,
    /// The last listed tools. They stay while a lost connection is restored, if that succeeds at
    /// once.
    tools: RwLock<Vec<Arc<ListedTool>>>,
    /// The server's instructions for its tools.
    guidance: RwLock<Option<Arc<Guidance>>>,
    /// True if the next connection begins with the handshake: the server does not support discovery, or did not respond
    /// to it.
    wants_handshake: AtomicBool,
    /// Tools that the server lists but does not allow to be called; kept while they are listed and
    /// the connection lasts.
    withdrawn: Mutex<HashSet<String>>,
    /// The listed tools that can't be offered, with the reasons, for the user.
    unusable: RwLock<Option<String>>,
    /// True if the server has resources, which a tool reads.
    has_resources: AtomicBool,
}

/// The state of a server.
#[derive(Clone)]
enum ServerState {
    /// Connecting for the first time.
    Starting,
    Connected(Arc<McpConnection>),
    /// Reconnecting, with the reason for the last failure.
    Reconnecting(String),
    /// Stopped by Parlor.
    Stopped,
}

/// The reason why a server offers no tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// It has not answered yet.
    Starting,
    Failed(RunError),
}

impl ConfiguredServer {
    pub fn new(settings: McpServer, secrets: Arc<Secrets>) -> Self {
        Self {
            redactor: ServerRedactor::new(&settings, secrets),
            settings,
            state: watch::Sender::new(ServerState::Starting),
            tools: RwLock::default(),
            guidance: RwLock::default(),
            wants_handshake: AtomicBool::new(false),
            withdrawn: Mutex::default(),
            unusable: RwLock::default(),
            has_resources: AtomicBool::new(false),
        }
    }

    pub fn log(&self) -> &ServerLog {
        self.redactor.log()
    }

    pub fn guidance(&self) -> Option<Arc<Guidance>> {
        self.guidance.read().clone()
    }

    /// Returns the reason why its tools are not offered, for the user.
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

    /// Returns the number of the tools that it offers.
    pub fn tool_count(self: &Arc<Self>) -> Result<usize, Unavailable> {
        if let Some(problem) = self.problem() {
            return Err(Unavailable::Failed(problem));
        }
        let is_connected = matches!(&*self.state.borrow(), ServerState::Connected(_));
        match is_connected {
            true => Ok(self.tools().len()),
            false => Err(Unavailable::Starting),
        }
    }

    /// Returns the reasons why some of its tools are not offered, for the user.
    pub fn left_out(&self) -> Option<RunError> {
        let unusable = self.unusable.read().clone()?;
        let name = &self.settings.name;
        Some(RunError {
            code: "mcp_tools_left_out".into(),
            message: format!("Some tools of the MCP server “{name}” can't be offered: {unusable}."),
            hint: "Its other tools work. The definitions have to be corrected in the server.".into(),
        })
    }

    /// Logs what is odd in a list of tools, and keeps it for the user.
    pub fn report_list(&self, notes: &ListNotes) {
        let told = |notes: &[String]| self.redact(join_notes(notes));
        let unusable = (!notes.unusable.is_empty()).then(|| told(&notes.unusable));
        if let Some(unusable) = &unusable {
            self.log()
                .warn(&format!("has tools that can't be offered: {unusable}"));
        }
        if !notes.odd.is_empty() {
            self.log().warn(&format!(
                "has tools with odd definitions, of which the odd parts are ignored: {}",
                told(&notes.odd)
            ));
        }
        if notes.has_too_many {
            self.log()
                .warn(&format!("has more than {MAX_TOOLS} tools; the rest is left out"));
        }
        *self.unusable.write() = unusable;
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
        let listed = tools
            .iter()
            .map(|tool| Arc::new(server_tool(tool)) as Arc<dyn AnyTool>);
        let reader = self.has_resources.load(Relaxed) && !tools.is_empty();
        let reader = reader.then(|| ReadResource::new(self.clone(), &tools)).flatten();
        listed
            .chain(reader.map(|tool| Arc::new(tool) as Arc<dyn AnyTool>))
            .collect()
    }

    /// Returns the connection, and waits for it if necessary.
    ///
    /// # Errors
    ///
    /// If there is none within the time limit: the message for the model.
    pub async fn connection(&self) -> Result<Arc<McpConnection>, String> {
        let mut state = self.state.subscribe();
        let decided =
            state.wait_for(|state| !matches!(state, ServerState::Starting | ServerState::Reconnecting(_)));
        // After a timeout, the present state has the reason.
        let _ = timeout(CONNECTION_WAIT_TIMEOUT, decided).await;
        let name = &self.settings.name;
        match &*state.borrow() {
            ServerState::Connected(connection) => Ok(connection.clone()),
            ServerState::Starting => Err(format!(
                "The server “{name}” can't be reached: it has not responded yet."
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use parlor_base::settings::Settings;

    #[test]
    fn a_withdrawn_tool_that_comes_back_is_offered() {
        let settings: Settings = toml::from_str("[[mcp]]\nname = 'x'\nurl = 'u'").unwrap();
        let server = ConfiguredServer::new(settings.mcp[0].clone(), Arc::default());
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
