//! The server: builds the parts, listens, and shuts them down.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use leptos::prelude::LeptosOptions;
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    app::{
        self, AccessMonitor, Accounts, AppState, Endpoints, Hosts, LastAnswer, Readiness, TokenAuthenticator,
        doctor::{ServerServices, network_notice},
    },
    http,
};
use parlor_base::{
    clock::{Clock, SystemClock},
    metrics::Metrics,
    notices::Notices,
    secrets::Secrets,
    settings::{AccessRule, Settings},
};
use parlor_databases::Databases;
use parlor_files as files;
use parlor_files::Files;
use parlor_journal::{Journal, hub::Hub};
use parlor_pages::{Pages, data::Data};
use parlor_protocol::ApiError;
use parlor_providers::{Models, ModelsConfig};
use parlor_python::Python;
use parlor_runs::{Runs, jobs::Jobs};
use parlor_storage::{SqlStorage, Storage, StorageError, sqlite::keep_files_marker};
use parlor_tools::{ToolRegistry, mcp};
use parlor_web::services::pubmed;

mod built_in;
mod damage_check;
mod memory;
mod models_config;
mod nodes;
mod recovery;
mod schedule_timer;
mod trimming;

use self::recovery::Recovery;
pub use self::{
    built_in::{ServerParts, built_in_job_kinds, built_in_pages, built_in_tools},
    memory::return_freed_memory,
    models_config::models_config,
    schedule_timer::ScheduleTimer,
};

/// The timeout of each of the last steps: ending the remaining runs, the connections, the database.
const CLOSE_STEP_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that has opened its data and can start to listen.
pub struct Server {
    app: AppState,
    /// The listener of the metrics' own address.
    metrics_listener: Option<TcpListener>,
    writer: JoinHandle<()>,
    /// Extends the lease of this node until it serves.
    renewal: JoinSet<()>,
    recovery: Recovery,
    mcp: Arc<mcp::Servers>,
    python: Python,
}

impl Server {
    /// Opens the data and ends the runs left by an earlier process.
    ///
    /// # Errors
    ///
    /// If the data folder or the database can't be used.
    pub async fn open(settings: Settings) -> Result<Self, StorageError> {
        Self::open_with(settings, built_in_tools, built_in_pages).await
    }

