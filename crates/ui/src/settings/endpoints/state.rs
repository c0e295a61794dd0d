//! The model servers and the one that is being edited.

use std::collections::BTreeSet;

use leptos::{prelude::*, task::spawn_local};

use super::presets::Preset;
use crate::{
    api::endpoints,
    browser,
    components::toast::{Toasts, use_toasts},
    state::{Connection, models::key_form_url, use_connection, use_feeds},
};
use parlor_protocol::{
    EndpointId, EndpointKey, EndpointKind, EndpointProblemCode, EndpointTest, EndpointTestResult,
    EndpointUpdate, EndpointView, ErrorCode, NewEndpoint,
};

/// The handle of the section. Lives as long as the settings are shown.
#[derive(Clone, Copy)]
pub struct EndpointsState {
    connection: Connection,
    toasts: Toasts,
    /// `None` until they are loaded, and for those who may not see them.
    pub endpoints: RwSignal<Option<Vec<EndpointView>>>,
    pub load_error: RwSignal<Option<String>>,
    /// True while the tiles are shown.
    pub is_choosing: RwSignal<bool>,
    pub draft: RwSignal<Option<Draft>>,
    /// The owner of the drafts' signals: the button that begins one is removed while the form is shown.
    owner: StoredValue<Owner>,
}

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
    pub name: RwSignal<String>,
    pub kind: RwSignal<EndpointKind>,
    pub base_url: RwSignal<String>,
    pub key: RwSignal<String>,
    /// The names of models, a line each, if the server has no list.
    pub models: RwSignal<String>,
    pub hidden_models: RwSignal<BTreeSet<String>>,
    pub query: RwSignal<String>,
    pub tested: RwSignal<Option<EndpointTestResult>>,
    pub is_testing: RwSignal<bool>,
    pub is_saving: RwSignal<bool>,
    pub error: RwSignal<Option<String>>,
}

impl EndpointsState {
    pub fn new() -> Self {
        let state = Self {
            connection: use_connection(),
            toasts: use_toasts(),
            endpoints: RwSignal::default(),
            load_error: RwSignal::default(),
            is_choosing: RwSignal::new(false),
            draft: RwSignal::new(None),
            owner: StoredValue::new(Owner::new()),
        };
        let feeds = use_feeds();
        // Also the first time, in the browser: the server renders none of it.
        Effect::new(move |before: Option<u32>| {
            let changes = feeds.settings_version();
            if before != Some(changes) {
                state.load();
            }
            changes
        });
        state
    }

    pub fn load(self) {
        spawn_local(async move {
            match self.connection.call(endpoints::endpoints()).await {
                Ok(found) => {
                    self.load_error.try_set(None);
                    let is_first = self.endpoints.try_with_untracked(Option::is_none) == Some(true);
                    self.endpoints.try_set(Some(found.endpoints));
                    if is_first {
                        self.edit_linked();
                    }
                }
                // A member has no such section.
                Err(error) if error.code == ErrorCode::Forbidden => {}
                Err(error) => {
                    self.load_error.try_set(Some(error.message));
                }
            }
        });
    }

    /// Opens the form that the URL names: an answer has failed for its key.
    fn edit_linked(self) {
        let url = browser::current_url();
        let linked = self.endpoints.with_untracked(|endpoints| {
            let mut all = endpoints.iter().flatten();
            all.find(|endpoint| key_form_url(&endpoint.name) == url).cloned()
        });
        if let Some(endpoint) = linked {
            self.edit(&endpoint);
        }
    }

    /// Opens the form for a tile.
    pub fn begin(self, preset: &'static Preset) {
        let draft = self.owner.get_value().with(|| Draft::from_preset(preset));
        self.is_choosing.set(false);
        self.draft.set(Some(draft));
    }

    /// Opens the form for a stored model server, and tests it, so that its models are shown.
    pub fn edit(self, endpoint: &EndpointView) {
        self.is_choosing.set(false);
        let draft = self.owner.get_value().with(|| Draft::from_stored(endpoint));
        if let Some(draft) = draft {
            self.draft.set(Some(draft));
            self.test(draft);
        }
    }

    pub fn close(self) {
        self.is_choosing.set(false);
        self.draft.set(None);
        browser::on_next_frame(|| browser::focus_selector("#settings-endpoints"));
    }

