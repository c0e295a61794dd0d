//! The registry of all endpoints: their models, and the endpoint of a model's id.

mod activity;
mod capabilities;
mod endpoint_set;
mod images;
mod list_cache;
mod measured_call;
mod name_lookup;
mod own_endpoints;

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

pub use self::{
    activity::IdleEndpoint,
    endpoint_set::{AddedEndpoint, EndpointChangeGuard},
    images::ImageModel,
    own_endpoints::UserEndpoints,
};
use self::{
    activity::count_call,
    endpoint_set::{EndpointSet, EndpointSlot},
    list_cache::ModelListCache,
    own_endpoints::OwnEndpoints,
};
use super::{
    EndpointConfig, discovery,
    model_names::ModelMatch,
    tour::{self, Tour},
};
use parking_lot::{Mutex, RwLock};
use parlor_base::{metrics::Metrics, secrets::Secrets, settings::PromptLength};
use parlor_model::{Endpoint, ModelError, ModelErrorKind, ModelRequest, ModelStream};
use parlor_protocol::{Prices, RunError, UserId, model_list::ModelList};

/// The time that a page waits for a new list if there is an old one.
const STALE_LIST_TIMEOUT: Duration = Duration::from_millis(400);

/// The registry's configuration.
#[derive(Clone, Debug, Default)]
pub struct ModelsConfig {
    pub endpoints: Vec<EndpointConfig>,
    /// The name of the default model for new conversations.
    pub default_model: Option<String>,
    /// The prices of models in the settings, by their names there.
    pub prices: BTreeMap<String, Prices>,
    /// The endpoints to probe if `endpoints` is empty.
    pub candidates: Vec<EndpointConfig>,
    /// The secrets of all settings. Those of added endpoints are added to them.
    pub secrets: Arc<Secrets>,
    /// Parlor's own address, which is not a model server.
    pub own_address: Option<SocketAddr>,
    /// The figures of the server.
    pub metrics: Arc<Metrics>,
}

/// The models of all endpoints. Clones are cheap and share one list.
#[derive(Clone, Debug)]
pub struct Models {
    inner: Arc<Inner>,
    /// The user whose own endpoints are used besides those for all. They are looked up at each use: a change may be under way.
    user_id: Option<UserId>,
    /// The endpoints with which a run began; `None` for the present ones.
    pinned: Option<Arc<EndpointSet>>,
}

#[derive(Debug)]
struct Inner {
    /// The endpoints of the settings, or those that are searched without any.
    fixed: EndpointSet,
    /// The present endpoints.
    endpoints: RwLock<Arc<EndpointSet>>,
    /// The endpoints of users for themselves alone.
    own: RwLock<HashMap<UserId, Arc<OwnEndpoints>>>,
    default_model: Option<String>,
    prices: BTreeMap<String, Prices>,
    secrets: Arc<Secrets>,
    metrics: Arc<Metrics>,
    tour: EndpointSlot,
    cache: Mutex<Option<ModelListCache>>,
    /// Held during a refresh, so that only one runs at a time.
    refresh_lock: tokio::sync::Mutex<()>,
    /// Held while the added endpoints are changed.
    changing: Arc<tokio::sync::RwLock<()>>,
}

/// The error of a name that means no model, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownModel {
    /// The reason, in a sentence.
    pub message: String,
    /// The full names to choose from: the possible meanings, or all known models.
    pub models: Vec<String>,
    /// Another solution, in a sentence; may be empty.
    pub hint: String,
}

impl Models {
    /// Creates a registry without sending requests. Invalid settings are kept as problems of the list.
    pub fn new(config: ModelsConfig) -> Self {
        let is_discovering = config.endpoints.is_empty();
        let configs = match is_discovering {
            true => discovery::exclude_self(config.candidates, config.own_address),
            false => config.endpoints,
        };
        let fixed = EndpointSet::new(&configs, is_discovering);
        Self {
            inner: Arc::new(Inner {
                endpoints: RwLock::new(Arc::new(fixed.clone())),
                fixed,
                default_model: config.default_model,
                prices: config.prices,
                secrets: config.secrets,
                metrics: config.metrics,
                own: RwLock::default(),
                tour: EndpointSlot::of(Arc::new(Tour)),
                cache: Mutex::new(None),
                refresh_lock: tokio::sync::Mutex::new(()),
                changing: Arc::default(),
            }),
            user_id: None,
            pinned: None,
        }
    }

