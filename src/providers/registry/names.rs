//! What names of models mean to the registry, and what somebody is told whose name means none.

use std::sync::Arc;

use super::{Cached, Inner, Place, UnknownModel};
use crate::{
    model::Endpoint,
    protocol::RunError,
    providers::{
        naming::{Catalogue, Meaning, meaning},
        tour,
    },
};

impl Inner {
    /// The endpoint that a whole name begins with, and the rest of it.
    pub(super) fn split(&self, id: &str) -> Option<(Arc<dyn Endpoint>, String)> {
        let (name, model) = id.split_once('/').filter(|(_, model)| !model.is_empty())?;
        let place = self.place(name)?;
        Some((place.endpoint.clone(), model.to_owned()))
    }

    /// Whether the endpoint of a whole name has no other models than it lists.
    pub(super) fn lists_all(&self, id: &str) -> bool {
        let name = id.split_once('/').map(|(name, _)| name);
        name.and_then(|name| self.place(name))
            .is_some_and(|place| place.lists_all)
    }

    /// What a name means, as far as the endpoints have said by now.
    pub(super) fn meaning(&self, name: &str) -> Meaning {
        self.meaning_by(name, self.cached().as_ref())
    }

    pub(super) fn meaning_by(&self, name: &str, cached: Option<&Cached>) -> Meaning {
        let mut catalogues: Vec<Catalogue> =
            self.places.iter().map(|place| place.catalogue(cached)).collect();
        let tour = [tour::MODEL.to_owned()];
        if cached.is_some_and(|cached| cached.only_tour) {
            catalogues.push(Catalogue {
                endpoint: tour::ENDPOINT,
                listed: Some(&tour),
                is_whole: true,
            });
        }
        meaning(name, &catalogues)
    }

    pub(super) fn unknown(&self, name: &str, meaning: Meaning) -> UnknownModel {
        let known = || {
            let models = self.cached().map(|cached| cached.list.models);
            models.into_iter().flatten().map(|model| model.id).collect()
        };
        let (why, models, hint) = match meaning {
            Meaning::Ambiguous(ids) => (
                format!("Several endpoints have a model “{name}”."),
                ids,
                String::new(),
            ),
            Meaning::NotListed { endpoint } => (
                format!("The endpoint “{endpoint}” has no model “{name}”."),
                known(),
                format!(
                    "If “{endpoint}” takes names that it does not list, set lists_all_models = false for it."
                ),
            ),
            Meaning::Listed(_) | Meaning::Possible(_) | Meaning::Unknown => (
                format!("No endpoint in the settings offers the model “{name}”."),
                known(),
                self.silent_ones(),
            ),
        };
        UnknownModel { why, models, hint }
    }

    /// What to do about endpoints that have not said which models they have.
    fn silent_ones(&self) -> String {
        let cached = self.cached();
        let has_listed = |place: &Place| place.catalogue(cached.as_ref()).listed.is_some();
        let silent = self
            .places
            .iter()
            .filter(|place| !place.is_candidate && !has_listed(place));
        let silent: Vec<String> = silent
            .map(|place| format!("{}/model", place.endpoint.name()))
            .collect();
        match silent.is_empty() {
            true => String::new(),
            false => format!(
                "Models of endpoints that can't list them now are named with the endpoint: {}.",
                silent.join(", ")
            ),
        }
    }

    /// The problem of a default model that is none.
    pub(super) fn no_default(&self, name: &str, meaning: Meaning) -> RunError {
        let is_ambiguous = matches!(meaning, Meaning::Ambiguous(_));
        let UnknownModel { why, models, hint } = self.unknown(name, meaning);
        let others = match is_ambiguous {
            true => format!("Name one of these: {}.", models.join(", ")),
            false => hint,
        };
        RunError {
            code: "model_unknown".into(),
            message: format!("The default model can't be used. {why}"),
            hint: format!("Correct models.default (or PARLOR_MODEL) and restart Parlor. {others}")
                .trim_end()
                .to_owned(),
        }
    }
}

impl Place {
    /// What is known of its models.
    fn catalogue<'a>(&'a self, cached: Option<&'a Cached>) -> Catalogue<'a> {
        let endpoint = self.endpoint.name();
        let listed = cached.and_then(|cached| cached.by_endpoint.get(endpoint));
        let is_certain = cached.is_some_and(|cached| cached.is_fresh() && cached.answered.contains(endpoint));
        Catalogue {
            endpoint,
            listed: listed.map(|listed| &*listed.ids),
            is_whole: self.lists_all && is_certain,
        }
    }
}
