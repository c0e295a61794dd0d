//! The measured processes: started with a minimal environment, and ended with this process.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::client::{Client, Error};

const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);

/// A running program of Parlor. Dropping it kills it.
pub struct ServerProcess {
    child: Child,
    pid: u32,
    log: PathBuf,
    /// The URL that it prints.
    pub url: String,
    pub started: Instant,
    /// From its start to the line with its URL.
    pub startup_time: Duration,
}

impl ServerProcess {
    /// Starts a program and waits for its line "… ready at http://…". Its log goes to a file in `folder`.
    pub async fn start(mut command: Command, folder: &Path) -> Result<Self, Error> {
        let name = Path::new(command.as_std().get_program())
            .file_name()
            .unwrap_or_default()
            .to_owned();
        let log = folder.join(&name).with_extension("log");
        let name = name.to_string_lossy();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .kill_on_drop(true);
        let started = Instant::now();
        let mut child = command
            .spawn()
            .map_err(|error| format!("{name} can't be started: {error}"))?;
        let pid = child.id().unwrap_or_default();
        let mut lines = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
        let ready = async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, url)) = line.split_once("ready at ") {
                    return Ok(url.trim().to_owned());
                }
            }
            Err(Error::from("it ended"))
        };
        let ready = timeout(STARTUP_TIMEOUT, ready)
            .await
            .unwrap_or_else(|_| Err("it took too long".into()));
        let ready_after = started.elapsed();
        let mut program = Self {
            child,
            pid,
            log,
            url: String::new(),
            started,
            startup_time: ready_after,
        };
        program.url =
            ready.map_err(|error| format!("{name} did not get ready: {error}\n{}", program.log_tail()))?;
        // It may continue to print.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(program)
    }

    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the end of its log.
    pub fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    /// Ends it with SIGTERM, as a service manager would.
    pub async fn stop(mut self) -> Result<(), Error> {
        // Neither std nor tokio can send signals.
        Command::new("kill")
            .args(["-TERM", &self.pid.to_string()])
            .status()
            .await?;
        if timeout(STARTUP_TIMEOUT, self.child.wait()).await.is_err() {
            self.kill().await?;
        }
        Ok(())
    }

    /// Kills it, as a power cut would.
    pub async fn kill(mut self) -> Result<(), Error> {
        Ok(self.child.kill().await?)
    }
}

/// The settings of the measured server: the answers here repeat themselves.
pub const SETTINGS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../end2end/support/repeating.toml"
);

/// Settings with accounts: a proxy on this machine names the users.
pub const PROXY_SETTINGS: &str = "[server]\nproxies = [\"127.0.0.1\"]\n[accounts]\nauth = \"proxy\"\n\
                                  requests_per_minute = 1000000\n[agent]\nrepetitions = 0\n";

/// The measured programs, and the folder for their files.
pub struct Binaries {
    pub parlor: PathBuf,
    pub start_upstream: PathBuf,
    pub folder: PathBuf,
}

impl Binaries {
    /// Starts the scripted model server.
    pub async fn upstream(&self) -> Result<ServerProcess, Error> {
        ServerProcess::start(Command::new(&self.start_upstream), &self.folder).await
    }

    /// Starts Parlor with its data in a folder of this name.
    pub async fn start_parlor(&self, data: &str, upstream: &ServerProcess) -> Result<ServerProcess, Error> {
        self.start_parlor_with(data, Path::new(SETTINGS), upstream).await
    }

    /// Starts Parlor with these settings, which are written to a file.
    pub async fn start_parlor_with_text(
        &self,
        data: &str,
        upstream: &ServerProcess,
        settings: &str,
    ) -> Result<ServerProcess, Error> {
        let path = self.folder.join(data).with_extension("toml");
        fs::write(&path, settings)?;
        self.start_parlor_with(data, &path, upstream).await
    }

    /// Like [`start_parlor`](Self::start_parlor), with this settings file.
    async fn start_parlor_with(
        &self,
        data: &str,
        settings: &Path,
        upstream: &ServerProcess,
    ) -> Result<ServerProcess, Error> {
        let mut command = Command::new(&self.parlor);
        for (name, _) in std::env::vars_os() {
            let prefixes = ["PARLOR_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "LEPTOS_"];
            let configures = |prefix: &&str| name.to_string_lossy().starts_with(prefix);
            if prefixes.iter().any(configures) {
                command.env_remove(name);
            }
        }
        command
            .args(["serve", "--addr", "127.0.0.1:0", "--data"])
            .arg(self.data_folder(data))
            // Not in the user's folder, which may have settings.
            .current_dir(&self.folder)
            .env("PARLOR_CONFIG", settings)
            .env("OPENAI_BASE_URL", format!("{}/v1", upstream.url))
            .env("OPENAI_API_KEY", "none");
        ServerProcess::start(command, &self.folder).await
    }

    /// Returns the path of a data folder.
    pub fn data_folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}
