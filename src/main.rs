//! The `parlor` binary: reads the command line, starts the server, reports errors.

use std::{io::IsTerminal, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use parlor::{
    clock,
    secrets::{Secrets, log},
    server::Server,
    settings::{Overrides, Settings},
};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// The default log filter; `PARLOR_LOG` overrides it.
const DEFAULT_LOG_FILTER: &str = "info";

/// Targets removed from the log. rmcp would log the messages of MCP servers verbatim, and their addresses
/// with keys. `tools::mcp` logs what is relevant of them.
const SILENCED_TARGETS: &str = ",rmcp=off";

/// A self-hosted web chat for LLM agents: one binary, one folder of data, nothing else needed.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start Parlor and print the address to open.
    Serve {
        /// The address to listen on, such as localhost:7387; loopback only [default: 127.0.0.1:7387]. Port 0 takes any free one.
        #[arg(long)]
        addr: Option<String>,
        /// The folder for all data [default: data].
        #[arg(long)]
        data: Option<PathBuf>,
        /// The settings file [default: Leptos.toml, if it exists].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = std::env::var("PARLOR_LOG").unwrap_or_default();
    let filter = if filter.trim().is_empty() {
        DEFAULT_LOG_FILTER.into()
    } else {
        filter
    };
    let filter = EnvFilter::try_new(filter + SILENCED_TARGETS)
        .unwrap_or_else(|_| EnvFilter::new(format!("{DEFAULT_LOG_FILTER}{SILENCED_TARGETS}")));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| log::RedactedStderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let Command::Serve { addr, data, config } = Cli::parse().command;
    raise_open_file_limit();
    // Only test builds have failpoints; there the variable FAILPOINTS names the one at which this process
    // dies.
    let _failpoints = fail::has_failpoints().then(fail::FailScenario::setup);
    match serve(Overrides {
        file: config,
        addr,
        data,
    })
    .await
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the last words of the process")]
            {
                eprintln!("Parlor can't start: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Raises the limit of open files. A streaming conversation takes two sockets, one to the reader and one to
/// the model, and many systems allow only 1,024 files by default.
fn raise_open_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        const WANTED_OPEN_FILES: u64 = 65_536;
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = Some(
            limit
                .maximum
                .map_or(WANTED_OPEN_FILES, |maximum| maximum.min(WANTED_OPEN_FILES)),
        );
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files could not be raised");
        }
    }
}

async fn serve(overrides: Overrides) -> Result<(), Box<dyn std::error::Error>> {
    clock::check()?;
    let settings = Settings::read(&overrides, |name| std::env::var(name).ok())?;
    log::redact_log(Secrets::from_settings(&settings));
    tracing::debug!(?settings);
    let addr = settings.server.addr;
    let data = settings.server.data.display().to_string();
    // Bound before the data is opened: a second Parlor at the same address must not touch it.
    let listener = TcpListener::bind(addr).await.map_err(|error| {
        format!(
            "the address {addr} can't be used: {error}. Choose another one with --addr, such as --addr 127.0.0.1:0 for any free \
             port"
        )
    })?;
    let server = Server::open(settings)
        .await
        .map_err(|error| format!("the data in {data} can't be used: {error}"))?;
    #[expect(clippy::print_stdout, reason = "scripts wait for this line")]
    {
        println!("Parlor is ready at http://{}", listener.local_addr()?);
    }
    server.serve(listener, shutdown_signal()).await?;
    Ok(())
}

/// Waits until the process is asked to stop by Ctrl-C or SIGTERM.
async fn shutdown_signal() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<Option<()>>();
    tokio::select! {
        () = interrupted => {}
        _ = terminated => {}
    }
}