    /// Returns the secrets of all endpoints and settings, which are redacted in texts.
    pub fn secrets(&self) -> &Arc<Secrets> {
        &self.inner.secrets
    }

    /// Returns the list of models. All endpoints are asked concurrently, at most every few seconds. While
    /// they are slow, the previous list is returned.
    pub async fn list(&self) -> ModelList {
        let mut list = self.cached_list().await;
        self.add_capabilities(&mut list);
        list
    }

    /// Waits for a change of the added endpoints that is under way. Its event is published before its end.
    pub async fn wait_for_change(&self) {
        drop(self.inner.changing.read().await);
    }

    async fn cached_list(&self) -> ModelList {
        self.wait_for_change().await;
        let old = match self.cached() {
            Some(cached) if cached.is_fresh() => return cached.list,
            // A new endpoint must not be missing.
            cached => cached
                .filter(|cached| !cached.is_outdated)
                .map(|cached| cached.list),
        };
        // A task of its own: the response is kept even if the page is closed.
        let models = self.clone();
        let task = tokio::spawn(async move { models.refresh(ModelListCache::is_fresh).await });
        match old {
            None => task.await.unwrap_or_default(),
            Some(old) => match tokio::time::timeout(STALE_LIST_TIMEOUT, task).await {
                Ok(Ok(list)) => list,
                Ok(Err(_)) | Err(_) => old,
            },
        }
    }

    /// Resolves a model name to its full name, `endpoint/model`. Every name from outside passes through this
    /// function. An endpoint that can't list its models now may have any.
    ///
    /// # Errors
    ///
    /// If the name means no model, or several.
    pub async fn find(&self, name: &str) -> Result<String, UnknownModel> {
        if name == tour::MODEL_ID {
            return Ok(name.to_owned());
        }
        let known = self.cached();
        let is_fresh = known.as_ref().is_some_and(ModelListCache::is_fresh);
        match self.resolve_name_with(name, known.as_ref()) {
            ModelMatch::Listed(id) => return Ok(id),
            ModelMatch::Unlisted(id) if is_fresh || !self.lists_all(&id) => return Ok(id),
            _ => {}
        }
        // The model may have been added just now. For a slow endpoint the previous list counts.
        let models = self.clone();
        let task = tokio::spawn(async move { models.refresh(ModelListCache::is_recent).await });
        if known.is_some() {
            let _ = tokio::time::timeout(STALE_LIST_TIMEOUT, task).await;
        } else {
            let _ = task.await;
        }
        match self.resolve_name(name) {
            ModelMatch::Listed(id) | ModelMatch::Unlisted(id) => Ok(id),
            // The settings name it: its endpoint decides, as for a message that names no model.
            ModelMatch::NotListed { .. } if self.inner.default_model.as_deref() == Some(name) => {
                Ok(name.to_owned())
            }
            meaning => Err(self.unknown_model(name, meaning)),
        }
    }

    /// Returns the context window of a model in tokens, if it is known. An empty id means the default model.
    pub async fn context_window(&self, id: &str) -> Option<usize> {
        let (slot, model) = self.resolve_slot(id).ok()?;
        slot.windows.get(slot.endpoint, model).await
    }

    /// Returns true unless a model is known to take no tools. The answer is known once its
    /// [window](Self::context_window) is.
    pub fn takes_tools(&self, id: &str) -> bool {
        let resolved = self.resolve(id);
        resolved.map_or(true, |(endpoint, model)| endpoint.capabilities(&model).tools)
    }

    /// Returns the number of tools that one request to a model may have.
    pub fn max_tools(&self, id: &str) -> usize {
        let resolved = self.resolve(id);
        resolved.map_or(usize::MAX, |(endpoint, model)| endpoint.max_tools(&model))
    }

    /// Returns the names of tools that the server of a model has refused for it.
    pub fn refused_tools(&self, id: &str) -> Vec<String> {
        let resolved = self.resolve(id);
        resolved.map_or_else(|_| Vec::new(), |(endpoint, model)| endpoint.refused_tools(&model))
    }

    /// Returns the tools that model servers have refused, in words for the user.
    pub fn tool_problems(&self) -> Vec<RunError> {
        let endpoints = self.endpoints();
        let slots = endpoints.slots.iter();
        slots.flat_map(|slot| slot.endpoint.tool_problems()).collect()
    }

