//! Model servers that are added in the page: by administrators for all, and by users for themselves alone. Those of the settings
//! have precedence and can't be changed here.
//!
//! - [`Endpoints`]: the changes, each of which takes effect at once, and the registry of models, which gets them
//! - [`changes`]: what administrators add and change
//! - [`check`]: the rules for what is entered
//! - [`find`]: the search for model servers on this machine
//! - [`own`]: keys of users' own
//! - [`mod@test`]: tries a model server before it is added

mod changes;
mod check;
mod find;
pub mod own;
mod registered;
mod test;

use std::sync::{Arc, atomic::AtomicBool};

use reqwest::Url;

use super::{
    AppState, Caller,
    access::{Access, Credential},
};
use parlor_base::{
    crash_point,
    sealing::{Place, SealError, SealingKeys},
    settings::{Secret, Settings},
};
use parlor_journal::{Journal, JournalError};
use parlor_protocol::{
    ApiError, EndpointId, EndpointKeyState, EndpointList, EndpointTest, EndpointTestResult, EndpointUpdate,
    EndpointView, ErrorCode, LocalServer, NewEndpoint, UserId,
};
use parlor_providers::Models;
use parlor_storage::{
    Change, ChangeRejection, Storage, StorageError,
    endpoints::{EndpointChange, SealedKey, StoredEndpoint},
};

/// The maximum number of model servers that can be added. All of them are asked for their lists at the same time.
const MAX_ENDPOINTS: usize = 50;

/// The table of sealed keys.
const TABLE: &str = "endpoints";

/// The model servers that were added in the page.
pub struct Endpoints {
    storage: Arc<dyn Storage>,
    journal: Journal,
    models: Arc<Models>,
    keys: SealingKeys,
    settings: Settings,
    /// True if users may bring keys of their own, as it is stored.
    allows_own_keys: AtomicBool,
}

