//! One server: connected whenever that is possible, and which tools it has.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::Connection,
    http,
    stdio::Stdio,
    tool::{Listed, ServerTool},
};
use crate::{
    secrets::Secrets,
    settings::{McpServer, mcp::Reached},
    tools::AnyTool,
};

/// How long a server may take to introduce itself and to list its tools: npx may have to download it first.
pub const CONNECTING: Duration = Duration::from_secs(60);

/// How long a call waits for a server that is being connected.
const AWAITED: Duration = Duration::from_secs(10);

/// How soon it is tried again after the first failure; twice as long after each further one, up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A connection that has lasted for so long was not a failure.
const STABLE: Duration = Duration::from_secs(30);

/// A server changes its tools no more often than it is worth.
const LISTED_EVERY: Duration = Duration::from_secs(1);

/// A server of the settings.
pub struct Server {
    pub settings: McpServer,
    hidden: Hidden,
    state: watch::Sender<State>,
    /// As they were listed last. They stay while a lost connection is made again, if that works at once.
    tools: RwLock<Vec<Arc<Listed>>>,
}

/// Where it stands with a server.
#[derive(Clone)]
enum State {
    /// It is being connected for the first time.
    Starting,
    Connected(Arc<Connection>),
    /// It is being connected. Until now this was in the way.
    Awaited(String),
    /// Parlor has let it go.
    Stopped,
}

impl Server {
    pub fn new(settings: McpServer, secrets: Arc<Secrets>) -> Self {
        Self {
            hidden: Hidden::new(&settings, secrets),
            settings,
            state: watch::Sender::new(State::Starting),
            tools: RwLock::default(),
        }
    }

    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn AnyTool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let here = |tool: &Arc<Listed>| ServerTool {
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
        let decided = state.wait_for(|state| !matches!(state, State::Starting | State::Awaited(_)));
        // If it takes too long, what it is now says why.
        let _ = timeout(AWAITED, decided).await;
        let name = &self.settings.name;
        match &*state.borrow() {
            State::Connected(connection) => Ok(connection.clone()),
            State::Starting => Err(format!(
                "The server “{name}” can't be reached: it has not answered yet."
            )),
            State::Awaited(why) => Err(format!("The server “{name}” can't be reached: {why}.")),
            State::Stopped => Err(format!(
                "The server “{name}” can't be reached: Parlor is stopping."
            )),
        }
    }

    /// Ready when it has listed its tools for the first time, or has failed to.
    pub async fn settled(&self) {
        let mut state = self.state.subscribe();
        // It is not gone while this is asked.
        let _ = state.wait_for(|state| !matches!(state, State::Starting)).await;
    }

    /// What a server has said, or an error, as it may be shown.
    pub fn shown(&self, what: impl ToString) -> String {
        self.hidden.out_of(&what.to_string(), false)
    }

    /// Connects, and again when the connection is lost, until it is stopped.
    pub async fn keep_connected(self: Arc<Self>, stop: CancellationToken) {
        stop.run_until_cancelled(self.connect_again_and_again()).await;
        self.set_tools(Vec::new());
        let last = self.state.send_replace(State::Stopped);
        if let State::Connected(connection) = last {
            connection.close().await;
        }
    }