    /// Returns the length of the system prompt that the settings define for a model.
    pub fn prompt_length(&self, id: &str) -> PromptLength {
        let resolved = self.resolve(id);
        resolved.map_or(PromptLength::Auto, |(endpoint, _)| endpoint.prompt_length())
    }

    /// Starts to determine the context window of a model that will be called, in parallel with other
    /// preparations.
    pub fn prefetch_context_window(&self, id: &str) {
        if let Ok((slot, model)) = self.resolve_slot(id) {
            slot.windows.prefetch(slot.endpoint, model);
        }
    }

    /// Calls the model of a request. See [`Endpoint::call`].
    ///
    /// # Errors
    ///
    /// If there is no such model, or its server rejects the call.
    pub async fn call(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let (slot, model) = self.resolve_slot(&request.model)?;
        let call = self.measure_call(&slot, slot.endpoint.call(&model, request));
        count_call(&slot.activity, call).await
    }

    /// Returns the endpoint of a model and the endpoint's name of it. An empty id means the default model.
    ///
    /// # Errors
    ///
    /// If the id names no endpoint. Without an id, if there is no model at all: then the error has the
    /// reason.
    pub fn resolve(&self, id: &str) -> Result<(Arc<dyn Endpoint>, String), ModelError> {
        let (slot, model) = self.resolve_slot(id)?;
        Ok((slot.endpoint, model))
    }

    fn resolve_slot(&self, id: &str) -> Result<(EndpointSlot, String), ModelError> {
        let default = id.is_empty().then(|| self.default_id()).transpose()?;
        let id = default.as_deref().unwrap_or(id);
        if id == tour::MODEL_ID {
            return Ok((self.inner.tour.clone(), tour::MODEL.to_owned()));
        }
        // The target of a stored name must not depend on the lists of other endpoints, so its own endpoint
        // has precedence.
        if let Some(found) = self.split_id(id) {
            return Ok(found);
        }
        let meaning = self.resolve_name(id);
        if let ModelMatch::Listed(id) = &meaning
            && let Some(found) = self.split_id(id)
        {
            return Ok(found);
        }
        let name = id.split_once('/').map_or(id, |(name, _)| name);
        let endpoints = self.endpoints();
        let mut problems = endpoints.problems.iter();
        let problem = problems.find(|problem| problem.message.contains(&format!("“{name}”")));
        Err(refused_error(problem.cloned().unwrap_or_else(|| {
            let UnknownModel { message, .. } = self.unknown_model(id, meaning);
            RunError {
                code: "model_unknown".into(),
                message,
                hint: "Choose another model in the picker at the composer.".into(),
            }
        })))
    }

    /// Returns the default model.
    fn default_id(&self) -> Result<String, ModelError> {
        let list = self.cached().map(|cached| cached.list).unwrap_or_default();
        if let Some(id) = list.default.or_else(|| self.inner.default_model.clone()) {
            return Ok(id);
        }
        let problem = list
            .problems
            .into_iter()
            .map(RunError::from)
            .chain(self.endpoints().problems.clone())
            .next();
        Err(refused_error(problem.unwrap_or_else(|| RunError {
            code: "model_unknown".into(),
            message: "No model is chosen, and no endpoint offers one.".into(),
            hint: "Choose a model in the picker at the composer.".into(),
        })))
    }
}

fn check_endpoint_name(name: &str, is_taken: bool) -> Result<(), ModelError> {
    let what = match name {
        "" => "An endpoint in the settings has no name.".into(),
        tour::ENDPOINT => format!("An endpoint cannot have the name “{name}”: it is Parlor's own."),
        _ if name.contains('/') => format!("The endpoint “{name}” cannot have a “/” in its name."),
        _ if is_taken => format!("Two endpoints have the name “{name}”; the first one is used."),
        _ => return Ok(()),
    };
    let hint = "Give it another name in the settings and restart Parlor.".into();
    Err(refused_error(RunError {
        code: "settings_invalid".into(),
        message: what,
        hint,
    }))
}

/// Returns the name of the endpoint in a model's id.
pub fn endpoint_name(id: &str) -> &str {
    id.split_once('/').map_or(id, |(name, _)| name)
}

fn refused_error(error: RunError) -> ModelError {
    ModelError {
        error,
        kind: ModelErrorKind::Refused,
        reply: None,
    }
}
