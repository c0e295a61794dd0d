//! Keeps a server connected: opens connections, follows them, and opens them again.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{ConfiguredServer, ServerState};
use crate::{
    Guidance,
    mcp::{
        connection::{McpConnection, OpenMode},
        http, legacy,
        open_error::OpenError,
        stdio::StdioTransport,
    },
};
use parlor_base::{settings::mcp::McpTransport, text::truncate_bytes};
use parlor_model::control::escape_metadata;

/// The time limit for connecting to a server and listing its tools: npx may have to download it
/// first.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// The delay before the first retry; it doubles after each further failure, up to the maximum.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

/// A connection that has lasted this long does not count as a failure.
const STABLE_CONNECTION_AGE: Duration = Duration::from_secs(30);

/// Maximum size of a server's instructions, in bytes: they are part of every prompt.
const MAX_INSTRUCTIONS_BYTES: usize = 4 << 10;

/// The minimum time between two listings of a server's tools.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

impl ConfiguredServer {
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

    async fn connect(self: &Arc<Self>) -> Result<McpConnection, String> {
        let connecting = async {
            let connection = self.open().await?;
            let instructions = connection.instructions().unwrap_or_default();
            let guidance = self.make_guidance(&instructions).map(Arc::new);
            *self.guidance.write() = guidance;
            self.withdrawn.lock().clear();
            self.has_resources.store(connection.has_resources(), Relaxed);
            self.refresh_tools(&connection).await?;
            self.log()
                .info(&format!("has listed its tools ({})", self.tools.read().len()));
            Ok(connection)
        };
        let connected = timeout(CONNECT_TIMEOUT, connecting).await;
        let late = |_| Err(format!("it has not introduced itself within {CONNECT_TIMEOUT:?}"));
        connected
            .unwrap_or_else(late)
            .map_err(|why: String| self.redact(why))
    }

    /// Opens a connection, with the handshake if the server does not support discovery.
    ///
    /// The way that works is remembered for the next connection. The time limit may end this at any point; the next
    /// connection then begins with the other way.
    async fn open(&self) -> Result<McpConnection, String> {
        let mut refusal = None;
        if !self.wants_handshake.swap(true, Relaxed) {
            match self.open_with(OpenMode::DiscoverOrHandshake).await {
                Ok(connection) => {
                    self.wants_handshake.store(connection.has_handshake(), Relaxed);
                    return Ok(connection);
                }
                Err(error) if !error.may_lack_discovery => {
                    self.wants_handshake.store(false, Relaxed);
                    return Err(self.explain_failure(error).await);
                }
                Err(error) => {
                    let is_its_own = error.status.is_none_or(is_unknown);
                    self.wants_handshake.store(is_its_own, Relaxed);
                    refusal = Some(error).filter(|error| error.is_refusal);
                }
            }
        }
        let wants_handshake = self.wants_handshake.swap(false, Relaxed);
        match self.open_with(OpenMode::HandshakeOnly).await {
            Ok(connection) => {
                self.wants_handshake.store(wants_handshake, Relaxed);
                Ok(connection)
            }
            // A server that knows no handshake has said before what it lacks.
            Err(error) => Err(self.explain_failure(refusal.unwrap_or(error)).await),
        }
    }

    async fn open_with(&self, opening: OpenMode) -> Result<McpConnection, OpenError> {
        let unusable = |why| OpenError {
            message: why,
            may_lack_discovery: false,
            is_refusal: false,
            status: None,
        };
        match &self.settings.transport {
            McpTransport::Command { command, args, env } => {
                let run = StdioTransport::spawn(command, args, env, self.redactor.clone());
                let transport = run.map_err(|error| unusable(format!("{command} can't be run: {error}")))?;
                McpConnection::open(transport, opening).await
            }
            McpTransport::Url { url, headers } => {
                let transport = http::transport(url, headers).map_err(unusable)?;
                McpConnection::open(transport, opening).await
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
    async fn follow_connection(self: &Arc<Self>, connection: Arc<McpConnection>) -> String {
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
    async fn follow_changes(self: &Arc<Self>, connection: &McpConnection) -> String {
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

    async fn refresh_tools(self: &Arc<Self>, connection: &McpConnection) -> Result<(), String> {
        let tools = connection.list_tools().await?;
        self.set_tools(self.listed(tools));
        Ok(())
    }
}

/// Returns `true` for a status that says that a server does not support the request. Any other
/// status may come from a proxy or be temporary. (Specification 2025-11-25, Transports, Backwards
/// Compatibility)
fn is_unknown(status: u16) -> bool {
    matches!(status, 400 | 404 | 405)
}
