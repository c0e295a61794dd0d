//! The application behind both ways in: the state that all handlers share, the caller of a request, and what handlers of the
//! page's server functions ([`api`](crate::api)) and of the public API (`http`) do alike. Neither routes nor wire forms are here.

use std::sync::Arc;

use axum::extract::FromRef;
use leptos::prelude::LeptosOptions;
use tokio_util::sync::CancellationToken;

use crate::{
    hub::Hub, journal::Journal, literature::Literature, notices::Notices, providers::Models, runs::Runs,
    settings::Settings, storage::Storage,
};

mod caller;
pub mod diagnostics;
mod error;
pub mod literature;
pub mod models;
pub mod parameters;
pub mod payloads;
pub mod personal;
pub mod tokens;
pub mod turns;

pub use self::{
    caller::{Caller, current_caller, fingerprint},
    error::not_found,
    tokens::TokenAuthenticator,
};

/// The state that every handler shares. Clones share everything.
#[derive(Clone)]
pub struct AppState {
    pub settings: Arc<Settings>,
    pub storage: Arc<dyn Storage>,
    pub journal: Journal,
    pub hub: Arc<Hub>,
    pub runs: Runs,
    pub models: Arc<Models>,
    pub literature: Literature,
    pub tokens: Arc<TokenAuthenticator>,
    pub notices: Notices,
    pub leptos: LeptosOptions,
    /// Cancelled when the server goes down: event streams end, so that they don't hold it up.
    pub shutdown: CancellationToken,
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(app: &AppState) -> Self {
        app.leptos.clone()
    }
}
