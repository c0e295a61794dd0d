//! The models of an endpoint: those of its list, or those of the settings, and their capabilities.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
};

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use super::{
    EndpointConfig,
    known_models::known_capabilities,
    local_probe::ModelProbe,
    model_list::{MAX_LIST_ENTRIES, MAX_OFFERED_MODELS, model_info, offered_models, parse_count},
};
use parlor_base::settings::CONTEXT_WINDOW_RANGE;
use parlor_model::{ListedModels, ModelError};
use parlor_protocol::{ModelCapabilities, ThinkingLevel};

/// A model in an endpoint's list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedModel {
    /// The endpoint's name of it.
    pub id: String,
    /// The name for people.
    pub name: Option<String>,
    /// The capabilities that the list states.
    pub capabilities: ModelCapabilities,
}

/// The models of one endpoint.
#[derive(Debug)]
pub struct Catalog {
    endpoint: String,
    /// The models in the settings; empty to request the list.
    configured: Vec<String>,
    /// The capabilities of all models in the settings.
    of_all: ModelCapabilities,
    /// The capabilities of single models in the settings.
    of_models: BTreeMap<String, ModelCapabilities>,
    /// The last list; `None` before the first one.
    listed: Mutex<Option<HashMap<String, ModelCapabilities>>>,
    /// The answers of local servers about single models.
    probed: Mutex<HashMap<String, ModelProbe>>,
}

impl Catalog {
    pub fn new(config: &EndpointConfig) -> Self {
        let mut of_models = config.capabilities.clone();
        for (model, window) in &config.context_windows {
            of_models.entry(model.clone()).or_default().context_window = Some(*window);
        }
        Self {
            endpoint: config.name.clone(),
            configured: config.models.clone(),
            of_all: ModelCapabilities {
                tool_use: config.takes_tools,
                context_window: config.context_window,
                ..ModelCapabilities::default()
            },
            of_models,
            listed: Mutex::default(),
            probed: Mutex::default(),
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
            let models = self.configured.iter();
            return Ok(ListedModels {
                selectable: models
                    .map(|model| model_info(&self.endpoint, model, None))
                    .collect(),
                ids: self.configured.clone(),
            });
        }
        let listed = list.await?;
        let is_offered = offered_models(&listed);
        let models = ListedModels {
            selectable: listed
                .iter()
                .filter(|model| is_offered(&model.id))
                .take(MAX_OFFERED_MODELS)
                .map(|model| model_info(&self.endpoint, &model.id, model.name.as_deref()))
                .collect(),
            ids: listed.iter().map(|model| model.id.clone()).collect(),
        };
        self.remember(listed);
        Ok(models)
    }

    /// Returns the known capabilities of a model: the settings come first, then a local server's report, then the list,
    /// then the table of known models.
    pub fn capabilities(&self, model: &str) -> ModelCapabilities {
        let probed = || Some(self.probed.lock().get(model)?.capabilities.clone());
        let listed = || self.lock_listed().as_ref()?.get(model).cloned();
        let mut found = self
            .set_capabilities(model)
            .or(probed().unwrap_or_default())
            .or(listed().unwrap_or_default())
            .or(known_capabilities(model));
        found.context_window = found
            .context_window
            .filter(|window| CONTEXT_WINDOW_RANGE.contains(window));
        found
    }

    /// Returns the context window of a model. The list is requested unless it is known, and a local server is
    /// probed for all that it says of the model, with `true` if it should look for the window.
    pub async fn context_window<P: Future<Output = ModelProbe>>(
        &self,
        model: &str,
        probe: impl FnOnce(bool) -> P,
        list: impl Future<Output = Result<Vec<ListedModel>, ModelError>>,
    ) -> Option<usize> {
        let set = self.set_capabilities(model);
        let is_window_unknown = set.context_window.is_none();
        // A local server also says how thinking is turned off.
        let thinking = self.capabilities(model).thinking;
        let is_switch = thinking.is_some_and(|thinking| thinking.levels.contains(&ThinkingLevel::On));
        if !is_window_unknown && set.tool_use.is_some() && !is_switch {
            return set.context_window;
        }
        let is_list_unknown = self.lock_listed().is_none();
        if is_window_unknown
            && self.configured.is_empty()
            && is_list_unknown
            && let Ok(listed) = list.await
        {
            self.remember(listed);
        }
        let probed = probe(is_window_unknown).await;
        // The server may have been restarted with another model of that name. No answer says nothing.
        if probed != ModelProbe::default() {
            self.probed.lock().insert(model.to_owned(), probed);
        }
        self.capabilities(model).context_window
    }

