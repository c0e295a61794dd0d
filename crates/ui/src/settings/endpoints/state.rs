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
    ApiError, EndpointId, EndpointKey, EndpointKind, EndpointProblemCode, EndpointTest, EndpointTestResult,
    EndpointUpdate, EndpointView, ErrorCode, NewEndpoint, NewOwnKey, OWN_KEY_PREFIX, OfferedService, OwnKeyTest,
    OwnKeyUpdate,
};

/// The owner of the model servers of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// They are for all. Administrators change them.
    Server,
    /// They are the user's own keys.
    Own,
}

/// The handle of a section. Lives as long as the settings are shown.
#[derive(Clone, Copy)]
pub struct EndpointsState {
    pub scope: Scope,
    connection: Connection,
    toasts: Toasts,
    /// `None` until they are loaded, and for those who may not see them.
    pub endpoints: RwSignal<Option<Vec<EndpointView>>>,
    pub load_error: RwSignal<Option<String>>,
    /// True if keys of users' own are allowed.
    pub is_allowed: RwSignal<bool>,
    /// The services that such keys can be for.
    pub services: RwSignal<Vec<OfferedService>>,
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

impl EndpointsState {
    pub fn new(scope: Scope) -> Self {
        let state = Self {
            scope,
            connection: use_connection(),
            toasts: use_toasts(),
            endpoints: RwSignal::default(),
            load_error: RwSignal::default(),
            is_allowed: RwSignal::new(false),
            services: RwSignal::default(),
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
            let found = match self.scope {
                Scope::Server => {
                    let found = self.connection.call(endpoints::endpoints()).await;
                    found.map(|found| found.endpoints)
                }
                Scope::Own => {
                    let found = self.connection.call(endpoints::own_keys()).await;
                    found.map(|found| {
                        self.is_allowed.try_set(found.is_allowed);
                        self.services.try_set(found.services);
                        found.keys
                    })
                }
            };
            match found {
                Ok(found) => {
                    self.load_error.try_set(None);
                    let is_first = self.endpoints.try_with_untracked(Option::is_none) == Some(true);
                    self.endpoints.try_set(Some(found));
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

    /// Opens the form for a key of the user's own.
    pub fn begin_own(self, service: OfferedService) {
        let draft = self.owner.get_value().with(|| {
            let draft = Draft::new(EndpointId::new());
            draft.service.set(Some(service));
            draft
        });
        self.is_choosing.set(false);
        self.draft.set(Some(draft));
    }

    /// Allows keys of users' own, or forbids them.
    pub fn allow_own_keys(self, is_allowed: bool) {
        spawn_local(async move {
            let allowed = self.connection.call(endpoints::allow_own_keys(is_allowed)).await;
            self.show_failure(allowed);
        });
    }

    /// Opens the form for a stored model server, and tests it, so that its models are shown.
    pub fn edit(self, endpoint: &EndpointView) {
        self.is_choosing.set(false);
        let draft = self.owner.get_value().with(|| Draft::from_stored(endpoint));
        if let Some(draft) = draft {
            if self.scope == Scope::Own {
                draft.service.set(Some(self.service_of(endpoint)));
            }
            self.draft.set(Some(draft));
            self.test(draft);
        }
    }

    fn service_of(self, endpoint: &EndpointView) -> OfferedService {
        let name = endpoint.name.strip_prefix(OWN_KEY_PREFIX).unwrap_or(&endpoint.name);
        let found = self.services.with_untracked(|services| {
            let mut all = services.iter();
            all.find(|service| service.name == name).cloned()
        });
        found.unwrap_or_else(|| OfferedService {
            name: name.to_owned(),
            label: name.to_owned(),
            note: String::new(),
        })
    }

    pub fn close(self) {
        self.is_choosing.set(false);
        self.draft.set(None);
        let heading = match self.scope {
            Scope::Server => "#settings-endpoints",
            Scope::Own => "#settings-own-keys",
        };
        browser::on_next_frame(move || browser::focus_selector(heading));
    }

    pub fn test(self, draft: Draft) {
        if draft.is_testing.get_untracked() {
            return;
        }
        draft.is_testing.set(true);
        draft.error.set(None);
        draft.tested.set(None);
        let (key, id) = (draft.entered_key(), draft.is_stored.then_some(draft.id));
        spawn_local(async move {
            let tested = match draft.service.get_untracked() {
                Some(service) => {
                    let service = service.name;
                    let test = endpoints::test_own_key(OwnKeyTest { service, key, id });
                    self.connection.call_upstream(test).await
                }
                None => {
                    let test = endpoints::test_endpoint(EndpointTest {
                        kind: draft.kind.get_untracked(),
                        base_url: draft.base_url.get_untracked(),
                        key,
                        id,
                    });
                    self.connection.call_upstream(test).await
                }
            };
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
            let saved = match (draft.service.get_untracked(), draft.is_stored) {
                (Some(_), true) => {
                    let update = endpoints::change_own_key(draft.id, draft.to_key_update());
                    self.connection.call_upstream(update).await
                }
                (Some(service), false) => {
                    let add = endpoints::add_own_key(draft.to_new_key(service.name));
                    self.connection.call_upstream(add).await
                }
                (None, true) => {
                    let update = endpoints::change_endpoint(draft.id, draft.to_update());
                    self.connection.call_upstream(update).await
                }
                (None, false) => {
                    let add = endpoints::add_endpoint(draft.to_new());
                    self.connection.call_upstream(add).await
                }
            };
            if draft.is_saving.try_set(false).is_some() {
                return;
            }
            match saved {
                // The list is loaded for the event of the change.
                Ok(_) => self.close(),
                Err(error) => draft.error.set(Some(error.message)),
            }
        });
    }

    pub fn set_enabled(self, id: EndpointId, is_enabled: bool) {
        let is_enabled = Some(is_enabled);
        spawn_local(async move {
            let changed = match self.scope {
                Scope::Server => {
                    let update = EndpointUpdate {
                        is_enabled,
                        ..EndpointUpdate::default()
                    };
                    self.connection.call(endpoints::change_endpoint(id, update)).await
                }
                Scope::Own => {
                    let update = OwnKeyUpdate {
                        is_enabled,
                        ..OwnKeyUpdate::default()
                    };
                    self.connection.call(endpoints::change_own_key(id, update)).await
                }
            };
            self.show_failure(changed.map(drop));
        });
    }

    pub fn remove(self, id: EndpointId) {
        spawn_local(async move {
            let removed = match self.scope {
                Scope::Server => self.connection.call(endpoints::remove_endpoint(id)).await,
                Scope::Own => self.connection.call(endpoints::remove_own_key(id)).await,
            };
            self.show_failure(removed);
        });
    }

    /// After a success, the list is loaded for the event of the change.
    fn show_failure(self, outcome: Result<(), ApiError>) {
        if let Err(error) = outcome {
            self.toasts.show(error.message);
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
        draft.takes_own_keys.set(endpoint.takes_own_keys);
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
            takes_own_keys: self.takes_own_keys.get_untracked(),
        }
    }

    /// Returns true for a model server for all. Tracked.
    pub fn is_for_all(self) -> bool {
        self.service.with(Option::is_none)
    }

    fn to_new_key(self, service: String) -> NewOwnKey {
        NewOwnKey {
            id: self.id,
            service,
            key: self.entered_key().unwrap_or_default(),
            hidden_models: self.hidden_models.get_untracked().into_iter().collect(),
        }
    }

    fn to_key_update(self) -> OwnKeyUpdate {
        OwnKeyUpdate {
            key: self.entered_key(),
            hidden_models: Some(self.hidden_models.get_untracked().into_iter().collect()),
            is_enabled: None,
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
            takes_own_keys: Some(self.takes_own_keys.get_untracked()),
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
        self.is_for_all() && (is_unlisted || self.models.with(|models| !models.is_empty()))
    }
}
