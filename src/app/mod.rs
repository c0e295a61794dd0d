//! The application behind both interfaces: the state that all handlers share, the caller of a request, and the operations that
//! the page's server functions ([`api`](crate::api)) and the public API (`http`) have in common. Routes and wire formats are
//! not here.

use std::sync::Arc;

use axum::extract::FromRef;
use leptos::prelude::LeptosOptions;
use tokio_util::sync::CancellationToken;

use parlor_base::{
    clock::Clock,
    metrics::{Metrics, samples::StoredWork},
    notices::Notices,
    settings::Settings,
};
use parlor_files::Files;
use parlor_journal::{Journal, hub::Hub};
use parlor_pages::{Pages, columns::RowSources};
use parlor_providers::Models;
use parlor_python::PlotlyScript;
use parlor_runs::{Runs, jobs::Jobs};
use parlor_storage::Storage;

use self::doctor::ServerServices;

pub mod access;
pub mod accounts;
mod caller;
pub mod columns;
pub mod conversation_list;
pub mod deletion;
pub mod diagnostics;
pub mod doctor;
pub mod endpoints;
pub mod file_list;
pub mod files;
mod hosts;
mod last_answer;
mod last_uses;
pub mod listed_pages;
mod metrics;
pub mod models;
pub mod news;
pub mod notebook;
pub mod parameters;
pub mod payloads;
pub mod personal;
pub mod projects;
mod readiness;
pub mod retention;
pub mod schedules;
pub mod search;
pub mod shared_projects;
pub mod sharing;
pub mod stored_tables;
pub mod token_totals;
pub mod tokens;
pub mod turns;

pub use self::{
    access::AccessMonitor,
    accounts::Accounts,
    caller::{Caller, current_caller, current_visitor, fingerprint, set_error_status},
    endpoints::Endpoints,
    hosts::Hosts,
    last_answer::LastAnswer,
    readiness::Readiness,
    sharing::Watchers,
    tokens::TokenAuthenticator,
};
pub use parlor_storage::not_found;

/// The state that all handlers share. Clones refer to the same data.
#[derive(Clone)]
pub struct AppState {
    pub settings: Arc<Settings>,
    /// The clock of schedules.
    pub clock: Arc<dyn Clock>,
    /// The host names that requests may have.
    pub hosts: Arc<Hosts>,
    /// What the check for operators looks at.
    pub services: Arc<ServerServices>,
    pub storage: Arc<dyn Storage>,
    pub journal: Journal,
    pub hub: Arc<Hub>,
    pub runs: Runs,
    pub jobs: Jobs,
    pub models: Arc<Models>,
    pub endpoints: Arc<Endpoints>,
    pub pages: Pages,
    pub tokens: Arc<TokenAuthenticator>,
    pub accounts: Arc<Accounts>,
    pub access: Arc<AccessMonitor>,
    pub files: Files,
    /// The rows that columns can have.
    pub row_sources: RowSources,
    pub notices: Notices,
    pub readiness: Arc<Readiness>,
    /// The figures for operators.
    pub metrics: Arc<Metrics>,
    /// The unfinished work in the database, for the figures.
    pub stored_work: Arc<LastAnswer<StoredWork>>,
    /// The script that draws charts.
    pub plotly: PlotlyScript,
    /// The readers who watch live shares.
    pub watchers: Arc<Watchers>,
    pub leptos: LeptosOptions,
    /// Cancelled when the server shuts down. Event streams then end, so that they do not delay the shutdown.
    pub shutdown: CancellationToken,
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(app: &AppState) -> Self {
        app.leptos.clone()
    }
}
