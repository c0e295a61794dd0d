//! The `parlor` binary: reads the command line, starts the server, reports errors.

use std::{
    io::{self, IsTerminal, Write},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use parlor::{app::accounts::links, server::Server};
use parlor_base::{
    clock,
    secrets::{Secrets, log},
    settings::{DatabaseUrl, Overrides, Settings},
};
use parlor_databases::{RoleRequest, role_sql};
use parlor_files::{DocumentArguments, ImageForm, TablesArguments};
use parlor_storage::{Storage, sqlite::SqliteStorage};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// The default log filter; `PARLOR_LOG` overrides it.
const DEFAULT_LOG_FILTER: &str = "info";

/// Targets removed from the log. rmcp would log the messages of MCP servers verbatim, and their URLs
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
    #[command(flatten)]
    WithLog(CommandWithLog),
    /// Read an image from the standard input. Parlor itself runs this.
    #[command(hide = true)]
    ReadImage {
        max_pixels: u64,
        memory: u64,
        /// Keep its size.
        #[arg(long)]
        whole: bool,
    },
    /// Read a document from the standard input. Parlor itself runs this.
    #[command(hide = true)]
    ReadDocument(DocumentArguments),
    /// Read the tables of a file from the standard input. Parlor itself runs this.
    #[command(hide = true)]
    ReadTables(TablesArguments),
    /// Run a Python session. Parlor itself runs this.
    #[command(hide = true)]
    RunPython,
}

