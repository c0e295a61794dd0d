//! A server that Parlor runs as a process: MCP on its standard streams, one message a line. Its
//! standard error is logged.
//!
//! rmcp's own transport (`TokioChildProcess`, rmcp 3.9, with process-wrap for the process group) was
//! weighed. It drops a response that is too long or can't be read, so that its call waits until its
//! timeout; here such a response fails the call, or ends the connection, at once. It gives the server
//! up to 6 s to exit, as a constant, leaves children behind if the server itself exits in time, and
//! has no time limit for writing to a server that does not read.

use std::{io, process::Stdio as Pipe, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    service::TxJsonRpcMessage,
    transport::Transport,
};
use serde::{Deserialize, de::IgnoredAny};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{MAX_MESSAGE_BYTES, lenient, redactor::ServerRedactor};
use crate::lines::{Line, LineReader};
use parlor_base::settings::mcp::SecretVariables;
use parlor_model::lenient_json;

/// The variables of Parlor's environment that a server inherits. All others may be secret: the
/// settings pass them on by name.
const INHERITED_VARIABLES: [&str; 9] = [
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

/// The time limit for writing a message to a server.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time that a server has to exit after its input is closed, and again after it is terminated.
const EXIT_TIMEOUT: Duration = Duration::from_millis(400);

/// Maximum number of bytes logged of a line on standard error.
const MAX_LOG_LINE_BYTES: usize = 1000;

/// A running server. Its whole process group is killed when this is dropped.
pub struct StdioTransport {
    child: Child,
    group: ProcessGroup,
    /// `None` once the server is asked to exit.
    input: Arc<Mutex<Option<ChildStdin>>>,
    output: LineReader<ChildStdout>,
    /// True if the process has exited; its children may keep its output open.
    has_ended: bool,
    /// True if the server has sent a line that is not a message.
    has_sent_invalid: bool,
    redactor: ServerRedactor,
    /// Signals the end to the task that reads standard error.
    _gone: DropGuard,
}

impl StdioTransport {
    /// Starts a server.
    pub fn spawn(
        command: &str,
        args: &[String],
        env: &SecretVariables,
        redactor: ServerRedactor,
    ) -> io::Result<Self> {
        let inherited = INHERITED_VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut command = Command::new(command);
        command
            .args(args)
            .env_clear()
            .envs(inherited)
            .envs(env.values.iter().map(|(name, value)| (name, &value.0)))
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .kill_on_drop(true);
        // Its children end with it, and Ctrl-C in a terminal reaches only Parlor, which then stops
        // the server.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = ProcessGroup::from_leader(&child);
        let missing = || io::Error::other("it has no standard streams");
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or_else(missing)?);
        let gone = CancellationToken::new();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(forward_stderr(errors, gone.clone(), redactor.clone()));
        }
        Ok(Self {
            child,
            group,
            input: Arc::new(Mutex::new(input)),
            output: LineReader::new(output, MAX_MESSAGE_BYTES),
            has_ended: false,
            has_sent_invalid: false,
            redactor,
            _gone: gone.drop_guard(),
        })
    }

    /// Parses a line of output as a message; `None` if it is invalid. The first invalid line is logged.
    fn parse_line(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let message = parse_message(&String::from_utf8_lossy(line));
        if message.is_none() && !self.has_sent_invalid && !line.trim_ascii().is_empty() {
            self.has_sent_invalid = true;
            self.redactor
                .log()
                .warn("wrote an invalid message, which was ignored");
        }
        message
    }

    async fn has_exited(&mut self) -> bool {
        timeout(EXIT_TIMEOUT, self.child.wait()).await.is_ok()
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = self.input.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let Some(open) = input.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            let written = async {
                open.write_all(&line).await?;
                open.flush().await
            };
            if let Ok(Ok(())) = timeout(WRITE_TIMEOUT, written).await {
                return Ok(());
            }
            // A part of the message may have been written: nothing can follow it.
            *input = None;
            Err(io::Error::other("it does not read what it is sent"))
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = if self.has_ended {
                timeout(EXIT_TIMEOUT, self.output.next())
                    .await
                    .unwrap_or(Ok(None))
            } else {
                tokio::select! {
                    biased;
                    line = self.output.next() => line,
                    _ = self.child.wait() => {
                        self.has_ended = true;
                        continue;
                    }
                }
            };
            match line {
                Ok(Some(Line::Whole(line))) => {
                    if let Some(message) = self.parse_line(&line) {
                        return Some(message);
                    }
                }
                Ok(Some(Line::Truncated(_))) => {
                    let log = self.redactor.log();
                    log.warn(&format!("sent a message of more than {MAX_MESSAGE_BYTES} bytes"));
                    return None;
                }
                Ok(None) => return None,
                Err(error) => {
                    self.redactor.log().warn(&format!("can't be read: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Otherwise the lock is held by a write to a server that does not read.
        if let Ok(mut input) = self.input.try_lock() {
            *input = None;
        }
        if !self.has_exited().await {
            self.group.end();
            self.has_exited().await;
        }
        // Its children may still be running.
        self.group.kill();
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// Parses a message. A response that can't be read becomes an error, so that its call does not wait
/// forever.
fn parse_message(line: &str) -> Option<ServerJsonRpcMessage> {
    #[derive(Deserialize)]
    struct Response {
        id: RequestId,
        method: Option<IgnoredAny>,
    }
    if let Ok(message) = lenient::parse(line) {
        return Some(message);
    }
    let response: Response = lenient_json::parse(line).ok()?;
    let error = ErrorData::internal_error("The response can't be read.", None);
    response
        .method
        .is_none()
        .then(|| JsonRpcMessage::error(error, Some(response.id)))
}

/// A process and its children.
struct ProcessGroup(#[cfg(unix)] Option<rustix::process::Pid>);

#[cfg(unix)]
impl ProcessGroup {
    fn from_leader(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Sends the signal to terminate.
    fn end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Kills the group, at most once: later the id may belong to another process.
    fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
        self.0 = None;
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(id) = self.0 {
            // The processes may have exited.
            let _ = rustix::process::kill_process_group(id, signal);
        }
    }
}

/// The group on other systems than Unix: only the process itself is killed, when it is dropped.
#[cfg(not(unix))]
impl ProcessGroup {
    fn from_leader(_: &Child) -> Self {
        Self()
    }

    fn end(&self) {}

    fn kill(&mut self) {}
}

/// Logs a server's standard error, and continues briefly after its end, since the last lines may
/// give the reason.
async fn forward_stderr(errors: ChildStderr, gone: CancellationToken, redactor: ServerRedactor) {
    let listen = async {
        let mut lines = LineReader::new(errors, MAX_LOG_LINE_BYTES + redactor.redaction_margin());
        while let Ok(Some(line)) = lines.next().await {
            let (line, more) = match line {
                Line::Whole(line) => (line, false),
                Line::Truncated(line) => (line, true),
            };
            redactor
                .log()
                .forward(&redactor.redact_excerpt(&String::from_utf8_lossy(&line), more));
        }
    };
    tokio::select! {
        () = listen => {}
        () = async { gone.cancelled().await; sleep(EXIT_TIMEOUT).await } => {}
    }
}
