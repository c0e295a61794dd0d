//! The models of an endpoint: those of its list, or those of the settings, with their context windows.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    future::Future,
};

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use super::{
    EndpointConfig,
    model_list::{self, MAX_LIST_ENTRIES, MAX_OFFERED_MODELS, is_chat_model, model_info},
    transport::Api,
};
use crate::{
    model::{ListedModels, ModelError},
    settings::CONTEXT_WINDOW_RANGE,
};

/// A model in an endpoint's list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedModel {
    /// The endpoint's name of it.
    pub id: String,
    /// The name for people.
    pub name: Option<String>,
    /// The context window in tokens.
    pub window: Option<usize>,
    /// The maximum length of an answer in tokens.
    pub max_output: Option<u64>,
    /// The whole entry, for what only the adapter understands.
    pub entry: Value,
}

/// The models of one endpoint.
#[derive(Debug)]
pub struct Catalog {
    endpoint: String,
    /// The models in the settings; empty to request the list.
    configured: Vec<String>,
    window_of_all: Option<usize>,
    windows: BTreeMap<String, usize>,
    /// The models of the last list; `None` before the first one.
    listed: Mutex<Option<HashMap<String, ListedModel>>>,
    /// The tool support of all models, if the settings define it.
    tools_of_all: Option<bool>,
    /// Models whose template has no place for tools.
    without_tool_template: Mutex<HashSet<String>>,
}

impl Catalog {
    pub fn new(config: &EndpointConfig) -> Self {
        Self {
            endpoint: config.name.clone(),
            configured: config.models.clone(),
            window_of_all: config.context_window,
            windows: config.context_windows.clone(),
            listed: Mutex::default(),
            tools_of_all: config.takes_tools,
            without_tool_template: Mutex::default(),
        }
    }

    /// Returns the models of the settings, or requests the list. Its order is kept.
    ///
    /// # Errors
    ///
    /// If the list can't be read.
    pub async fn models(
        &self,
        list: impl Future<Output = Result<Vec<ListedModel>, ModelError>>,
    ) -> Result<ListedModels, ModelError> {
        if !self.configured.is_empty() {
            return Ok(model_list::from_names(&self.endpoint, &self.configured));
        }
        let listed = list.await?;
        let mut models = ListedModels {
            selectable: Vec::new(),
            ids: listed.iter().map(|model| model.id.clone()).collect(),
        };
        let has_chat_models = listed.iter().any(|model| is_chat_model(&model.id));
        models.selectable = listed
            .iter()
            .filter(|model| !has_chat_models || is_chat_model(&model.id))
            .take(MAX_OFFERED_MODELS)
            .map(|model| model_info(&self.endpoint, &model.id, model.name.as_deref()))
            .collect();
        self.remember(listed);
        Ok(models)
    }

    /// Returns the context window of a model: from the settings, from a local server, or from the list, which
    /// is requested unless it is known. Also learns from a local server whether the model takes tools.
    pub async fn context_window(
        &self,
        model: &str,
        api: &Api,
        list: impl Future<Output = Result<Vec<ListedModel>, ModelError>>,
    ) -> Option<usize> {
        let set = self.windows.get(model).copied().or(self.window_of_all);
        if set.is_some() && self.tools_of_all.is_some() {
            return set;
        }
        let is_unknown = self.lock_listed().is_none();
        if set.is_none()
            && self.configured.is_empty()
            && is_unknown
            && let Ok(listed) = list.await
        {
            self.remember(listed);
        }
        let probed = api.probe(model, set.is_none()).await;
        match probed.takes_tools {
            Some(false) => self.without_tool_template.lock().insert(model.to_owned()),
            // The server may have been restarted with another model of that name.
            Some(true) => self.without_tool_template.lock().remove(model),
            None => false,
        };
        let listed = || self.find(model)?.window;
        let found = set.or(probed.window).or_else(listed);
        found.filter(|window| CONTEXT_WINDOW_RANGE.contains(window))
    }

    /// Returns true if a model takes tools, as far as the settings or its template say.
    pub fn takes_tools(&self, model: &str) -> bool {
        self.tools_of_all
            .unwrap_or_else(|| !self.without_tool_template.lock().contains(model))
    }

    /// Returns a model of the last list.
    pub fn find(&self, model: &str) -> Option<ListedModel> {
        self.lock_listed().as_ref()?.get(model).cloned()
    }

    fn remember(&self, listed: Vec<ListedModel>) {
        let by_id = listed.into_iter().map(|model| (model.id.clone(), model));
        *self.lock_listed() = Some(by_id.collect());
    }

    fn lock_listed(&self) -> MutexGuard<'_, Option<HashMap<String, ListedModel>>> {
        self.listed.lock()
    }
}

/// Returns the entries of all pages of a list, in `field`, as `read` understands them.
pub fn read_entries(
    pages: Vec<Value>,
    field: &str,
    read: impl Fn(&Value) -> Option<ListedModel>,
) -> Option<Vec<ListedModel>> {
    let mut models: Vec<ListedModel> = Vec::new();
    for page in pages {
        let entries = page.get(field)?.as_array()?;
        for entry in entries {
            let known = |model: &ListedModel| models.iter().any(|known| known.id == model.id);
            if models.len() < MAX_LIST_ENTRIES
                && let Some(model) = read(entry).filter(|model| !known(model))
            {
                models.push(model);
            }
        }
    }
    Some(models)
}

/// Returns a count of tokens in an entry of a list.
pub fn token_count(entry: &Value, field: &str) -> Option<u64> {
    entry
        .get(field)
        .and_then(Value::as_u64)
        .filter(|count| *count > 0)
}