// No doc comment: it would be the text of `--help`.
#[derive(Debug, Subcommand)]
enum CommandWithLog {
    /// Start Parlor and print the URL to open.
    Serve {
        /// The address to listen on, such as localhost:7387; loopback only without accounts [default: 127.0.0.1:7387]. Port 0 takes any free one.
        #[arg(long)]
        addr: Option<String>,
        /// The folder for all data [default: data].
        #[arg(long)]
        data: Option<PathBuf>,
        /// The settings file [default: Leptos.toml, if it exists].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Set up Python for the assistant (docs/python.md).
    #[command(subcommand)]
    Python(PythonCommand),
    /// Help with the databases that the assistant reads (docs/databases.md).
    #[command(subcommand)]
    Database(DatabaseCommand),
    /// Print a link with which a user sets a new password, for an administrator who cannot sign in. Stop Parlor first.
    NewPassword {
        /// The name of the account.
        name: String,
        /// The folder for all data [default: data].
        #[arg(long)]
        data: Option<PathBuf>,
        /// The settings file [default: Leptos.toml, if it exists].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

// No doc comment, as above.
#[derive(Debug, Subcommand)]
enum PythonCommand {
    /// Make a virtual environment in the data folder, with a Jupyter kernel and packages for data.
    Setup {
        /// The Python that makes it.
        #[arg(long, default_value = "python3")]
        python: String,
        /// The folder for all data [default: data].
        #[arg(long)]
        data: Option<PathBuf>,
        /// The settings file [default: Leptos.toml, if it exists].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

// No doc comment, as above.
#[derive(Debug, Subcommand)]
enum DatabaseCommand {
    /// Print the SQL that makes a role of Postgres which can only read. Nothing is contacted.
    Role {
        /// A Postgres of the settings, from whose URL role and database are taken.
        name: Option<String>,
        /// The name of the role [default: that of the URL, or reader].
        #[arg(long)]
        role: Option<String>,
        /// The database of the server [default: that of the URL, or postgres].
        #[arg(long)]
        database: Option<String>,
        /// A schema that it may read; can be repeated.
        #[arg(long = "schema", default_value = "public")]
        schemas: Vec<String>,
        /// For a provider's server, where nobody is a superuser.
        #[arg(long)]
        managed: bool,
        /// The settings file [default: Leptos.toml, if it exists].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        // Before anything else is done: the process has only its limits and the file.
        Command::ReadImage {
            max_pixels,
            memory,
            whole,
        } => {
            let form = if whole {
                ImageForm::Whole
            } else {
                ImageForm::ForModels
            };
            parlor_files::read_image(max_pixels, memory, form)
        }
        Command::ReadDocument(arguments) => parlor_files::read_document(arguments),
        Command::ReadTables(arguments) => parlor_files::read_tables(arguments),
        Command::RunPython => parlor_python::run_helper(),
        Command::WithLog(command) => run_on_runtime(command),
    }
}

fn run_on_runtime(command: CommandWithLog) -> ExitCode {
    parlor::server::return_freed_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .on_thread_start(parlor::http::fill_date_cache)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run_with_log(command)),
        Err(error) => {
            let _ = writeln!(io::stderr(), "Parlor can't start: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run_with_log(command: CommandWithLog) -> ExitCode {
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
        .with_ansi(io::stderr().is_terminal())
        .init();
    match run(command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err((what, error)) => {
            let _ = writeln!(io::stderr(), "{what}: {error}");
            ExitCode::FAILURE
        }
    }
}

type CommandError = Box<dyn std::error::Error>;

/// Runs a command. An error comes with what could not be done.
async fn run(command: CommandWithLog) -> Result<(), (&'static str, CommandError)> {
    match command {
        CommandWithLog::Serve { addr, data, config } => {
            let overrides = Overrides {
                file: config,
                addr,
                data,
            };
            let served = start_and_serve(overrides).await;
            served.map_err(|error| ("Parlor can't start", error))
        }
        CommandWithLog::Python(PythonCommand::Setup { python, data, config }) => {
            let overrides = Overrides {
                file: config,
                addr: None,
                data,
            };
            let made = set_up_python(&overrides, &python).await;
            made.map_err(|error| ("Python can't be set up", error))
        }
        CommandWithLog::Database(command) => {
            let printed = print_role_sql(command);
            printed.map_err(|error| ("Parlor can't print the SQL", error))
        }
        CommandWithLog::NewPassword { name, data, config } => {
            let overrides = Overrides {
                file: config,
                addr: None,
                data,
            };
            let printed = print_password_link(&overrides, &name).await;
            printed.map_err(|error| ("Parlor can't make a link", error))
        }
    }
}

/// Makes the Python environment, and says whether sessions can be had with it.
async fn set_up_python(overrides: &Overrides, python: &str) -> Result<(), CommandError> {
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let say = |step: &str| {
        let _ = writeln!(io::stdout(), "Parlor: {step}");
    };
    parlor_python::setup::run(&settings.server.data, python, say).await?;
    let found = parlor_python::check(&settings).await?;
    let _ = writeln!(
        io::stdout(),
        "Parlor: {found} is ready. Start Parlor again to use it"
    );
    Ok(())
}

/// Prints the SQL that makes a role for a database.
fn print_role_sql(command: DatabaseCommand) -> Result<(), CommandError> {
    let DatabaseCommand::Role {
        name,
        role,
        database,
        schemas,
        managed,
        config,
    } = command;
    let overrides = Overrides {
        file: config,
        addr: None,
        data: None,
    };
    let needs_settings = name.is_some() || overrides.file.is_some();
    let (data, url) = match Settings::read(&overrides, |name| std::env::var(name).ok()) {
        Ok(settings) => {
            let url = name.map(|name| postgres_url(&settings, &name)).transpose()?;
            (settings.data, url)
        }
        Err(error) if needs_settings => return Err(error.into()),
        // The limits of the default settings do.
        Err(_) => Default::default(),
    };
    let user = url
        .as_ref()
        .map(|url| url.username())
        .filter(|user| !user.is_empty());
    let path = url.as_ref().map(|url| url.path().trim_start_matches('/'));
    let request = RoleRequest {
        role: role.as_deref().or(user).unwrap_or("reader").to_owned(),
        database: database
            .as_deref()
            .or(path.filter(|path| !path.is_empty()))
            .unwrap_or("postgres")
            .to_owned(),
        schemas,
        is_managed: managed,
        timeout: data.query_timeout,
        // A query that nobody waits for is ended by another connection.
        max_connections: data.concurrent_queries * 2,
        max_disk_bytes: data.query_disk_bytes,
    };
    let _ = write!(io::stdout(), "{}", role_sql(&request));
    Ok(())
}

/// Returns the URL of a Postgres of the settings.
fn postgres_url(settings: &Settings, name: &str) -> Result<reqwest::Url, CommandError> {
    let database = settings.databases.iter().find(|database| database.name == name);
    let database = database.ok_or_else(|| format!("the settings have no database “{name}”"))?;
    match database.parsed_url() {
        Some(DatabaseUrl::Postgres(url)) => Ok(url),
        _ => Err(format!("the database “{name}” is no Postgres").into()),
    }
}

/// Prints a link for a new password.
async fn print_password_link(overrides: &Overrides, name: &str) -> Result<(), CommandError> {
    clock::check()?;
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let data = settings.server.data.display().to_string();
    if !settings.server.data.is_dir() {
        return Err(format!("there is no data in {data}").into());
    }
    let storage = SqliteStorage::open(&settings.server.data)
        .await
        .map_err(|error| {
            format!("the data in {data} can't be used: {error}. Stop Parlor first, if it runs")
        })?;
    let path = links::generate_offline(&storage, name, settings.accounts.link_lifetime).await?;
    storage.close().await?;
    let _ = writeln!(
        io::stdout(),
        "Start Parlor and open this address under its name, such as http://{}{path}",
        host_to_open(settings.server.addr)
    );
    Ok(())
}

async fn start_and_serve(overrides: Overrides) -> Result<(), CommandError> {
    raise_open_file_limit();
    // Only test builds have failpoints; there the variable FAILPOINTS names the one at which this process
    // dies.
    let _failpoints = fail::has_failpoints().then(fail::FailScenario::setup);
    serve(overrides).await
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

async fn serve(overrides: Overrides) -> Result<(), CommandError> {
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
    // Before the line below: whoever waits for it may stop Parlor at once.
    let shutdown = catch_shutdown_signals()?;
    let setup_token = server.new_setup_token().await?;
    let address = listener.local_addr()?;
    // Scripts wait for this line.
    let _ = writeln!(io::stdout(), "Parlor is ready at http://{address}");
    if let Some(token) = setup_token {
        let host = host_to_open(address);
        let _ = writeln!(
            io::stdout(),
            "Make the first account at http://{host}/setup?token={token}"
        );
    }
    server.serve(listener, shutdown).await?;
    Ok(())
}

/// Returns an address that a browser on this machine can open.
fn host_to_open(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        false => address,
    }
}

/// Starts to catch Ctrl-C and SIGTERM. Returns a future that waits for one of them.
#[cfg(unix)]
fn catch_shutdown_signals() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Starts to catch Ctrl-C. Returns a future that waits for it.
#[cfg(not(unix))]
fn catch_shutdown_signals() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
    })
}