    pub fn test(self, draft: Draft) {
        if draft.is_testing.get_untracked() {
            return;
        }
        draft.is_testing.set(true);
        draft.error.set(None);
        draft.tested.set(None);
        let test = EndpointTest {
            kind: draft.kind.get_untracked(),
            base_url: draft.base_url.get_untracked(),
            key: draft.entered_key(),
            id: draft.is_stored.then_some(draft.id),
        };
        spawn_local(async move {
            let tested = self
                .connection
                .call_upstream(endpoints::test_endpoint(test))
                .await;
            // The form may be closed by now.
            if draft.is_testing.try_set(false).is_some() {
                return;
            }
            match tested {
                Ok(result) => {
                    if !draft.is_stored {
                        draft.hide_models_without_chat(&result);
                    }
                    draft.tested.set(Some(result));
                }
                Err(error) => draft.error.set(Some(error.message)),
            }
        });
    }

    pub fn save(self, draft: Draft) {
        if draft.is_saving.get_untracked() {
            return;
        }
        draft.is_saving.set(true);
        draft.error.set(None);
        spawn_local(async move {
            let saved = match draft.is_stored {
                true => {
                    let update = endpoints::change_endpoint(draft.id, draft.to_update());
                    self.connection.call_upstream(update).await
                }
                false => {
                    let add = endpoints::add_endpoint(draft.to_new());
                    self.connection.call_upstream(add).await
                }
            };
            if draft.is_saving.try_set(false).is_some() {
                return;
            }
            match saved {
                Ok(_) => {
                    self.load();
                    self.close();
                }
                Err(error) => draft.error.set(Some(error.message)),
            }
        });
    }

    pub fn set_enabled(self, id: EndpointId, is_enabled: bool) {
        let update = EndpointUpdate {
            is_enabled: Some(is_enabled),
            ..EndpointUpdate::default()
        };
        spawn_local(async move {
            let changed = self.connection.call(endpoints::change_endpoint(id, update)).await;
            self.on_changed(changed.map(drop).map_err(|error| error.message));
        });
    }

    pub fn remove(self, id: EndpointId) {
        spawn_local(async move {
            let removed = self.connection.call(endpoints::remove_endpoint(id)).await;
            self.on_changed(removed.map_err(|error| error.message));
        });
    }

    fn on_changed(self, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.load(),
            Err(message) => self.toasts.show(message),
        }
    }
}

impl Draft {
    fn new(id: EndpointId) -> Self {
        Self {
            id,
            is_stored: false,
            has_key: false,
            preset: None,
            name: RwSignal::default(),
            kind: RwSignal::default(),
            base_url: RwSignal::default(),
            key: RwSignal::default(),
            models: RwSignal::default(),
            hidden_models: RwSignal::default(),
            query: RwSignal::default(),
            tested: RwSignal::default(),
            is_testing: RwSignal::new(false),
            is_saving: RwSignal::new(false),
            error: RwSignal::default(),
        }
    }

    fn from_preset(preset: &'static Preset) -> Self {
        let draft = Self {
            preset: Some(preset),
            ..Self::new(EndpointId::new())
        };
        draft.name.set(preset.name.into());
        draft.kind.set(preset.kind);
        draft.base_url.set(preset.base_url.into());
        draft
    }

    fn from_stored(endpoint: &EndpointView) -> Option<Self> {
        let draft = Self {
            is_stored: true,
            has_key: endpoint.key == parlor_protocol::EndpointKeyState::Set,
            ..Self::new(endpoint.id?)
        };
        draft.name.set(endpoint.name.clone());
        draft.kind.set(endpoint.kind);
        draft.base_url.set(endpoint.base_url.clone());
        draft.models.set(endpoint.models.join("\n"));
        draft
            .hidden_models
            .set(endpoint.hidden_models.iter().cloned().collect());
        Some(draft)
    }

    fn entered_key(self) -> Option<EndpointKey> {
        let key = self.key.get_untracked();
        (!key.trim().is_empty()).then_some(EndpointKey(key))
    }

    fn named_models(self) -> Vec<String> {
        let models = self.models.get_untracked();
        let lines = models.lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    fn to_new(self) -> NewEndpoint {
        NewEndpoint {
            id: self.id,
            name: self.name.get_untracked(),
            kind: self.kind.get_untracked(),
            base_url: self.base_url.get_untracked(),
            key: self.entered_key(),
            models: self.named_models(),
            hidden_models: self.hidden_models.get_untracked().into_iter().collect(),
        }
    }

    fn to_update(self) -> EndpointUpdate {
        EndpointUpdate {
            kind: Some(self.kind.get_untracked()),
            base_url: Some(self.base_url.get_untracked()),
            key: self.entered_key(),
            models: Some(self.named_models()),
            hidden_models: Some(self.hidden_models.get_untracked().into_iter().collect()),
            is_enabled: None,
        }
    }

    fn hide_models_without_chat(self, result: &EndpointTestResult) {
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
        is_unlisted || self.models.with(|models| !models.is_empty())
    }
}