    async fn connect_again_and_again(self: &Arc<Self>) {
        let mut wait = FIRST_WAIT;
        loop {
            let began = Instant::now();
            let why = match self.connect().await {
                Ok(connection) => self.serve(Arc::new(connection)).await,
                Err(why) => {
                    self.set_tools(Vec::new());
                    why
                }
            };
            if began.elapsed() > STABLE {
                wait = FIRST_WAIT;
            }
            tracing::warn!(server = self.settings.name, "{why}; trying again in {wait:?}");
            self.is_now(State::Awaited(why));
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn connect(self: &Arc<Self>) -> Result<Connection, String> {
        let connecting = async {
            let connection = match &self.settings.reached {
                Reached::Command { command, args, env } => {
                    let run = Stdio::run(command, args, env, self.hidden.clone());
                    let transport = run.map_err(|error| format!("{command} can't be run: {error}"))?;
                    Connection::open(transport).await?
                }
                Reached::Url { url, headers } => Connection::open(http::transport(url, headers)?).await?,
            };
            self.list(&connection).await?;
            let tools = self.tools().len();
            tracing::info!(server = self.settings.name, tools, "has listed its tools");
            Ok(connection)
        };
        let connected = timeout(CONNECTING, connecting).await;
        let late = |_| Err(format!("it has not introduced itself within {CONNECTING:?}"));
        connected
            .unwrap_or_else(late)
            .map_err(|why: String| self.shown(why))
    }

    /// Until the connection is lost, which gives why.
    async fn serve(self: &Arc<Self>, connection: Arc<Connection>) -> String {
        self.is_now(State::Connected(connection.clone()));
        let why = tokio::select! {
            () = connection.lost() => "the connection is lost".into(),
            why = self.follow_changes(&connection) => why,
        };
        self.is_now(State::Awaited(why.clone()));
        connection.close().await;
        why
    }

    /// Lists the tools again whenever they change. Returns when that fails.
    async fn follow_changes(self: &Arc<Self>, connection: &Connection) -> String {
        loop {
            connection.changed().await;
            match timeout(CONNECTING, self.list(connection)).await {
                Ok(Ok(())) => {}
                Ok(Err(why)) => return self.shown(why),
                Err(_) => return "it does not list its tools".into(),
            }
            sleep(LISTED_EVERY).await;
        }
    }

    async fn list(self: &Arc<Self>, connection: &Connection) -> Result<(), String> {
        let listed = connection.tools().await?;
        self.set_tools(Listed::all(self, listed));
        Ok(())
    }

    fn is_now(&self, state: State) {
        self.state.send_replace(state);
    }

    fn set_tools(&self, tools: Vec<Arc<Listed>>) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }
}

/// Takes out of a server's words what must not be shown, and says whose words they are.
#[derive(Clone)]
pub struct Hidden {
    server: Arc<str>,
    /// The server's whole address, if there is more in it than where it leads.
    address: Option<Arc<str>>,
    secrets: Arc<Secrets>,
}

/// The longest error that is shown, in bytes.
const SHOWN: usize = 1000;

impl Hidden {
    fn new(settings: &McpServer, secrets: Arc<Secrets>) -> Self {
        let address = match &settings.reached {
            Reached::Url { url, .. } if url.contains(['@', '?']) => Some(url.as_str().into()),
            _ => None,
        };
        Self {
            server: settings.name.as_str().into(),
            address,
            secrets,
        }
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    /// How much of a text beyond what is shown has to be known.
    pub fn margin(&self) -> usize {
        self.secrets.margin()
    }

    /// The beginning of a text, as long as an error is shown. `more` if it went on beyond what is here.
    pub fn out_of(&self, text: &str, more: bool) -> String {
        let text = match &self.address {
            Some(address) => text.replace(&**address, "•••"),
            None => text.to_owned(),
        };
        self.secrets.hide_within(&text, SHOWN, more).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn no_secret_of_any_setting_is_in_a_servers_words() {
        let file = r#"
            [[endpoints]]
            name = "e"
            base_url = "http://127.0.0.1:1/v1"
            headers = { Authorization = "Bearer others-0123" }

            [[mcp]]
            name = "x"
            url = "http://x/mcp?key=abc"
            headers = { authorization = "Bearer hush/hush", short = "no" }

            [[mcp]]
            name = "y"
            command = "run"
            args = ["--token", "arg-secret-1", "0123abcd4567efgh"]
            env = { API_KEY = "of the environment" }
        "#;
        let settings: Settings = toml::from_str(file).unwrap();
        let secrets = Arc::new(Secrets::of(&settings));
        let server = Server::new(settings.mcp[0].clone(), secrets);
        let said = "no answer to Bearer hush/hush at http://x/mcp?key=abc, hush%2Fhush, hush\\/hush, arg-secret-1, \
                    0123abcd4567efgh, others-0123, of+the+environment";
        assert_eq!(
            server.shown(said),
            "no answer to ••• at •••, •••, •••, •••, •••, •••, •••"
        );
        assert_eq!(server.shown("é".repeat(SHOWN)).len(), SHOWN);
    }
}
