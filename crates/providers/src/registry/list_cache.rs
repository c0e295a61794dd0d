//! The list of all endpoints' models, and its refresh.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{
    super::{discovery, model_names::ModelMatch, tour},
    Models,
    endpoint_set::{EndpointSet, EndpointSlot},
    name_lookup::unlisted_default,
};
use parlor_model::{ListedModels, ModelError, ModelErrorKind};
use parlor_protocol::{
    ModelCapabilities,
    model_list::{ModelInfo, ModelList, ModelListProblem},
};

/// The lifetime of a model list.
const LIST_TTL: Duration = Duration::from_secs(30);
/// The lifetime of a list with problems or with the tour only, so that a fix is seen soon.
const PROBLEM_LIST_TTL: Duration = Duration::from_secs(3);
/// The minimum interval between refreshes that are caused by unknown model names.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(3);

/// The models of all endpoints as of one refresh.
#[derive(Clone, Debug)]
pub(super) struct ModelListCache {
    fetched_at: Instant,
    pub list: ModelList,
    pub has_only_tour: bool,
    /// The last known lists by endpoint.
    pub by_endpoint: HashMap<String, ListedModels>,
    /// The endpoints that gave a list in the last refresh.
    pub answered_endpoints: HashSet<String>,
    /// True if endpoints have changed since.
    pub is_outdated: bool,
}

impl Models {
    pub(super) fn cached(&self) -> Option<ModelListCache> {
        let common = self.inner.cache.lock().clone();
        match self.own() {
            None => common,
            Some(own) => Some(common?.joined(own.cached()?)),
        }
    }

    /// Refreshes the lists of the endpoints for all, unless the cached ones are accepted by `is_acceptable`.
    pub(super) async fn refresh_common(&self, is_acceptable: fn(&ModelListCache) -> bool) -> ModelList {
        let _guard = self.inner.refresh_lock.lock().await;
        loop {
            let old = match self.cached() {
                // Another caller has refreshed it meanwhile.
                Some(cached) if is_acceptable(&cached) => return cached.list,
                old => old,
            };
            let endpoints = self.inner.endpoints.read().clone();
            let by_endpoint = old.map(|old| old.by_endpoint).unwrap_or_default();
            let mut cached = self.fetch_lists(&endpoints, by_endpoint).await;
            self.choose_default(&mut cached);
            let list = cached.list.clone();
            let mut cache = self.inner.cache.lock();
            // Endpoints that were changed meanwhile are asked again: few people change them, one after the other.
            if Arc::ptr_eq(&endpoints, &self.inner.endpoints.read()) {
                *cache = Some(cached);
                return list;
            }
        }
    }

    /// Asks endpoints for their models.
    pub(super) async fn fetch_lists(
        &self,
        endpoints: &EndpointSet,
        mut by_endpoint: HashMap<String, ListedModels>,
    ) -> ModelListCache {
        let results = futures::future::join_all(endpoints.slots.iter().map(EndpointSlot::models)).await;
        let mut list = ModelList {
            problems: endpoints.problems.iter().cloned().map(Into::into).collect(),
            ..ModelList::default()
        };
        let mut answered = HashSet::new();
        for (slot, result) in endpoints.slots.iter().zip(results) {
            let name = slot.endpoint.name().to_owned();
            match result {
                Ok(models) => {
                    answered.insert(name.clone());
                    by_endpoint.insert(name, models);
                }
                Err(_) if slot.is_candidate => drop(by_endpoint.remove(&name)),
                Err(error) => {
                    // An endpoint that is only down keeps its models in the picker.
                    if error.kind == ModelErrorKind::Refused {
                        by_endpoint.remove(&name);
                    }
                    list.problems
                        .push(ModelListProblem::of_endpoint(&name, error.error));
                }
            }
            let listed = by_endpoint.get(slot.endpoint.name());
            let offered = listed.into_iter().flat_map(|listed| &listed.selectable);
            let offered = offered.filter(|model| !slot.hides(&model.id));
            list.models.extend(offered.cloned());
        }
        let only_tour = endpoints.is_discovering && list.models.is_empty();
        if only_tour {
            list.models.push(tour::model_info());
        }
        ModelListCache {
            fetched_at: Instant::now(),
            list,
            has_only_tour: only_tour,
            by_endpoint,
            answered_endpoints: answered,
            is_outdated: false,
        }
    }

