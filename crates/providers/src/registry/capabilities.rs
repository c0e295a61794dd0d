//! The capabilities of models, with the prices of the settings, and parameters that a model takes.

use std::collections::HashMap;

use super::{super::model_names::ModelMatch, Models};
use parlor_protocol::{ModelCapabilities, Parameters, Prices, model_list::ModelList};

impl Models {
    /// Returns the capabilities of a model that are known now, with the prices of the settings.
    pub fn capabilities(&self, id: &str) -> ModelCapabilities {
        let Ok((endpoint, model)) = self.resolve(id) else {
            return ModelCapabilities::default();
        };
        let id = format!("{}/{model}", endpoint.name());
        with_prices(endpoint.model_capabilities(&model), self.prices_by_id().get(&id))
    }

    /// Returns parameters that a model takes: its thinking is set to the closest choice.
    pub fn adapt_parameters(&self, id: &str, parameters: &Parameters) -> Parameters {
        let mut adapted = parameters.clone();
        if let (Some(choice), Some(thinking)) = (parameters.thinking(), self.capabilities(id).thinking) {
            adapted.set_thinking(thinking.closest(choice));
        }
        adapted
    }

    /// Adds the known capabilities and the prices to the models of a list.
    pub(super) fn add_capabilities(&self, list: &mut ModelList) {
        let prices = self.prices_by_id();
        for model in &mut list.models {
            if let Some((slot, name)) = self.split_id(&model.id) {
                let capabilities = slot.endpoint.model_capabilities(&name);
                model.capabilities = with_prices(capabilities, prices.get(&model.id));
            }
        }
    }

    /// Returns the prices of the settings by the ids of the models that their names mean.
    fn prices_by_id(&self) -> HashMap<String, Prices> {
        let mut by_id = HashMap::new();
        if self.inner.prices.is_empty() {
            return by_id;
        }
        let cached = self.cached();
        for (name, prices) in &self.inner.prices {
            if let ModelMatch::Listed(id) = self.resolve_name_with(name, cached.as_ref()) {
                by_id.entry(id).or_insert(*prices);
            }
        }
        // A full name wins over a plain one, and needs no list.
        by_id.extend(
            self.inner
                .prices
                .iter()
                .map(|(name, prices)| (name.clone(), *prices)),
        );
        by_id
    }
}

/// Returns capabilities with the prices of the settings, if there are any.
fn with_prices(capabilities: ModelCapabilities, prices: Option<&Prices>) -> ModelCapabilities {
    ModelCapabilities {
        prices: prices.copied().or(capabilities.prices),
        ..capabilities
    }
}
