//! Keys that users bring of their own, if an administrator allows it: for services that are offered, whose addresses they don't
//! choose. What such a key opens is its owner's alone.

use std::sync::{Arc, atomic::Ordering};

use super::{Endpoints, check, find_in, or_not_found};
use crate::app::Caller;
use parlor_base::clock;
use parlor_protocol::{
    ApiError, EndpointId, EndpointKind, EndpointTestResult, EndpointView, ErrorCode, NewOwnKey,
    OWN_KEY_PREFIX, OfferedService, OwnKeyList, OwnKeyTest, OwnKeyUpdate, SERVICES, UserId,
};
use parlor_providers::{EndpointConfig, test_endpoint};
use parlor_storage::endpoints::{EndpointChange, EndpointValues, StoredEndpoint};

/// The maximum number of keys of one user.
const MAX_OWN_KEYS: usize = 20;

/// A service for which users may bring keys.
#[derive(Clone, Debug)]
pub(super) struct Service {
    name: String,
    label: String,
    note: &'static str,
    kind: EndpointKind,
    base_url: String,
    /// True if an administrator has added it: its address may be inside the network.
    is_added: bool,
}

impl Service {
    /// Returns true if it is one that everybody knows, whose address is public.
    pub fn is_public(&self) -> bool {
        !self.is_added
    }

    /// Returns true if a key is for this service.
    pub fn has(&self, endpoint: &StoredEndpoint) -> bool {
        self.kind == endpoint.kind && self.base_url == endpoint.base_url
    }
}

/// Returns the services that are offered: those that an administrator has added, and those that everybody knows.
pub(super) fn offered(common: &[StoredEndpoint]) -> Vec<Service> {
    let mut services: Vec<Service> = common
        .iter()
        .filter(|endpoint| endpoint.takes_own_keys)
        .map(|endpoint| Service {
            name: endpoint.name.clone(),
            label: endpoint.name.clone(),
            note: "",
            kind: endpoint.kind,
            base_url: endpoint.base_url.clone(),
            is_added: true,
        })
        .collect();
    for known in &SERVICES {
        if !services.iter().any(|service| service.name == known.name) {
            services.push(Service {
                name: known.name.into(),
                label: known.label.into(),
                note: known.note,
                kind: known.kind,
                base_url: known.base_url.into(),
                is_added: false,
            });
        }
    }
    services
}

impl Endpoints {
    /// Returns true if users may bring keys of their own.
    pub fn allows_own_keys(&self) -> bool {
        self.allows_own_keys.load(Ordering::Relaxed)
    }

    async fn services(&self) -> Result<Vec<Service>, ApiError> {
        Ok(offered(&self.stored().await?))
    }

    async fn find_service(&self, name: &str) -> Result<Service, ApiError> {
        let services = self.services().await?;
        let found = services.into_iter().find(|service| service.name == name);
        found.ok_or_else(|| {
            let message = "This service is not offered for keys of your own. Nothing was saved.";
            ApiError::new(ErrorCode::BadRequest, message)
        })
    }

    async fn find_own(&self, owner: UserId, id: EndpointId) -> Result<StoredEndpoint, ApiError> {
        find_in(self.storage.endpoints(Some(owner)).await?, id)
    }

    /// Returns a key, as its owner sees it.
    fn own_view(&self, endpoint: &StoredEndpoint, services: &[Service]) -> EndpointView {
        let is_offered = services.iter().any(|service| service.has(endpoint));
        let problem = match (self.allows_own_keys(), is_offered) {
            (false, _) => {
                Some("Keys of your own are not allowed at present. An administrator can allow them.".into())
            }
            (true, false) => Some("This service is no longer offered for keys of your own.".into()),
            (true, true) => None,
        };
        let view = self.view(endpoint);
        EndpointView {
            problem: problem.or(view.problem),
            ..view
        }
    }
}

fn not_allowed() -> ApiError {
    ApiError::new(
        ErrorCode::Forbidden,
        "Keys of your own are not allowed on this server. An administrator can allow them.",
    )
}

/// Returns the services, and the caller's keys.
///
/// # Errors
///
/// If storage fails, or the caller has only a token.
pub async fn list(caller: &Caller) -> Result<OwnKeyList, ApiError> {
    let endpoints = super::require_session(caller)?;
    endpoints.models.wait_for_change().await;
    let services = endpoints.services().await?;
    let stored = endpoints.storage.endpoints(Some(caller.user_id)).await?;
    let views = stored
        .iter()
        .map(|endpoint| endpoints.own_view(endpoint, &services));
    let keys = views.collect();
    let is_allowed = endpoints.allows_own_keys();
    let services = services.into_iter().filter(|_| is_allowed);
    Ok(OwnKeyList {
        is_allowed,
        services: services
            .map(|service| OfferedService {
                name: service.name,
                label: service.label,
                note: service.note.into(),
            })
            .collect(),
        keys,
    })
}