impl Endpoints {
    /// Opens the model servers and offers their models. Keys that can't be read cost only their own servers.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn open(
        settings: &Settings,
        storage: Arc<dyn Storage>,
        journal: Journal,
        models: Arc<Models>,
    ) -> Result<Arc<Self>, StorageError> {
        let endpoints = Arc::new(Self {
            storage,
            journal,
            models,
            keys: SealingKeys::open(&settings.server),
            settings: settings.clone(),
            allows_own_keys: AtomicBool::new(false),
        });
        let guard = endpoints.models.begin_change().await;
        let stored = endpoints.register(&guard).await?;
        drop(guard);
        if endpoints.storage.has_nodes() && endpoints.has_other_key(&stored) {
            return Err(StorageError::OtherSecretKey);
        }
        endpoints.reseal(stored);
        Ok(endpoints)
    }

    async fn stored(&self) -> Result<Vec<StoredEndpoint>, StorageError> {
        self.storage.endpoints(None).await
    }

    async fn find(&self, id: EndpointId) -> Result<StoredEndpoint, ApiError> {
        find_in(self.stored().await?, id)
    }

    fn seal(
        &self,
        id: EndpointId,
        base_url: &str,
        owner: Option<UserId>,
        key: &Secret,
    ) -> Result<SealedKey, ApiError> {
        let row = place_row(id, base_url);
        let sealed = self.keys.seal(key, place(&row, owner));
        sealed.map(SealedKey).map_err(|error| cannot_seal(&error))
    }

    /// Returns the key of a model server; `None` without one.
    fn unseal(&self, endpoint: &StoredEndpoint) -> Result<Option<Secret>, parlor_base::sealing::OpenError> {
        let row = place_row(endpoint.id, &endpoint.base_url);
        let unseal = |key: &SealedKey| self.keys.unseal(&key.0, place(&row, endpoint.owner));
        endpoint.key.as_ref().map(unseal).transpose()
    }

    /// Seals keys again that were sealed with an older key of the server.
    fn reseal(self: &Arc<Self>, stored: Vec<StoredEndpoint>) {
        for endpoint in stored {
            let Some(from) = endpoint.key.clone().filter(|key| self.keys.is_outdated(&key.0)) else {
                continue;
            };
            // What can't be opened is told when it is registered, what can't be sealed by `seal`.
            let Ok(Some(key)) = self.unseal(&endpoint) else {
                continue;
            };
            let Ok(to) = self.seal(endpoint.id, &endpoint.base_url, endpoint.owner, &key) else {
                continue;
            };
            let id = endpoint.id;
            let change = EndpointChange::Reseal { id, from, to };
            let (journal, by) = (self.journal.clone(), endpoint.updated_by);
            tokio::spawn(async move {
                if let Err(error) = journal.submit(Change::Endpoint { by, change }).await {
                    tracing::warn!(%error, "the key of a model server stays sealed with the older secret key");
                }
            });
        }
    }

    /// Commits a change and gives it to the registry. It goes on if the caller is gone.
    async fn commit(self: &Arc<Self>, by: UserId, change: EndpointChange) -> Result<(), JournalError> {
        let endpoints = self.clone();
        let committed = tokio::spawn(async move {
            let guard = endpoints.models.begin_change().await;
            crash_point!("endpoints::begun");
            let outcome = endpoints.journal.submit(Change::Endpoint { by, change }).await;
            crash_point!("endpoints::committed");
            if outcome.is_ok()
                && let Err(error) = endpoints.register(&guard).await
            {
                tracing::error!(%error, "the models of changed model servers are offered after the next change or start");
            }
            outcome.map(drop)
        });
        committed
            .await
            .unwrap_or(Err(JournalError::Rejected(ChangeRejection::Internal)))
    }

    /// Stores a new one. Returns false if there is one under its id.
    async fn add_stored(
        self: &Arc<Self>,
        by: UserId,
        endpoint: StoredEndpoint,
        limit: usize,
    ) -> Result<bool, ApiError> {
        match self.commit(by, EndpointChange::Add { endpoint, limit }).await {
            Err(JournalError::Rejected(ChangeRejection::IntentReused)) => Ok(false),
            added => Ok(added.map(|()| true)?),
        }
    }

    /// Returns true if keys are stored and this process can open none of them.
    fn has_other_key(&self, stored: &[StoredEndpoint]) -> bool {
        let mut sealed = stored.iter().filter(|endpoint| endpoint.key.is_some()).peekable();
        sealed.peek().is_some() && sealed.all(|endpoint| self.unseal(endpoint).is_err())
    }

    /// Gives the model servers to the registry again: another node has changed them.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn reload(&self) -> Result<(), StorageError> {
        let guard = self.models.begin_change().await;
        self.register(&guard).await?;
        Ok(())
    }

    /// Takes the keys of a deleted user from the registry.
    pub async fn forget_deleted(&self) {
        let guard = self.models.begin_change().await;
        if let Err(error) = self.register(&guard).await {
            tracing::error!(%error, "the keys of a deleted user stay in memory until the next change or start");
        }
    }

    async fn remove(
        self: &Arc<Self>,
        by: UserId,
        id: EndpointId,
        owner: Option<UserId>,
    ) -> Result<(), ApiError> {
        match self.commit(by, EndpointChange::Remove { id, owner }).await {
            // It is gone already.
            Err(JournalError::Rejected(ChangeRejection::NotFound)) => Ok(()),
            removed => Ok(removed?),
        }
    }

    fn view(&self, endpoint: &StoredEndpoint) -> EndpointView {
        let key = match self.unseal(endpoint) {
            Ok(None) => EndpointKeyState::None,
            Ok(Some(_)) => EndpointKeyState::Set,
            Err(_) => EndpointKeyState::NeededAgain,
        };
        let problem = if self.is_of_settings(&endpoint.name) {
            Some("The settings file or the environment has a model server of this name, which is used instead.".to_owned())
        } else if key == EndpointKeyState::NeededAgain {
            Some(
                "Its key can't be read any more, since Parlor's secret key has changed. Enter it again."
                    .to_owned(),
            )
        } else {
            None
        };
        EndpointView {
            id: Some(endpoint.id),
            name: endpoint.name.clone(),
            kind: endpoint.kind,
            base_url: endpoint.base_url.clone(),
            key,
            is_enabled: endpoint.is_enabled,
            models: endpoint.models.clone(),
            hidden_models: endpoint.hidden_models.clone(),
            takes_own_keys: endpoint.takes_own_keys,
            problem,
        }
    }

    fn is_of_settings(&self, name: &str) -> bool {
        check::is_of_settings(&self.settings, name)
    }
}

/// Returns all model servers: those of the settings, then the added ones.
///
/// # Errors
///
/// If the caller is no administrator.
pub async fn list(caller: &Caller) -> Result<EndpointList, ApiError> {
    let endpoints = require_administrator(caller).await?;
    let settings = endpoints.settings.endpoints.iter().map(registered::settings_view);
    let mut views: Vec<EndpointView> = settings.collect();
    let stored = endpoints.stored().await?;
    views.extend(stored.iter().map(|endpoint| endpoints.view(endpoint)));
    Ok(EndpointList { endpoints: views })
}

