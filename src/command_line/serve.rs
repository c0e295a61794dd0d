//! The server's command: starts it, prints its URL, and stops it at a signal.

use std::{
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
};

use parlor_base::{
    clock,
    secrets::{Secrets, log},
    settings::{Overrides, Settings},
};
use tokio::net::TcpListener;

use super::{CommandError, MakePages, ServeOptions, browser};
use crate::{
    assets,
    server::{Server, built_in_tools},
};

/// Starts the server, and serves until it is stopped.
pub async fn start(options: ServeOptions, pages: MakePages) -> Result<(), CommandError> {
    raise_open_file_limit();
    // Only test builds have failpoints; there the variable FAILPOINTS names the one at which this process
    // dies.
    let _failpoints = fail::has_failpoints().then(fail::FailScenario::setup);
    let overrides = Overrides {
        file: options.config,
        addr: options.addr,
        data: options.data,
    };
    serve(&overrides, !options.no_browser, pages).await
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

async fn serve(overrides: &Overrides, opens_browser: bool, pages: MakePages) -> Result<(), CommandError> {
    clock::check()?;
    let env = |name: &str| std::env::var(name).ok();
    let settings = Settings::read(overrides, env)?;
    check_earlier_folder(settings.server.data())?;
    if let Some(file) = &settings.file {
        tracing::info!("the settings are those of {}", file.display());
    }
    log::redact_log(Secrets::from_settings(&settings));
    tracing::debug!(?settings);
    let addr = settings.server.addr;
    let data = settings.server.data().display().to_string();
    // Bound before the data is opened: a second Parlor at the same address must not touch it.
    let listener = TcpListener::bind(addr).await.map_err(|error| {
        format!(
            "the address {addr} can't be used: {error}. Choose another one with --addr, such as --addr 127.0.0.1:0 for any free \
             port"
        )
    })?;
    let metrics_listener = bind_metrics(settings.metrics.addr).await?;
    if let Some(folder) = &settings.server.site {
        assets::use_folder(folder)?;
    }
    let server = Server::open_with(settings, built_in_tools, pages)
        .await
        .map_err(|error| format!("the data in {data} can't be used: {error}"))?;
    let server = match metrics_listener {
        Some(listener) => server.with_metrics_listener(listener),
        None => server,
    };
    // Before the line below: whoever waits for it may stop Parlor at once.
    let shutdown = catch_shutdown_signals()?;
    let setup_token = server.new_setup_token().await?;
    let url = format!("http://{}", host_to_open(listener.local_addr()?));
    // Scripts wait for this line.
    let _ = writeln!(io::stdout(), "Parlor is ready at {url}");
    if let Some(token) = setup_token {
        let _ = writeln!(
            io::stdout(),
            "Make the first account at {url}/setup?token={token}"
        );
    }
    if opens_browser {
        // Without the setup token: everybody on this machine can read the arguments of its programs.
        browser::open(&url);
    }
    server.serve(listener, shutdown).await?;
    Ok(())
}

/// Binds the metrics' own address, if there is one.
async fn bind_metrics(addr: Option<SocketAddr>) -> Result<Option<TcpListener>, CommandError> {
    let Some(addr) = addr else { return Ok(None) };
    let listener = TcpListener::bind(addr).await.map_err(|error| {
        format!(
            "the address {addr} of the metrics can't be used: {error}. Choose another one in the setting metrics.addr"
        )
    })?;
    tracing::info!("the metrics are at http://{}/metrics", listener.local_addr()?);
    Ok(Some(listener))
}

/// Rejects the start if the data would be elsewhere than where an earlier version, started in the same folder, kept them. An empty
/// Parlor would look like a loss.
fn check_earlier_folder(data: &Path) -> Result<(), CommandError> {
    let earlier = Path::new("data");
    let has_database = |folder: &Path| folder.join("parlor.db").is_file();
    if has_database(data) || !has_database(earlier) {
        return Ok(());
    }
    Err(format!(
        "there are no conversations in {}, but in the folder “data” here, which Parlor used by default until version 0.1: start it with \
         --data data, or move that folder to {0}",
        data.display()
    )
    .into())
}

/// Returns an address that a browser on this machine can open.
pub fn host_to_open(address: SocketAddr) -> SocketAddr {
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