/// Adds a key. Its models are offered to the caller at once. The same request twice adds one.
///
/// # Errors
///
/// If keys are not allowed, the service is not offered, or a field is invalid.
pub async fn add(caller: &Caller, new: NewOwnKey) -> Result<EndpointView, ApiError> {
    let endpoints = require_allowed(caller)?;
    let service = endpoints.find_service(&new.service).await?;
    let (id, owner) = (new.id, caller.user_id);
    let Some(key) = check::check_key(&new.key.0)? else {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "Paste the key. Nothing was saved.",
        ));
    };
    let now = clock::now();
    let endpoint = StoredEndpoint {
        id,
        owner: Some(owner),
        name: [OWN_KEY_PREFIX, &service.name].concat(),
        kind: service.kind,
        key: Some(endpoints.seal(id, &service.base_url, Some(owner), &key)?),
        base_url: service.base_url,
        models: Vec::new(),
        hidden_models: check::check_models(new.hidden_models)?,
        is_enabled: true,
        takes_own_keys: false,
        created_at: now,
        updated_by: owner,
        updated_at: now,
    };
    let added = endpoint.clone();
    endpoints.add_stored(owner, endpoint, MAX_OWN_KEYS).await?;
    let stored = endpoints.find_own(owner, id).await?;
    // The same request may have been applied before, another one under this id may not.
    let is_same =
        stored.name == added.name && endpoints.unseal(&stored).ok().flatten().as_ref() == Some(&key);
    match is_same {
        true => Ok(endpoints.own_view(&stored, &endpoints.services().await?)),
        false => Err(parlor_storage::ChangeRejection::IntentReused.into()),
    }
}

/// Changes one of the caller's keys.
///
/// # Errors
///
/// If keys are not allowed, the caller has no such key, or a field is invalid.
pub async fn change(caller: &Caller, id: EndpointId, update: OwnKeyUpdate) -> Result<EndpointView, ApiError> {
    let owner = caller.user_id;
    let stored = super::require_session(caller)?.find_own(owner, id).await?;
    let endpoints = require_allowed(caller)?;
    let key = match &update.key {
        None => None,
        Some(key) => check::check_key(&key.0)?,
    };
    let sealed = key.map(|key| endpoints.seal(id, &stored.base_url, Some(owner), &key));
    let values = EndpointValues {
        key: sealed.transpose()?.map(Some),
        hidden_models: update.hidden_models.map(check::check_models).transpose()?,
        is_enabled: update.is_enabled,
        ..EndpointValues::default()
    };
    let owned = Some(owner);
    let change = EndpointChange::Update {
        id,
        owner: owned,
        values,
    };
    endpoints.commit(owner, change).await.map_err(or_not_found)?;
    let stored = endpoints.find_own(owner, id).await?;
    Ok(endpoints.own_view(&stored, &endpoints.services().await?))
}

/// Removes one of the caller's keys. One that is already gone is not an error. It is possible also when keys are not allowed.
///
/// # Errors
///
/// If storage fails, or the caller has only a token.
pub async fn remove(caller: &Caller, id: EndpointId) -> Result<(), ApiError> {
    let endpoints = super::require_session(caller)?;
    endpoints.remove(caller.user_id, id, Some(caller.user_id)).await
}

/// Tests a key without adding it.
///
/// # Errors
///
/// If keys are not allowed, the service is not offered, or the key is invalid.
pub async fn test(caller: &Caller, request: OwnKeyTest) -> Result<EndpointTestResult, ApiError> {
    let endpoints = require_allowed(caller)?;
    let service = endpoints.find_service(&request.service).await?;
    let given = check::check_key(&request.key.unwrap_or_default().0)?;
    let key = match (given, request.id) {
        (Some(key), _) => Some(key),
        (None, None) => None,
        (None, Some(id)) => {
            let stored = endpoints.find_own(caller.user_id, id).await?;
            match service.has(&stored) {
                true => endpoints.unseal_to_test(&stored)?,
                false => None,
            }
        }
    };
    let config = endpoints.tested_config(service.kind, &service.base_url, key);
    Ok(test_endpoint(&EndpointConfig {
        is_guarded: service.is_public(),
        ..config
    })
    .await)
}

/// Allows keys of users' own, or forbids them. Those that are stored stay, and are not used.
///
/// # Errors
///
/// If the caller is no administrator.
pub async fn allow(caller: &Caller, is_allowed: bool) -> Result<(), ApiError> {
    let endpoints = super::require_administrator(caller).await?;
    let change = EndpointChange::AllowOwnKeys { is_allowed };
    Ok(endpoints.commit(caller.user_id, change).await?)
}

fn require_allowed(caller: &Caller) -> Result<&Arc<Endpoints>, ApiError> {
    let endpoints = super::require_session(caller)?;
    match endpoints.allows_own_keys() {
        true => Ok(endpoints),
        false => Err(not_allowed()),
    }
}
