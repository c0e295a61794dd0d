//! The endpoints at one time: those of the settings and those that were added in the page.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use secrecy::ExposeSecret;

use super::{Models, activity::EndpointActivity, check_endpoint_name};
use crate::{EndpointConfig, adapter::create_endpoint, context_windows::ContextWindowCache};
use parlor_base::{secrets::log::redact_in_log, settings::is_local_url};
use parlor_model::Endpoint;
use parlor_protocol::RunError;

/// The endpoints at one time. A change makes another set, so that a run can keep those with which it began.
#[derive(Clone, Debug, Default)]
pub(super) struct EndpointSet {
    pub slots: Vec<EndpointSlot>,
    /// Errors of invalid endpoints.
    pub problems: Vec<RunError>,
    /// True if there are only discovered endpoints. Without models the tour is offered.
    pub is_discovering: bool,
}

#[derive(Clone, Debug)]
pub(super) struct EndpointSlot {
    pub endpoint: Arc<dyn Endpoint>,
    /// True for a discovered endpoint: no response is not an error, and it has little time.
    pub is_candidate: bool,
    /// True if the endpoint serves no other models than the listed ones.
    pub lists_all_models: bool,
    /// The listed models that are not offered.
    pub hidden_models: Arc<HashSet<String>>,
    /// The context windows that it reports: another server of this name may have others.
    pub windows: Arc<ContextWindowCache>,
    /// True if it is neither on this machine nor in its network.
    pub is_remote: bool,
    /// The calls in progress there.
    pub activity: EndpointActivity,
    /// The configuration of an endpoint that was added in the page.
    added: Option<Arc<EndpointConfig>>,
}

/// An endpoint that was added in the page.
#[derive(Clone, Debug)]
pub struct AddedEndpoint {
    pub config: EndpointConfig,
    /// The listed models that are not offered.
    pub hidden_models: HashSet<String>,
}

impl EndpointSlot {
    fn new(config: &EndpointConfig, is_candidate: bool) -> Result<Self, RunError> {
        Ok(Self {
            is_candidate,
            lists_all_models: config.lists_all_models,
            is_remote: !is_local_url(&config.base_url),
            ..Self::of(create_endpoint(config).map_err(|error| error.error)?)
        })
    }

    /// Returns the slot of an endpoint on this machine.
    pub fn of(endpoint: Arc<dyn Endpoint>) -> Self {
        Self {
            endpoint,
            is_candidate: false,
            lists_all_models: true,
            hidden_models: Arc::default(),
            windows: Arc::default(),
            is_remote: false,
            activity: EndpointActivity::default(),
            added: None,
        }
    }

    /// Returns the slot of an added endpoint. An unchanged one keeps its adapter, which has learned what its server rejects.
    fn of_added(added: AddedEndpoint, old: &EndpointSet) -> Result<Self, RunError> {
        let unchanged = old.find(&added.config.name).filter(|slot| {
            let config = slot.added.as_ref();
            config.is_some_and(|config| is_same_server(config, &added.config))
        });
        let slot = match unchanged {
            Some(slot) => slot.clone(),
            None => Self::new(&added.config, false)?,
        };
        Ok(Self {
            hidden_models: Arc::new(added.hidden_models),
            added: Some(Arc::new(added.config)),
            ..slot
        })
    }
}

impl EndpointSet {
    /// Creates the set of the endpoints of the settings, or of the searched ones. Errors are kept as problems.
    pub fn new(configs: &[EndpointConfig], is_discovering: bool) -> Self {
        let mut set = Self {
            is_discovering,
            ..Self::default()
        };
        for config in configs {
            let is_taken = set.find(&config.name).is_some();
            let checked = check_endpoint_name(&config.name, is_taken).map_err(|error| error.error);
            match checked.and_then(|()| EndpointSlot::new(config, is_discovering)) {
                Ok(slot) => set.slots.push(slot),
                Err(problem) => set.problems.push(problem),
            }
        }
        set
    }

    /// Returns a set with these endpoints of the settings and the added ones. The settings have precedence, discovered endpoints
    /// have not.
    pub fn with_added(fixed: &Self, added: Vec<AddedEndpoint>, problems: Vec<RunError>, old: &Self) -> Self {
        let mut set = fixed.clone();
        set.is_discovering &= problems.is_empty();
        set.problems.extend(problems);
        set.slots
            .retain(|slot| !slot.is_candidate || !is_added(&added, slot.endpoint.name()));
        set.is_discovering &= added.is_empty();
        for added in added {
            if set.find(&added.config.name).is_some() {
                continue;
            }
            match EndpointSlot::of_added(added, old) {
                Ok(slot) => set.slots.push(slot),
                Err(problem) => set.problems.push(problem),
            }
        }
        set
    }

    /// Returns these endpoints and those that a user has besides them.
    pub fn joined(&self, own: &Self) -> Self {
        let mut all = self.clone();
        all.is_discovering &= own.slots.is_empty();
        all.problems.extend(own.problems.iter().cloned());
        let is_new = |slot: &&EndpointSlot| self.find(slot.endpoint.name()).is_none();
        all.slots.extend(own.slots.iter().filter(is_new).cloned());
        all
    }

