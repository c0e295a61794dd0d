//! All endpoints there are: which models they offer, and which endpoint a model's id means.

mod name_lookup;

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    EndpointConfig,
    context_windows::ContextWindowCache,
    discovery,
    model_names::ModelMatch,
    openai::OpenAi,
    tour::{self, Tour},
};
use crate::{
    model::{Endpoint, ListedModels, ModelError, ModelErrorKind, ModelRequest, ModelStream},
    protocol::{RunError, model_list::ModelList},
    settings::PromptLength,
};

/// How long a list is taken for true.
const LIST_TTL: Duration = Duration::from_secs(30);
/// The same for one with problems, or with nothing but the tour: who mends that wants to see it.
const PROBLEM_LIST_TTL: Duration = Duration::from_secs(3);
/// Who names a model that is not in a list is believed to know of a new one, but not more often than this.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(3);
/// How long a page waits for a new list while there is an old one.
const STALE_LIST_TIMEOUT: Duration = Duration::from_millis(400);

/// What the registry is made from.
#[derive(Clone, Debug, Default)]
pub struct ModelsConfig {
    pub endpoints: Vec<EndpointConfig>,
    /// The name of the model that a new conversation starts with.
    pub default_model: Option<String>,
    /// Where to look while there are no `endpoints`.
    pub candidates: Vec<EndpointConfig>,
    /// Where Parlor itself listens: no model server.
    pub own_address: Option<SocketAddr>,
}

/// The models of all endpoints. Cheap to clone; the clones share one list.
#[derive(Clone, Debug)]
pub struct Models(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoints: Vec<EndpointSlot>,
    default_model: Option<String>,
    /// The endpoints were found, not set: then the tour stands in if there is none.
    is_discovering: bool,
    /// Settings that are no endpoints.
    config_problems: Vec<RunError>,
    tour: Arc<Tour>,
    windows: ContextWindowCache,
    cache: Mutex<Option<ModelListCache>>,
    /// Held while the endpoints are asked, so that they are asked once.
    refresh_lock: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct EndpointSlot {
    endpoint: Arc<dyn Endpoint>,
    /// Nobody has asked for it: it need not answer, but soon.
    is_candidate: bool,
    /// It answers for no other models than it lists.
    lists_all_models: bool,
}

/// A name that means no model, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownModel {
    /// The reason, in a sentence.
    pub why: String,
    /// The whole names to choose from: those that it may mean, else all that are known just now.
    pub models: Vec<String>,
    /// What else can be done, in a sentence; may be empty.
    pub hint: String,
}

#[derive(Clone, Debug)]
struct ModelListCache {
    fetched_at: Instant,
    list: ModelList,
    has_only_tour: bool,
    /// By endpoint, from when it last answered.
    by_endpoint: HashMap<String, ListedModels>,
    /// The endpoints that answered when this was made.
    answered_endpoints: HashSet<String>,
}

impl Models {
    /// Asks nothing yet. Settings that cannot be right are kept as problems of the list.
    pub fn new(config: ModelsConfig) -> Self {
        let discovers = config.endpoints.is_empty();
        let configs = match discovers {
            true => discovery::exclude_self(config.candidates, config.own_address),
            false => config.endpoints,
        };
        let mut places: Vec<EndpointSlot> = Vec::new();
        let mut misfits = Vec::new();
        for config in &configs {
            let is_taken = places.iter().any(|place| place.endpoint.name() == config.name);
            let endpoint = check_endpoint_name(&config.name, is_taken).and_then(|()| OpenAi::new(config));
            match endpoint {
                Ok(endpoint) => places.push(EndpointSlot {
                    endpoint: Arc::new(endpoint),
                    is_candidate: discovers,
                    lists_all_models: config.lists_all_models,
                }),
                Err(error) => misfits.push(error.error),
            }
        }
        Self(Arc::new(Inner {
            endpoints: places,
            default_model: config.default_model,
            is_discovering: discovers,
            config_problems: misfits,
            tour: Arc::new(Tour),
            windows: ContextWindowCache::default(),
            cache: Mutex::new(None),
            refresh_lock: tokio::sync::Mutex::new(()),
        }))
    }

    /// The models there are. All endpoints are asked at once, no more often than every few seconds; while they
    /// are slow the previous list is given.
    pub async fn list(&self) -> ModelList {
        let old = match self.0.cached() {
            Some(cached) if cached.is_fresh() => return cached.list,
            cached => cached.map(|cached| cached.list),
        };
        // A task of its own: the answer is kept even if the page that wanted it is gone.
        let inner = self.0.clone();
        let task = tokio::spawn(async move { inner.refresh(ModelListCache::is_fresh).await });
        match old {
            None => task.await.unwrap_or_default(),
            Some(old) => match tokio::time::timeout(STALE_LIST_TIMEOUT, task).await {
                Ok(Ok(list)) => list,
                Ok(Err(_)) | Err(_) => old,
            },
        }
    }