    /// Opens a server with other tools and pages.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_with(
        settings: Settings,
        tools: impl FnOnce(&ServerParts) -> ToolRegistry,
        pages: impl FnOnce(&ServerParts) -> Pages,
    ) -> Result<Self, StorageError> {
        let metrics = Arc::new(Metrics::new(&settings.metrics));
        let database = SqlStorage::open_configured(&settings)
            .await?
            .with_metrics(&metrics);
        let notices = Notices::default();
        if database.lacks_earlier_data() {
            notices.add(damage_check::missing_data_notice());
        }
        let storage: Arc<dyn Storage> = Arc::new(database);
        storage.join().await?;
        // The start may take longer than the lease.
        let renewal = nodes::renew_during_start(storage.clone(), settings.nodes.renewal);
        let hub = Arc::new(Hub::new(metrics.clone()));
        if storage.has_nodes() {
            hub.expect_other_nodes();
        }
        let (journal, writer) = Journal::start(storage.clone(), hub.clone());
        let files = Files::open(
            settings.server.data(),
            storage.clone(),
            journal.clone(),
            &settings,
        )?;
        // Without its database, every file looks like one that belongs to no message.
        match keep_files_marker(settings.server.data()) {
            Some(marker) => tracing::warn!(
                "files that belong to no message are kept, since the database was empty or missing; delete {} to have the next start delete \
                 them",
                marker.display()
            ),
            // In a folder that nodes share, another one may be about to store the row of a file.
            None if storage.has_nodes() && settings.files.store.is_none() => {}
            None => files.delete_orphans().await,
        }
        files.move_contents().await?;
        files.move_attachment_rows().await?;
        let secrets = Arc::new(Secrets::from_settings(&settings));
        let models = Arc::new(Models::new(ModelsConfig {
            metrics: metrics.clone(),
            ..models_config(&settings, &secrets)
        }));
        let endpoints = Endpoints::open(&settings, storage.clone(), journal.clone(), models.clone()).await?;
        // The first page must not wait for slow model servers to list their models.
        tokio::spawn({
            let models = models.clone();
            async move { models.list().await }
        });
        // Before other processes are started.
        let python = Python::start(&settings, files.clone());
        let mcp = Arc::new(mcp::Servers::start(&settings.mcp, &secrets));
        let databases = Databases::new(&settings.databases, &settings.data);
        let has_sqlite = settings.database.url.is_none();
        if let Some(notice) = network_notice(settings.server.data()).filter(|_| has_sqlite) {
            notices.add(notice);
        }
        databases.check_in_background(&notices);
        let services = ServerServices {
            databases: databases.clone(),
            mcp: mcp.clone(),
            python: python.clone(),
        };
        let parts = ServerParts {
            data: Data::new(
                databases,
                &settings.data,
                settings.limits.payload_bytes,
                python.clone(),
                files.clone(),
                storage.clone(),
            ),
            pubmed: pubmed::connect(&settings, nodes::shared_turns(&storage, "PubMed")),
            settings,
            storage: storage.clone(),
            journal: journal.clone(),
            files: files.clone(),
            models: models.clone(),
        };
        let pages = pages(&parts);
        let tools = tools(&parts)
            .with_provider(mcp.clone())
            .with_provider(Arc::new(python.clone()))
            .with_sessions(Arc::new(python.clone()))
            .with_scoped_tools(pages.tools())
            .without_tools(&parts.settings.tools.disabled);
        for tool in tools.unknown_disabled() {
            tracing::warn!(tool, "no tool has this name, so none is disabled");
        }
        let job_kinds = built_in_job_kinds(&parts);
        let row_sources = built_in::row_sources(&parts);
        let settings = parts.settings;
        let ruled = settings.accounts.access.iter().flat_map(AccessRule::plain_tools);
        for tool in tools.unknown_names(ruled) {
            tracing::warn!(
                tool,
                "a rule of accounts.access names a tool that does not exist, so it has no effect on any"
            );
        }
        let runs = Runs::new(
            storage.clone(),
            journal.clone(),
            models.clone(),
            tools,
            pages.clone(),
            files.clone(),
            &settings,
        );
        let jobs = Jobs::new(runs.clone(), job_kinds, &settings);
        let recovery = Recovery::start(&runs, &jobs).await;
        let access = Arc::new(AccessMonitor::new(storage.clone(), settings.accounts.auth));
        let tokens = Arc::new(TokenAuthenticator::new(
            storage.clone(),
            journal.clone(),
            access.clone(),
        ));
        let accounts = Arc::new(Accounts::new(
            settings.accounts.clone(),
            storage.clone(),
            journal.clone(),
            access.clone(),
        ));
        let leptos = LeptosOptions::builder().output_name("parlor").build();
        let shutdown = CancellationToken::new();
        let hosts = Hosts::open(&settings);
        hosts.reload_shared(&*storage).await;
        let readiness = Readiness::new(storage.clone(), journal.clone(), &settings);
        let stored_work = LastAnswer::new(&settings);
        let settings = Arc::new(settings);
        let app = AppState {
            settings,
            clock: Arc::new(SystemClock),
            hosts: Arc::new(hosts),
            services: Arc::new(services),
            storage,
            journal,
            hub,
            runs,
            jobs,
            models,
            endpoints,
            pages,
            tokens,
            accounts,
            access,
            files,
            row_sources,
            notices,
            readiness: Arc::new(readiness),
            metrics,
            stored_work: Arc::new(stored_work),
            plotly: python.plotly_script(),
            watchers: Arc::default(),
            leptos,
            shutdown,
        };
        Ok(Self {
            app,
            metrics_listener: None,
            writer,
            renewal,
            recovery,
            mcp,
            python,
        })
    }

    /// Returns the token with which the first account is made, if there is none yet.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn new_setup_token(&self) -> Result<Option<String>, ApiError> {
        self.app.accounts.new_setup_token().await
    }

    /// Sets the listener of the metrics' own address.
    #[must_use]
    pub fn with_metrics_listener(mut self, listener: TcpListener) -> Self {
        self.metrics_listener = Some(listener);
        self
    }

    /// Sets the clock of schedules. For tests, which move it by hand.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.app.clock = clock;
        self
    }

    /// Returns the timer of schedules. For tests, which have it look when they have moved the clock.
    pub fn schedule_timer(&self) -> ScheduleTimer {
        ScheduleTimer(self.app.clone())
    }

    /// Returns the event hub. For tests, which count its subscribers.
    pub fn hub(&self) -> Arc<Hub> {
        self.app.hub.clone()
    }

    /// Serves the connections of `listener` until `signal` is ready; then ends runs and streams and returns.
    pub async fn serve(
        self,
        listener: TcpListener,
        signal: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let Self {
            app,
            metrics_listener,
            writer,
            renewal,
            recovery,
            mcp,
            python,
        } = self;
        let storage = app.storage.clone();
        let run_timeout = app.settings.timeouts.shutdown;
        let erasing = tokio::spawn(app::deletion::erase_hidden(app.clone()));
        let deleting = tokio::spawn(app::accounts::deletion::resume(app.clone()));
        let expiring = tokio::spawn(app::retention::erase_expired_periodically(app.clone()));
        let trimming = tokio::spawn(trimming::trim_log_periodically(app.clone()));
        let sweeping = tokio::spawn(files::sweep_periodically(app.files.clone()));
        let indexing = tokio::spawn(app::search::index_in_background(app.clone()));
        let sending = tokio::spawn(app::schedules::timer::run_periodically(app.clone()));
        let checking = tokio::spawn(damage_check::check_database(app.clone()));
        let of_node = nodes::start(&app, recovery.ended);
        drop(renewal);
        let down = CancellationToken::new();
        let stopping = tokio::spawn({
            let (app, down) = (app.clone(), down.clone());
            async move {
                signal.await;
                tracing::info!("stopping");
                // Proxies send new requests elsewhere, while the present ones end.
                app.readiness.begin_stop();
                // The runs end first, so that clients still receive their ends. Jobs go on at the next start.
                let ended = async { tokio::join!(app.jobs.shut_down(), app.runs.shut_down(run_timeout)) };
                if timeout(run_timeout + CLOSE_STEP_TIMEOUT, ended).await.is_err() {
                    tracing::warn!("some answers could not be ended in time; the next start ends them");
                }
                app.shutdown.cancel();
                down.cancel();
            }
        });
        let settings = app.settings.clone();
        let metrics = metrics_listener.map(|listener| {
            http::serve(
                listener,
                http::metrics_router(app.clone()),
                &settings,
                down.clone(),
            )
        });
        let metrics = async {
            if let Some(metrics) = metrics {
                metrics.await;
            }
        };
        let served = http::serve(listener, http::router(app), &settings, down.clone());
        let served = async { tokio::join!(served, metrics) };
        tokio::select! {
            _ = served => {}
            () = async { down.cancelled().await; tokio::time::sleep(CLOSE_STEP_TIMEOUT).await } => {
                tracing::warn!("some connections did not end in time");
            }
        }
        let tasks: Vec<_> = [
            erasing, deleting, expiring, trimming, sweeping, indexing, sending, checking, stopping,
        ]
        .into_iter()
        .chain(recovery.task)
        .chain(of_node)
        .collect();
        tasks.iter().for_each(JoinHandle::abort);
        python.shut_down();
        // It has the files, and they have a handle of the journal.
        drop(python);
        // The last journal handles were dropped with the tasks and the router; the writer still commits the
        // queued changes.
        let closed = timeout(CLOSE_STEP_TIMEOUT, async {
            join_all(tasks).await;
            writer.await.ok();
            if let Err(error) = storage.leave().await {
                tracing::warn!(%error, "other nodes take over after the end of the lease");
            }
            storage.close().await
        });
        let mcp_stopped = timeout(CLOSE_STEP_TIMEOUT, mcp.shut_down());
        let (closed, mcp_stopped) = tokio::join!(closed, mcp_stopped);
        if mcp_stopped.is_err() {
            tracing::warn!("some MCP servers did not stop in time and are killed");
        }
        match closed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "could not close the database cleanly; nothing is lost"),
            Err(_) => tracing::warn!("the database is still busy; the next start cleans it up"),
        }
        Ok(())
    }
}
