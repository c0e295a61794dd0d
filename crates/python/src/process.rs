//! The helper process of a session, as the server sees it.

use std::{io, path::PathBuf, process::Stdio, time::Duration};

use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use super::{
    share::MemoryGauge,
    wire::{KernelPlan, Report, Request},
};
use parlor_base::{
    own_program::SMALL_RESERVE,
    settings::PythonSettings,
    text::{single_line, terminal::plain_text},
};
use parlor_tools::lines::{Line, LineReader};

/// The longest wait for the end of a helper.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum length of the reason for an end, in characters. The kernel may have written it.
const MAX_CAUSE_CHARS: usize = 300;

/// The names of the subcommands: the helper, and the two processes that begin a session under Landlock.
pub const SUBCOMMAND: &str = "run-python";
pub const KEEPER_SUBCOMMAND: &str = "keep-python";
pub const CONFINED_SUBCOMMAND: &str = "confine-python";

/// Parlor's own program, also when its file was replaced by an update since the start.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// Returns the program of the subcommands.
pub fn program(settings: &PythonSettings) -> PathBuf {
    match &settings.helper {
        Some(program) => program.clone().into(),
        None => OWN_PROGRAM.into(),
    }
}

/// The helper process. Dropping it kills it, and with it the sandbox.
pub struct HelperProcess {
    process: Child,
    /// Closed to end the session.
    input: Option<ChildStdin>,
    output: LineReader<ChildStdout>,
    memory: MemoryGauge,
}

impl HelperProcess {
    /// Starts the helper with its plan. It reports its memory to the gauge.
    pub async fn start(
        settings: &PythonSettings,
        plan: &KernelPlan,
        memory: MemoryGauge,
    ) -> io::Result<Self> {
        let mut process = Command::new(program(settings))
            .arg(SUBCOMMAND)
            .env_clear()
            .envs([SMALL_RESERVE])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C in a terminal is for the server, which ends its sessions itself.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let no_pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = process.stdin.take().ok_or_else(no_pipe)?;
        let output = process.stdout.take().ok_or_else(no_pipe)?;
        let mut helper = Self {
            process,
            input: Some(input),
            output: LineReader::new(output, plan.limits.line_bytes()),
            memory,
        };
        helper.write(plan).await?;
        Ok(helper)
    }

    /// Sends a request.
    pub async fn send(&mut self, request: &Request) -> io::Result<()> {
        self.write(request).await
    }

    async fn write(&mut self, line: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        match &mut self.input {
            Some(input) => input.write_all(&line).await,
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Lets the helper end its kernel and itself. One that does not is killed when it is dropped.
    pub async fn close(&mut self) {
        drop(self.input.take());
        let _ = timeout(CLOSE_TIMEOUT, self.process.wait()).await;
    }

    /// Returns the next report but those of its memory. Cancelling it loses none.
    pub async fn next(&mut self) -> Report {
        let gone = |cause: String| Report::Gone {
            cause,
            is_by_code: false,
        };
        loop {
            return match self.output.next().await {
                Ok(Some(Line::Whole(line))) => match serde_json::from_slice(&line) {
                    Ok(Report::Memory { bytes }) => {
                        self.memory.set(bytes);
                        continue;
                    }
                    Ok(Report::Gone { cause, is_by_code }) => Report::Gone {
                        cause: single_line(&plain_text(&cause), MAX_CAUSE_CHARS),
                        is_by_code,
                    },
                    Ok(report) => report,
                    Err(error) => gone(format!("its helper process wrote something else: {error}")),
                },
                Ok(Some(Line::Truncated(_))) => gone("its helper process wrote too much".into()),
                Ok(None) => gone("its helper process ended".into()),
                Err(error) => gone(error.to_string()),
            };
        }
    }
}