    /// Chooses the model that new conversations begin with: the one of the settings, or the first one.
    fn choose_default(&self, cached: &mut ModelListCache) {
        let first = cached.list.models.first().map(|model| model.id.clone());
        cached.list.default = match self.inner.default_model.as_deref() {
            Some(name) => match self.resolve_name_with(name, Some(cached)) {
                ModelMatch::Listed(id) | ModelMatch::Unlisted(id) => Some(id),
                _ if name == tour::MODEL_ID => Some(name.to_owned()),
                ModelMatch::NotListed { endpoint } => {
                    let problem = unlisted_default(name, &endpoint);
                    cached
                        .list
                        .problems
                        .push(ModelListProblem::of_endpoint(&endpoint, problem));
                    cached.list.models.push(unlisted_model(name, endpoint));
                    Some(name.to_owned())
                }
                meaning => {
                    let problem = self.invalid_default(name, meaning);
                    cached.list.problems.push(problem.into());
                    // A silent replacement would be a surprise: the name stays, and sending a message reports
                    // the problem.
                    Some(name.to_owned())
                }
            },
            None => first,
        };
    }
}

/// Returns a model that its endpoint does not list.
fn unlisted_model(id: &str, endpoint: String) -> ModelInfo {
    ModelInfo {
        id: id.to_owned(),
        name: id.split_once('/').map_or(id, |(_, model)| model).to_owned(),
        endpoint,
        capabilities: ModelCapabilities::default(),
    }
}

impl EndpointSlot {
    /// Returns true if a model with this full name is not offered.
    fn hides(&self, id: &str) -> bool {
        let name = id.split_once('/').map_or(id, |(_, name)| name);
        self.hidden_models.contains(name)
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        if !self.is_candidate {
            return self.endpoint.models().await;
        }
        let models = tokio::time::timeout(discovery::DISCOVERY_TIMEOUT, self.endpoint.models()).await;
        models.unwrap_or_else(|_| Ok(ListedModels::default()))
    }
}

impl ModelListCache {
    /// Returns true if the list is too new to refresh for an unknown name.
    pub fn is_recent(&self) -> bool {
        !self.is_outdated && self.fetched_at.elapsed() < MIN_REFRESH_INTERVAL
    }

    pub fn is_fresh(&self) -> bool {
        let has_problems = self.has_only_tour || !self.list.problems.is_empty();
        let lifetime = if has_problems { PROBLEM_LIST_TTL } else { LIST_TTL };
        !self.is_outdated && self.fetched_at.elapsed() < lifetime
    }

    /// Adds the lists of a user's own endpoints.
    fn joined(mut self, own: Self) -> Self {
        if self.has_only_tour && !own.list.models.is_empty() {
            self.has_only_tour = false;
            self.list.models.clear();
            self.list.default = None;
        }
        self.fetched_at = self.fetched_at.min(own.fetched_at);
        self.list.models.extend(own.list.models);
        self.list.problems.extend(own.list.problems);
        let first = || Some(self.list.models.first()?.id.clone());
        self.list.default = self.list.default.take().or_else(first);
        self.by_endpoint.extend(own.by_endpoint);
        self.answered_endpoints.extend(own.answered_endpoints);
        self
    }

    /// Forgets endpoints that were changed or removed. The list is fetched again before it is used.
    pub fn forget(&mut self, names: &BTreeSet<String>) {
        self.is_outdated = true;
        self.by_endpoint.retain(|name, _| !names.contains(name));
        self.answered_endpoints.retain(|name| !names.contains(name));
        self.list.models.retain(|model| !names.contains(&model.endpoint));
    }
}
