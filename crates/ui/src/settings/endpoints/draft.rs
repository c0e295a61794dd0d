//! The model server, or the key, that is being added or changed.

use std::collections::BTreeSet;

use leptos::prelude::*;

use super::presets::Preset;
use parlor_protocol::{
    EndpointId, EndpointKey, EndpointKeyState, EndpointKind, EndpointProblemCode, EndpointTestResult,
    EndpointUpdate, EndpointView, NewEndpoint, NewOwnKey, OfferedService, OwnKeyUpdate,
};

/// A model server that is being added or changed.
#[derive(Clone, Copy)]
pub struct Draft {
    /// Made when the form opens, so that a repeated request adds one.
    pub id: EndpointId,
    /// True for one that is stored.
    pub is_stored: bool,
    /// True if it has a key that stays if none is entered.
    pub has_key: bool,
    /// The tile that it was begun with.
    pub preset: Option<&'static Preset>,
    /// The service of a user's own key; `None` for a model server for all.
    pub service: RwSignal<Option<OfferedService>>,
    pub name: RwSignal<String>,
    pub kind: RwSignal<EndpointKind>,
    pub base_url: RwSignal<String>,
    pub key: RwSignal<String>,
    /// The names of models, a line each, if the server has no list.
    pub models: RwSignal<String>,
    pub hidden_models: RwSignal<BTreeSet<String>>,
    pub takes_own_keys: RwSignal<bool>,
    pub query: RwSignal<String>,
    pub tested: RwSignal<Option<EndpointTestResult>>,
    pub is_testing: RwSignal<bool>,
    pub is_saving: RwSignal<bool>,
    pub error: RwSignal<Option<String>>,
}

impl Draft {
    pub(super) fn new(id: EndpointId) -> Self {
        Self {
            id,
            is_stored: false,
            has_key: false,
            preset: None,
            service: RwSignal::default(),
            name: RwSignal::default(),
            kind: RwSignal::default(),
            base_url: RwSignal::default(),
            key: RwSignal::default(),
            models: RwSignal::default(),
            hidden_models: RwSignal::default(),
            takes_own_keys: RwSignal::new(false),
            query: RwSignal::default(),
            tested: RwSignal::default(),
            is_testing: RwSignal::new(false),
            is_saving: RwSignal::new(false),
            error: RwSignal::default(),
        }
    }

    pub(super) fn from_preset(preset: &'static Preset) -> Self {
        let draft = Self {
            preset: Some(preset),
            ..Self::new(EndpointId::new())
        };
        draft.name.set(preset.name.into());
        draft.kind.set(preset.kind);
        draft.base_url.set(preset.base_url.into());
        draft
    }

    pub(super) fn from_stored(endpoint: &EndpointView) -> Option<Self> {
        let draft = Self {
            is_stored: true,
            has_key: endpoint.key == EndpointKeyState::Set,
            ..Self::new(endpoint.id?)
        };
        draft.name.set(endpoint.name.clone());
        draft.kind.set(endpoint.kind);
        draft.base_url.set(endpoint.base_url.clone());
        draft.models.set(endpoint.models.join("\n"));
        draft.takes_own_keys.set(endpoint.takes_own_keys);
        draft
            .hidden_models
            .set(endpoint.hidden_models.iter().cloned().collect());
        Some(draft)
    }

    pub(super) fn entered_key(self) -> Option<EndpointKey> {
        let key = self.key.get_untracked();
        (!key.trim().is_empty()).then_some(EndpointKey(key))
    }

    pub(super) fn named_models(self) -> Vec<String> {
        let models = self.models.get_untracked();
        let lines = models.lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    pub(super) fn to_new(self) -> NewEndpoint {
        NewEndpoint {
            id: self.id,
            name: self.name.get_untracked(),
            kind: self.kind.get_untracked(),
            base_url: self.base_url.get_untracked(),
            key: self.entered_key(),
            models: self.named_models(),
            hidden_models: self.hidden_models.get_untracked().into_iter().collect(),
            takes_own_keys: self.takes_own_keys.get_untracked(),
        }
    }

    /// Returns true for a model server for all. Tracked.
    pub fn is_for_all(self) -> bool {
        self.service.with(Option::is_none)
    }

    pub(super) fn to_new_key(self, service: String) -> NewOwnKey {
        NewOwnKey {
            id: self.id,
            service,
            key: self.entered_key().unwrap_or_default(),
            hidden_models: self.hidden_models.get_untracked().into_iter().collect(),
        }
    }

    pub(super) fn to_key_update(self) -> OwnKeyUpdate {
        OwnKeyUpdate {
            key: self.entered_key(),
            hidden_models: Some(self.hidden_models.get_untracked().into_iter().collect()),
            is_enabled: None,
        }
    }

    pub(super) fn to_update(self) -> EndpointUpdate {
        EndpointUpdate {
            kind: Some(self.kind.get_untracked()),
            base_url: Some(self.base_url.get_untracked()),
            key: self.entered_key(),
            models: Some(self.named_models()),
            hidden_models: Some(self.hidden_models.get_untracked().into_iter().collect()),
            is_enabled: None,
            takes_own_keys: Some(self.takes_own_keys.get_untracked()),
        }
    }

    pub(super) fn hide_models_without_chat(self, result: &EndpointTestResult) {
        let others = result.models.iter().filter(|model| !model.can_chat);
        self.hidden_models
            .update(|hidden| hidden.extend(others.map(|model| model.name.clone())));
    }

    pub fn set_shown(self, name: &str, is_shown: bool) {
        self.hidden_models.update(|hidden| match is_shown {
            true => {
                hidden.remove(name);
            }
            false => {
                hidden.insert(name.to_owned());
            }
        });
    }

    /// The found models that match the query. Tracked.
    pub fn found_models(self) -> Vec<String> {
        let query = self.query.get().to_lowercase();
        self.tested.with(|tested| {
            let models = tested.iter().flat_map(|tested| &tested.models);
            let matching = models.filter(|model| model.name.to_lowercase().contains(&query));
            matching.map(|model| model.name.clone()).collect()
        })
    }

    /// The number of found models. Tracked.
    pub fn found_count(self) -> usize {
        self.tested
            .with(|tested| tested.as_ref().map_or(0, |tested| tested.models.len()))
    }

    /// Returns true if the models have to be named. Tracked.
    pub fn names_models(self) -> bool {
        use EndpointProblemCode::{ListRefused, OtherServer};
        let is_unlisted = self.tested.with(|tested| {
            let problem = tested.as_ref().and_then(|tested| tested.problem.as_ref());
            problem.is_some_and(|problem| matches!(problem.code, ListRefused | OtherServer))
        });
        self.is_for_all() && (is_unlisted || self.models.with(|models| !models.is_empty()))
    }
}
