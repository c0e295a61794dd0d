//! The model servers or keys of a section, and the changes to them.

use leptos::{prelude::*, task::spawn_local};

use super::{draft::Draft, presets::Preset};
use crate::{
    api::endpoints,
    browser,
    components::toast::{Toasts, use_toasts},
    runtime::requests::LastRequest,
    state::{
        Connection,
        models::{FIND_LOCAL_URL, key_form_url},
        person::use_person,
        use_connection, use_feeds,
    },
};
use parlor_protocol::{
    ApiError, EndpointId, EndpointTest, EndpointUpdate, EndpointView, ErrorCode, LocalServer, OWN_KEY_PREFIX,
    OfferedService, OwnKeyTest, OwnKeyUpdate,
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
    loads: LastRequest,
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
    /// The servers that were searched for on Parlor's machine.
    pub local: RwSignal<Option<Vec<LocalServer>>>,
    pub is_finding: RwSignal<bool>,
    /// The owner of the drafts' signals: the button that begins one is removed while the form is shown.
    owner: StoredValue<Owner>,
}

impl EndpointsState {
    pub fn new(scope: Scope) -> Self {
        let state = Self {
            scope,
            connection: use_connection(),
            toasts: use_toasts(),
            loads: LastRequest::new(),
            endpoints: RwSignal::default(),
            load_error: RwSignal::default(),
            is_allowed: RwSignal::new(false),
            services: RwSignal::default(),
            is_choosing: RwSignal::new(false),
            draft: RwSignal::new(None),
            local: RwSignal::new(None),
            is_finding: RwSignal::new(false),
            owner: StoredValue::new(Owner::new()),
        };
        // A member has no model servers for all.
        let may_see = use_person().is_none_or(|person| person.is_administrator);
        if scope == Scope::Server && !may_see {
            return state;
        }
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
        let number = self.loads.begin();
        spawn_local(async move {
            let found = match self.scope {
                Scope::Server => {
                    let found = self.connection.call(endpoints::endpoints()).await;
                    found.map(|found| (found.endpoints, None))
                }
                Scope::Own => {
                    let found = self.connection.call(endpoints::own_keys()).await;
                    found.map(|found| (found.keys, Some((found.is_allowed, found.services))))
                }
            };
            if !self.loads.is_last(number) {
                return;
            }
            match found {
                Ok((found, own)) => {
                    if let Some((is_allowed, services)) = own {
                        self.is_allowed.set(is_allowed);
                        self.services.set(services);
                    }
                    self.load_error.set(None);
                    let is_first = self.endpoints.with_untracked(Option::is_none);
                    self.endpoints.set(Some(found));
                    if is_first {
                        self.edit_linked();
                    }
                }
                // A member has no such section.
                Err(error) if error.code == ErrorCode::Forbidden => {}
                Err(error) => self.load_error.set(Some(error.message)),
            }
        });
    }

    /// Opens the form that the URL names: an answer has failed for its key.
    fn edit_linked(self) {
        let url = browser::current_url();
        if self.scope == Scope::Server && url == FIND_LOCAL_URL {
            self.is_choosing.set(true);
            self.find_local();
        }
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

    /// Searches Parlor's machine for model servers.
    pub fn find_local(self) {
        if self.is_finding.get_untracked() {
            return;
        }
        self.is_finding.set(true);
        self.local.set(None);
        spawn_local(async move {
            let found = self.connection.call_upstream(endpoints::local_servers()).await;
            if self.is_finding.try_set(false).is_some() {
                return;
            }
            match found {
                Ok(found) => self.local.set(Some(found)),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Opens the form for a server that was found, and tests it, so that its models are shown.
    pub fn begin_found(self, found: &LocalServer) {
        let draft = self.owner.get_value().with(|| {
            let draft = Draft::new(EndpointId::new());
            draft.name.set(found.name.clone());
            draft.base_url.set(found.base_url.clone());
            draft
        });
        self.is_choosing.set(false);
        self.draft.set(Some(draft));
        self.test(draft);
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
        let name = endpoint
            .name
            .strip_prefix(OWN_KEY_PREFIX)
            .unwrap_or(&endpoint.name);
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