/// Adds a model server. Its models are offered at once. The same request twice adds one.
///
/// # Errors
///
/// If the caller is no administrator, or a field is invalid.
pub async fn add(caller: &Caller, new: NewEndpoint) -> Result<EndpointView, ApiError> {
    let endpoints = require_administrator(caller).await?;
    let id = new.id;
    endpoints.add(caller.user_id, new).await?;
    Ok(endpoints.view(&endpoints.find(id).await?))
}

/// Changes a model server that was added. Runs that work keep the former one.
///
/// # Errors
///
/// If the caller is no administrator, there is no such server, or a field is invalid.
pub async fn change(
    caller: &Caller,
    id: EndpointId,
    update: EndpointUpdate,
) -> Result<EndpointView, ApiError> {
    let endpoints = require_administrator(caller).await?;
    endpoints.change(caller.user_id, id, update).await?;
    Ok(endpoints.view(&endpoints.find(id).await?))
}

/// Removes a model server with its key. One that is already gone is not an error.
///
/// # Errors
///
/// If the caller is no administrator.
pub async fn remove(caller: &Caller, id: EndpointId) -> Result<(), ApiError> {
    let endpoints = require_administrator(caller).await?;
    endpoints.remove(caller.user_id, id, None).await
}

/// Tests a model server without adding it. The address may be of this machine or of its network.
///
/// # Errors
///
/// If the caller is no administrator, or a field is invalid.
pub async fn test(caller: &Caller, request: EndpointTest) -> Result<EndpointTestResult, ApiError> {
    let endpoints = require_administrator(caller).await?;
    endpoints.test(request).await
}

/// Searches for model servers on this machine. Nothing is added.
///
/// # Errors
///
/// If the caller is no administrator.
pub async fn find_local(caller: &Caller) -> Result<Vec<LocalServer>, ApiError> {
    let endpoints = require_administrator(caller).await?;
    Ok(endpoints.find_local().await)
}

/// A token is not enough: whoever finds one could send everybody's conversations to a server of their own.
fn require_session(caller: &Caller) -> Result<&Arc<Endpoints>, ApiError> {
    let AppState { endpoints, .. } = &caller.app;
    let has_token = |access: &Access| matches!(access.credential, Credential::Token { .. });
    if caller.access.as_ref().is_some_and(has_token) {
        return Err(ApiError::new(
            ErrorCode::Forbidden,
            "Model servers can't be seen or changed with an API token. Sign in to the page.",
        ));
    }
    Ok(endpoints)
}

async fn require_administrator(caller: &Caller) -> Result<&Arc<Endpoints>, ApiError> {
    let endpoints = require_session(caller)?;
    match caller.is_administrator().await? {
        true => Ok(endpoints),
        false => Err(ApiError::new(
            ErrorCode::Forbidden,
            "Only administrators can see, test and change model servers.",
        )),
    }
}

fn place(row: &str, owner: Option<UserId>) -> Place<'_> {
    Place {
        table: TABLE,
        row,
        owner,
    }
}

fn find_in(stored: Vec<StoredEndpoint>, id: EndpointId) -> Result<StoredEndpoint, ApiError> {
    let found = stored.into_iter().find(|endpoint| endpoint.id == id);
    found.ok_or_else(not_found)
}

/// Returns what a key is bound to: its row, and the server that it is for, so that it never goes to another one.
fn place_row(id: EndpointId, base_url: &str) -> String {
    format!("{id} {}", origin(base_url))
}

fn origin(base_url: &str) -> String {
    let url = Url::parse(base_url);
    url.map(|url| url.origin().ascii_serialization())
        .unwrap_or_default()
}

fn not_found() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "There is no such model server. It may have been removed meanwhile.",
    )
}

fn or_not_found(error: JournalError) -> ApiError {
    match error {
        JournalError::Rejected(ChangeRejection::NotFound) => not_found(),
        error => error.into(),
    }
}

fn cannot_seal(error: &SealError) -> ApiError {
    tracing::error!(%error, "the key of a model server can't be stored");
    ApiError::new(
        ErrorCode::Internal,
        "The key can't be stored encrypted. Nothing was changed. Parlor's log says more.",
    )
}
