//! The real binary as a process: killed, stopped and restarted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test may panic, print and use its own client"
)]

mod accounts;
mod backup;
#[cfg(target_os = "linux")]
mod bombs;
mod canary;
mod client;
#[cfg(target_os = "linux")]
mod clock;
mod damage;
mod endpoints;
mod failpoints;
mod files;
mod hand_over;
mod jobs;
mod json_log;
mod kill;
mod nodes;
mod projects;
mod provider_kinds;
mod python;
mod queue;
#[cfg(target_os = "linux")]
mod read_only;
mod resumption;
mod schedules;
mod shutdown;
#[cfg(target_os = "linux")]
mod ssrf;
mod start;
mod statements;
mod titles;
#[cfg(target_os = "linux")]
mod write_faults;

use std::{os::unix::process::ExitStatusExt, path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    sync::watch,
    time::timeout,
};
use upstream::Upstream;

/// The timeout of a wait in a test. It is generous: a machine may be busy.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings file of a server whose test has none of its own.
const DEFAULT_SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/settings.toml");

/// The end of a settings file that switches titles off: their calls would come at any time.
const WITHOUT_TITLES: &str = "\n[titles]\nmode = 'never'\n";

/// A running `parlor serve`.
struct Server {
    child: Child,
    url: String,
    /// Its output after the line with its URL.
    output: Lines<BufReader<ChildStdout>>,
    /// The lines of its log so far.
    log: watch::Receiver<Vec<String>>,
}

impl Server {
    /// Starts it on a free port.
    async fn start(data: &Path, upstream: &Upstream) -> Self {
        Self::start_at(data, upstream, "127.0.0.1:0").await
    }

    async fn start_at(data: &Path, upstream: &Upstream, addr: &str) -> Self {
        Self::run(&mut Self::command(data, upstream, addr)).await
    }

    /// Returns the command that starts it.
    fn command(data: &Path, upstream: &Upstream, addr: &str) -> Command {
        let mut command = Self::command_in(data, upstream, addr);
        command.arg("--data").arg(data);
        command
    }

    /// Returns the command that starts it in a folder, without a data folder.
    fn command_in(folder: &Path, upstream: &Upstream, addr: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
        // A developer's own settings are not for tests.
        let settings = Some(folder.join("Leptos.toml")).filter(|file| file.exists());
        command
            .args(["serve", "--addr", addr])
            .current_dir(folder)
            .env("OPENAI_BASE_URL", upstream.url())
            .env("OPENAI_API_KEY", "none")
            // A developer's keys are not for tests.
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("GEMINI_API_KEY")
            .env(
                "PARLOR_CONFIG",
                settings.as_deref().unwrap_or(DEFAULT_SETTINGS.as_ref()),
            )
            .env("PARLOR_LOG", "error")
            .kill_on_drop(true);
        command
    }

    /// Starts it with a failpoint, at which it will crash.
    async fn start_with_failpoint(data: &Path, upstream: &Upstream, point: &str) -> Self {
        Self::run(&mut Self::failpoint_command(data, upstream, point)).await
    }

    /// Starts it with a failpoint, at which it crashes before it is ready.
    async fn crash_at_start(data: &Path, upstream: &Upstream, point: &str) {
        let mut command = Self::failpoint_command(data, upstream, point);
        let child = command.stdout(Stdio::null()).spawn();
        expect_abort(&mut child.expect("the server starts")).await;
    }

    fn failpoint_command(data: &Path, upstream: &Upstream, point: &str) -> Command {
        let mut command = Self::command(data, upstream, "127.0.0.1:0");
        command.env("FAILPOINTS", format!("{point}=return"));
        command
    }

    /// Waits until it has crashed at its failpoint.
    async fn expect_crash(mut self) {
        expect_abort(&mut self.child).await;
    }

    /// Starts it with a command, and waits until it is ready.
    async fn run(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let log = follow_log(&mut child);
        Self::when_ready(child, log).await
    }

    /// Waits until a started server is ready.
    async fn when_ready(mut child: Child, log: watch::Receiver<Vec<String>>) -> Self {
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let line = timeout(TEST_TIMEOUT, lines.next_line())
            .await
            .expect("it is ready in time");
        let line = line.expect("its output").expect("it has not ended");
        let (_, url) = line.split_once("ready at ").expect("its URL");
        Self {
            child,
            url: url.to_owned(),
            output: lines,
            log,
        }
    }

    /// Waits until its log has a line with this text after a number of lines.
    async fn wait_for_log_line(&self, lines: usize, words: &str) {
        let said = |log: &Vec<String>| log.iter().skip(lines).any(|line| line.contains(words));
        let mut log = self.log.clone();
        let said = timeout(TEST_TIMEOUT, log.wait_for(said)).await;
        assert!(said.is_ok_and(|said| said.is_ok()), "{:?}", self.log.borrow());
    }

    /// Kills it, as a power cut would.
    async fn kill(mut self) {
        self.child.kill().await.expect("the kill succeeds");
    }

    /// Sends it SIGTERM, as a service manager would.
    async fn terminate(&self) {
        let pid = self.child.id().expect("it runs").to_string();
        // Neither std nor tokio can send signals.
        let sent = Command::new("kill").args(["-TERM", &pid]).status().await;
        assert!(sent.expect("kill").success());
    }
}

/// Waits until a process has aborted, as a server does at its failpoint.
async fn expect_abort(child: &mut Child) {
    const SIGABRT: i32 = 6;
    let status = timeout(TEST_TIMEOUT, child.wait())
        .await
        .expect("it ends")
        .expect("its status");
    assert_eq!(status.signal(), Some(SIGABRT), "{status}");
}

/// Returns a command that finally runs another one.
fn chain_commands(mut command: Command, other: &Command) -> Command {
    let other = other.as_std();
    command.arg(other.get_program()).args(other.get_args());
    for (name, value) in other.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
        .current_dir(other.get_current_dir().expect("a folder"))
        .kill_on_drop(true);
    command
}

/// Reads a process's log, and prints it to the output of the test.
fn follow_log(child: &mut Child) -> watch::Receiver<Vec<String>> {
    let (says, log) = watch::channel(Vec::new());
    let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines();
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            eprintln!("{line}");
            says.send_modify(|said: &mut Vec<String>| said.push(line));
        }
    });
    log
}