    /// Finds the model that somebody names, and returns its whole name, `endpoint/model`. Every name that comes from outside goes
    /// through this. An endpoint that can't list its models just now may have any.
    ///
    /// # Errors
    ///
    /// If the name means no model, or several.
    pub async fn find(&self, name: &str) -> Result<String, UnknownModel> {
        if name == tour::MODEL_ID {
            return Ok(name.to_owned());
        }
        let known = self.0.cached();
        let is_fresh = known.as_ref().is_some_and(ModelListCache::is_fresh);
        match self.0.resolve_name_with(name, known.as_ref()) {
            ModelMatch::Listed(id) => return Ok(id),
            ModelMatch::Unlisted(id) if is_fresh || !self.0.lists_all(&id) => return Ok(id),
            _ => {}
        }
        // It may have been added a moment ago. Of an endpoint that is slow it is the list before that counts.
        let inner = self.0.clone();
        let task = tokio::spawn(async move { inner.refresh(ModelListCache::is_recent).await });
        if known.is_some() {
            let _ = tokio::time::timeout(STALE_LIST_TIMEOUT, task).await;
        } else {
            let _ = task.await;
        }
        match self.0.resolve_name(name) {
            ModelMatch::Listed(id) | ModelMatch::Unlisted(id) => Ok(id),
            meaning => Err(self.0.unknown_model(name, meaning)),
        }
    }

    /// Whether a name that stands in the settings is that of this model.
    pub fn is_named(&self, id: &str, name: &str) -> bool {
        id == name || self.0.resolve_name(name) == ModelMatch::Listed(id.to_owned())
    }

    /// How many tokens a model can take, if that is known. An empty id means the default model.
    pub async fn context_window(&self, id: &str) -> Option<usize> {
        let (endpoint, model) = self.resolve(id).ok()?;
        self.0.windows.get(endpoint, model).await
    }

    /// Whether a model takes tools, as far as that is known once its [window](Self::context_window) is.
    pub fn takes_tools(&self, id: &str) -> bool {
        let resolved = self.resolve(id);
        resolved.map_or(true, |(endpoint, model)| endpoint.capabilities(&model).tools)
    }

    /// The system prompt that the settings want a model to be given.
    pub fn prompt_length(&self, id: &str) -> PromptLength {
        let resolved = self.resolve(id);
        resolved.map_or(PromptLength::Auto, |(endpoint, _)| endpoint.prompt_length())
    }

    /// A model will be called: how many tokens it can take is found out beside what has to be done before that.
    pub fn prefetch_context_window(&self, id: &str) {
        if let Ok((endpoint, model)) = self.resolve(id) {
            self.0.windows.prefetch(endpoint, model);
        }
    }

    /// Calls the model that a request names, as [`Endpoint::call`] does.
    ///
    /// # Errors
    ///
    /// If there is no such model, or its server does not take the call.
    pub async fn call(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let (endpoint, model) = self.resolve(&request.model)?;
        endpoint.call(&model, request).await
    }

    /// Who answers for a model, and the model's name there. An empty id means the default model.
    ///
    /// # Errors
    ///
    /// If no endpoint has the name that the id begins with; or, without an id, if there is no model at all: then
    /// the error is the reason why.
    pub fn resolve(&self, id: &str) -> Result<(Arc<dyn Endpoint>, String), ModelError> {
        let default = id.is_empty().then(|| self.0.default_id()).transpose()?;
        let id = default.as_deref().unwrap_or(id);
        if id == tour::MODEL_ID {
            return Ok((self.0.tour.clone(), tour::MODEL.to_owned()));
        }
        // Where a stored name leads must not depend on what other endpoints list: its endpoint comes first.
        if let Some(found) = self.0.split_id(id) {
            return Ok(found);
        }
        let meaning = self.0.resolve_name(id);
        if let ModelMatch::Listed(id) = &meaning
            && let Some(found) = self.0.split_id(id)
        {
            return Ok(found);
        }
        let name = id.split_once('/').map_or(id, |(name, _)| name);
        let mut misfits = self.0.config_problems.iter();
        let misfit = misfits.find(|misfit| misfit.message.contains(&format!("“{name}”")));
        Err(refused_error(misfit.cloned().unwrap_or_else(|| {
            let UnknownModel { why, .. } = self.0.unknown_model(id, meaning);
            RunError {
                code: "model_unknown".into(),
                message: why,
                hint: "Choose another model in the picker at the composer.".into(),
            }
        })))
    }
}

impl Inner {
    fn endpoint(&self, name: &str) -> Option<&EndpointSlot> {
        self.endpoints.iter().find(|place| place.endpoint.name() == name)
    }