    /// Returns true unless a model is known to take no tools.
    pub fn takes_tools(&self, model: &str) -> bool {
        self.capabilities(model).tool_use.unwrap_or(true)
    }

    /// Returns true if a local server turns the thinking of a model on and off in its chat template.
    pub fn has_template_switch(&self, model: &str) -> bool {
        let probed = self.probed.lock();
        probed.get(model).is_some_and(|probed| probed.has_template_switch)
    }

    fn set_capabilities(&self, model: &str) -> ModelCapabilities {
        let own = self.of_models.get(model).cloned();
        own.unwrap_or_default().or(self.of_all.clone())
    }

    fn remember(&self, listed: Vec<ListedModel>) {
        let by_id = listed.into_iter().map(|model| (model.id, model.capabilities));
        *self.lock_listed() = Some(by_id.collect());
    }

    fn lock_listed(&self) -> MutexGuard<'_, Option<HashMap<String, ModelCapabilities>>> {
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
pub fn token_count(entry: &Value, field: &str) -> Option<usize> {
    let count = parse_count(entry.get(field)?)?;
    Some(count).filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model_list::read_models;
    use parlor_protocol::ThinkingSupport;

    fn probe(window: usize) -> ModelProbe {
        ModelProbe {
            capabilities: ModelCapabilities {
                context_window: Some(window),
                tool_use: Some(false),
                ..ModelCapabilities::default()
            },
            has_template_switch: true,
        }
    }

    #[tokio::test]
    async fn settings_win_over_server_list_and_table() {
        let no_probe = |_| async { ModelProbe::default() };
        let list = || async { Ok(read_models(&json!([{ "id": "gpt-5", "context_length": 9000 }])).unwrap()) };
        let mut config = EndpointConfig::new("e", "http://x/v1");
        let catalog = Catalog::new(&config);
        let known = catalog.capabilities("gpt-5");
        assert_eq!(
            (known.context_window, known.image_input),
            (Some(400_000), Some(true))
        );
        assert_eq!(
            catalog.context_window("gpt-5", no_probe, list()).await,
            Some(9000)
        );
        let probed = catalog.context_window("gpt-5", |_| async { probe(4096) }, list());
        assert_eq!(probed.await, Some(4096));
        assert!(!catalog.takes_tools("gpt-5") && catalog.has_template_switch("gpt-5"));
        // A server that is down now keeps what it said.
        assert_eq!(
            catalog.context_window("gpt-5", no_probe, list()).await,
            Some(4096)
        );

        config.context_window = Some(1000);
        config.context_windows = [("big".to_owned(), 5000)].into();
        let no_thinking = ModelCapabilities {
            thinking: Some(ThinkingSupport::NONE),
            ..ModelCapabilities::default()
        };
        config.capabilities = [("gpt-5".to_owned(), no_thinking)].into();
        let catalog = Catalog::new(&config);
        let window = |model: &str| catalog.capabilities(model).context_window;
        assert_eq!((window("any"), window("big")), (Some(1000), Some(5000)));
        let probed = catalog.context_window("gpt-5", |_| async { probe(4096) }, list());
        assert_eq!(probed.await, Some(1000));
        let found = catalog.capabilities("gpt-5");
        assert_eq!(found.thinking, Some(ThinkingSupport::NONE));
        assert_eq!(found.pdf_input, Some(true), "the rest is from the table");
    }
}