    /// Returns true if another set has the same endpoints and problems.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_slot = |(a, b): (&EndpointSlot, &EndpointSlot)| {
            Arc::ptr_eq(&a.endpoint, &b.endpoint) && a.hidden_models == b.hidden_models
        };
        self.slots.len() == other.slots.len()
            && self.problems == other.problems
            && self.slots.iter().zip(&other.slots).all(is_same_slot)
    }

    pub fn find(&self, name: &str) -> Option<&EndpointSlot> {
        self.slots.iter().find(|slot| slot.endpoint.name() == name)
    }

    /// Returns the names of the endpoints that another set does not have as they are here.
    fn names_missing_in(&self, other: &Self) -> BTreeSet<String> {
        let is_missing = |slot: &&EndpointSlot| {
            let other = other.find(slot.endpoint.name());
            !other.is_some_and(|other| Arc::ptr_eq(&other.endpoint, &slot.endpoint))
        };
        let missing = self.slots.iter().filter(is_missing);
        missing.map(|slot| slot.endpoint.name().to_owned()).collect()
    }
}

fn is_added(added: &[AddedEndpoint], name: &str) -> bool {
    added.iter().any(|added| added.config.name == name)
}

/// Returns true if two configurations send the same requests to the same server.
fn is_same_server(a: &EndpointConfig, b: &EndpointConfig) -> bool {
    let key = |config: &EndpointConfig| config.api_key.as_ref().map(|key| key.expose_secret().to_owned());
    let connection = |config: &EndpointConfig| (config.kind, config.base_url.clone(), config.is_guarded);
    connection(a) == connection(b) && a.models == b.models && key(a) == key(b)
}

impl Models {
    /// The endpoints: those with which a run began, or the present ones.
    pub(super) fn endpoints(&self) -> Arc<EndpointSet> {
        if let Some(pinned) = &self.pinned {
            return pinned.clone();
        }
        let common = self.inner.endpoints.read().clone();
        match self.own() {
            Some(own) => own.join(common),
            None => common,
        }
    }

    /// Returns true if the endpoint of this name is neither on this machine nor in its network.
    pub fn is_remote(&self, name: &str) -> bool {
        self.endpoints().find(name).is_some_and(|slot| slot.is_remote)
    }

    /// Returns these models with the endpoints of now, whatever is changed later.
    pub fn pinned(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            user_id: self.user_id,
            pinned: Some(self.endpoints()),
        }
    }

    /// Begins a change of the added endpoints. Lists wait until it is dropped, so that whoever is told of the change gets the new
    /// list.
    pub async fn begin_change(&self) -> EndpointChangeGuard {
        EndpointChangeGuard {
            models: self.clone(),
            _guard: self.inner.changing.clone().write_owned().await,
        }
    }
}

/// A change of the added endpoints. See [`Models::begin_change`].
#[derive(Debug)]
pub struct EndpointChangeGuard {
    pub(super) models: Models,
    _guard: tokio::sync::OwnedRwLockWriteGuard<()>,
}

impl EndpointChangeGuard {
    /// Replaces the added endpoints. Runs keep those with which they began. `problems` are those of endpoints that can't be used,
    /// whose names are in their messages.
    pub fn set_added(&self, added: Vec<AddedEndpoint>, problems: Vec<RunError>) {
        let inner = &self.models.inner;
        self.redact_keys(&added);
        let mut endpoints = inner.endpoints.write();
        let set = EndpointSet::with_added(&inner.fixed, added, problems, &endpoints);
        let gone = endpoints.names_missing_in(&set);
        *endpoints = Arc::new(set);
        drop(endpoints);
        if let Some(cached) = &mut *inner.cache.lock() {
            cached.forget(&gone);
        }
    }

    pub(super) fn redact_keys(&self, added: &[AddedEndpoint]) {
        for key in added.iter().filter_map(|added| added.config.api_key.as_ref()) {
            self.models.inner.secrets.add(key.expose_secret());
            redact_in_log(key.expose_secret());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(base_url: &str, hidden: &[&str]) -> AddedEndpoint {
        AddedEndpoint {
            config: EndpointConfig::new("e", base_url),
            hidden_models: hidden.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn another_server_of_a_name_has_its_own_windows() {
        let of = |added, old: &EndpointSet| {
            EndpointSet::with_added(&EndpointSet::default(), vec![added], vec![], old)
        };
        let first = of(added("http://127.0.0.1:1/v1", &[]), &EndpointSet::default());
        let hidden = of(added("http://127.0.0.1:1/v1", &["m"]), &first);
        let other = of(added("http://127.0.0.1:2/v1", &["m"]), &hidden);
        let windows = |set: &EndpointSet| set.slots[0].windows.clone();
        assert!(Arc::ptr_eq(&windows(&first), &windows(&hidden)));
        assert!(!Arc::ptr_eq(&windows(&hidden), &windows(&other)));
    }
}