    fn cached(&self) -> Option<ModelListCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks all endpoints, unless what is known will do.
    async fn refresh(&self, will_do: fn(&ModelListCache) -> bool) -> ModelList {
        let _asking = self.refresh_lock.lock().await;
        let old = match self.cached() {
            // Someone else has asked meanwhile.
            Some(cached) if will_do(&cached) => return cached.list,
            old => old,
        };
        let cached = self
            .fetch_lists(old.map(|old| old.by_endpoint).unwrap_or_default())
            .await;
        let list = cached.list.clone();
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Some(cached);
        list
    }

    async fn fetch_lists(&self, mut by_endpoint: HashMap<String, ListedModels>) -> ModelListCache {
        let answers = futures::future::join_all(self.endpoints.iter().map(EndpointSlot::models)).await;
        let mut list = ModelList {
            problems: self.config_problems.clone(),
            ..ModelList::default()
        };
        let mut answered = HashSet::new();
        for (place, answer) in self.endpoints.iter().zip(answers) {
            let name = place.endpoint.name().to_owned();
            match answer {
                Ok(models) => {
                    answered.insert(name.clone());
                    by_endpoint.insert(name, models);
                }
                Err(_) if place.is_candidate => drop(by_endpoint.remove(&name)),
                Err(error) => {
                    // One that is only down keeps its place in the picker.
                    if error.kind == ModelErrorKind::Refused {
                        by_endpoint.remove(&name);
                    }
                    list.problems.push(error.error);
                }
            }
            let listed = by_endpoint.get(place.endpoint.name());
            list.models
                .extend(listed.into_iter().flat_map(|listed| listed.selectable.clone()));
        }
        let only_tour = self.is_discovering && list.models.is_empty();
        if only_tour {
            list.models.push(tour::model_info());
        }
        let mut cached = ModelListCache {
            fetched_at: Instant::now(),
            list,
            has_only_tour: only_tour,
            by_endpoint,
            answered_endpoints: answered,
        };
        let first = cached.list.models.first().map(|model| model.id.clone());
        cached.list.default = match self.default_model.as_deref() {
            Some(name) => match self.resolve_name_with(name, Some(&cached)) {
                ModelMatch::Listed(id) | ModelMatch::Unlisted(id) => Some(id),
                _ if name == tour::MODEL_ID => Some(name.to_owned()),
                meaning => {
                    cached.list.problems.push(self.invalid_default(name, meaning));
                    // Another model would be a surprise: the name stays, and who sends to it is told.
                    Some(name.to_owned())
                }
            },
            None => first,
        };
        cached
    }

    /// The model to take when none is named.
    fn default_id(&self) -> Result<String, ModelError> {
        let list = self.cached().map(|cached| cached.list).unwrap_or_default();
        if let Some(id) = list.default.or_else(|| self.default_model.clone()) {
            return Ok(id);
        }
        let problem = list
            .problems
            .into_iter()
            .chain(self.config_problems.clone())
            .next();
        Err(refused_error(problem.unwrap_or_else(|| RunError {
            code: "model_unknown".into(),
            message: "No model is chosen, and no endpoint offers one.".into(),
            hint: "Choose a model in the picker at the composer.".into(),
        })))
    }
}

impl EndpointSlot {
    async fn models(&self) -> Result<ListedModels, ModelError> {
        if !self.is_candidate {
            return self.endpoint.models().await;
        }
        let answer = tokio::time::timeout(discovery::DISCOVERY_TIMEOUT, self.endpoint.models()).await;
        answer.unwrap_or_else(|_| Ok(ListedModels::default()))
    }
}

impl ModelListCache {
    /// So new that asking again would give the same: however often somebody asks for what is not there.
    fn is_recent(&self) -> bool {
        self.fetched_at.elapsed() < MIN_REFRESH_INTERVAL
    }

    fn is_fresh(&self) -> bool {
        let has_problems = self.has_only_tour || !self.list.problems.is_empty();
        self.fetched_at.elapsed() < if has_problems { PROBLEM_LIST_TTL } else { LIST_TTL }
    }
}

fn check_endpoint_name(name: &str, is_taken: bool) -> Result<(), ModelError> {
    let what = match name {
        "" => "An endpoint in the settings has no name.".into(),
        tour::ENDPOINT => format!("An endpoint cannot have the name “{name}”: it is Parlor's own."),
        _ if name.contains('/') => format!("The endpoint “{name}” cannot have a “/” in its name."),
        _ if is_taken => format!("Two endpoints have the name “{name}”; the first is taken."),
        _ => return Ok(()),
    };
    let hint = "Give it another name in the settings and restart Parlor.".into();
    Err(refused_error(RunError {
        code: "settings_invalid".into(),
        message: what,
        hint,
    }))
}

/// The name of the endpoint in a model's id.
pub fn endpoint_name(id: &str) -> &str {
    id.split_once('/').map_or(id, |(name, _)| name)
}

fn refused_error(error: RunError) -> ModelError {
    ModelError {
        error,
        kind: ModelErrorKind::Refused,
    }
}
