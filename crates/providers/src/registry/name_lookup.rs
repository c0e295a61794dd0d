//! Name resolution in the registry, and the errors of unknown names.

use super::{Models, UnknownModel, endpoint_set::EndpointSlot, list_cache::ModelListCache};
use crate::{
    model_names::{KnownModels, ModelMatch, resolve_name},
    tour,
};
use parlor_protocol::RunError;

impl Models {
    /// Splits a full name into its endpoint and the rest.
    pub(super) fn split_id(&self, id: &str) -> Option<(EndpointSlot, String)> {
        let (name, model) = id.split_once('/').filter(|(_, model)| !model.is_empty())?;
        let endpoints = self.endpoints();
        let slot = endpoints.find(name)?;
        Some((slot.clone(), model.to_owned()))
    }

    /// Returns true if the endpoint of a full name serves no other models than the listed ones.
    pub(super) fn lists_all(&self, id: &str) -> bool {
        let name = id.split_once('/').map(|(name, _)| name);
        let endpoints = self.endpoints();
        name.and_then(|name| endpoints.find(name))
            .is_some_and(|slot| slot.lists_all_models)
    }

    /// Resolves a name with the models known now.
    pub(super) fn resolve_name(&self, name: &str) -> ModelMatch {
        self.resolve_name_with(name, self.cached().as_ref())
    }

    pub(super) fn resolve_name_with(&self, name: &str, cached: Option<&ModelListCache>) -> ModelMatch {
        let endpoints = self.endpoints();
        let slots = endpoints.slots.iter();
        let mut catalogues: Vec<KnownModels> = slots.map(|slot| slot.catalogue(cached)).collect();
        let tour = [tour::MODEL.to_owned()];
        if cached.is_some_and(|cached| cached.has_only_tour) {
            catalogues.push(KnownModels {
                endpoint: tour::ENDPOINT,
                listed: Some(&tour),
                is_complete: true,
            });
        }
        resolve_name(name, &catalogues)
    }

    pub(super) fn unknown_model(&self, name: &str, meaning: ModelMatch) -> UnknownModel {
        let known = || {
            let models = self.cached().map(|cached| cached.list.models);
            models.into_iter().flatten().map(|model| model.id).collect()
        };
        let (message, models, hint) = match meaning {
            ModelMatch::Ambiguous(ids) => (
                format!("Several endpoints have a model “{name}”."),
                ids,
                String::new(),
            ),
            ModelMatch::NotListed { endpoint } => (
                format!("The endpoint “{endpoint}” has no model “{name}”."),
                known(),
                format!(
                    "If “{endpoint}” takes names that it does not list, set lists_all_models = false for it."
                ),
            ),
            ModelMatch::Listed(_) | ModelMatch::Unlisted(_) | ModelMatch::Unknown => (
                format!("No endpoint in the settings offers the model “{name}”."),
                known(),
                self.silent_endpoints_hint(),
            ),
        };
        UnknownModel {
            message,
            models,
            hint,
        }
    }

    /// Returns the hint about endpoints that have not listed their models.
    fn silent_endpoints_hint(&self) -> String {
        let cached = self.cached();
        let has_listed = |slot: &EndpointSlot| slot.catalogue(cached.as_ref()).listed.is_some();
        let endpoints = self.endpoints();
        let silent = endpoints
            .slots
            .iter()
            .filter(|slot| !slot.is_candidate && !has_listed(slot));
        let silent: Vec<String> = silent
            .map(|slot| format!("{}/model", slot.endpoint.name()))
            .collect();
        match silent.is_empty() {
            true => String::new(),
            false => format!(
                "For endpoints that can't list their models now, give the full name: {}.",
                silent.join(", ")
            ),
        }
    }

    /// Returns the problem of an invalid default model.
    pub(super) fn invalid_default(&self, name: &str, meaning: ModelMatch) -> RunError {
        let is_ambiguous = matches!(meaning, ModelMatch::Ambiguous(_));
        let UnknownModel {
            message,
            models,
            hint,
        } = self.unknown_model(name, meaning);
        let others = match is_ambiguous {
            true => format!("Use one of these: {}.", models.join(", ")),
            false => hint,
        };
        RunError {
            code: "model_unknown".into(),
            message: format!("The default model can't be used. {message}"),
            hint: format!("Correct models.default (or PARLOR_MODEL) and restart Parlor. {others}")
                .trim_end()
                .to_owned(),
        }
    }
}

/// Returns the problem of a default model that its endpoint does not list.
pub(super) fn unlisted_default(name: &str, endpoint: &str) -> RunError {
    RunError {
        code: "model_unknown".into(),
        message: format!(
            "The endpoint “{endpoint}” does not list the default model “{name}”. It is asked for it all the same."
        ),
        hint: "If there is no such model, correct models.default (or PARLOR_MODEL) and restart Parlor."
            .into(),
    }
}

impl EndpointSlot {
    /// Returns the known models of the endpoint.
    fn catalogue<'a>(&'a self, cached: Option<&'a ModelListCache>) -> KnownModels<'a> {
        let endpoint = self.endpoint.name();
        let listed = cached.and_then(|cached| cached.by_endpoint.get(endpoint));
        let is_certain =
            cached.is_some_and(|cached| cached.is_fresh() && cached.answered_endpoints.contains(endpoint));
        KnownModels {
            endpoint,
            listed: listed.map(|listed| &*listed.ids),
            is_complete: self.lists_all_models && is_certain,
        }
    }
}
