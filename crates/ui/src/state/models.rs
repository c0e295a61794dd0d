//! The available models and the selected one.

use leptos::{prelude::*, task::spawn_local};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    connection::Connection, conversations::OpenConversations, model_shortlist::ModelShortlist,
    navigation::Navigation, projects::Projects, settings_tab::SettingsTab, snapshot::PageSnapshot, texts,
};
use crate::api::rpc;
use crate::{browser, runtime::requests::LastRequest};
use parlor_protocol::{
    ModelCapabilities, ProjectId, RunError,
    model_list::{ModelInfo, ModelList, ModelListProblem},
};

const STORAGE_KEY: &str = "parlor-model";
/// The built-in endpoint. It has only the tour, a script that introduces itself as such.
const BUILT_IN_ENDPOINT: &str = "parlor";
/// The URL of the settings that begins with a search for model servers on Parlor's machine.
pub const FIND_LOCAL_URL: &str = "/settings/models?find";
/// A page without a model looks for one that starts later.
const SEARCH_INTERVAL_MS: f64 = 5_000.0;
/// A refresh asks every endpoint, so it must not happen on every focus of the page.
const MIN_REFRESH_INTERVAL_MS: f64 = 20_000.0;

/// The handle of the views.
#[derive(Clone, Copy)]
pub struct ModelStore {
    list: RwSignal<ModelList>,
    /// The user's last choice, the default of new conversations. Known after hydration.
    last_choice: RwSignal<Option<String>>,
    /// The choice for the next conversation in a project, whose own model it replaces.
    choice_in_project: RwSignal<Option<(ProjectId, String)>>,
    requested_at: StoredValue<f64>,
    requests: LastRequest,
    conversations: OpenConversations,
    projects: Projects,
    navigation: Navigation,
    connection: Connection,
}

impl ModelStore {
    /// Starts from the page's snapshot.
    pub(super) fn new(
        page: &PageSnapshot,
        conversations: OpenConversations,
        projects: Projects,
        navigation: Navigation,
        connection: Connection,
    ) -> Self {
        let list = page.models.clone().unwrap_or_default();
        Self {
            list: RwSignal::new(list),
            last_choice: RwSignal::default(),
            choice_in_project: RwSignal::default(),
            requested_at: StoredValue::new(0.0),
            requests: LastRequest::new(),
            conversations,
            projects,
            navigation,
            connection,
        }
    }

    /// Returns true if a model is known to think. Tracked.
    pub fn is_thinking_model(self, id: &str) -> bool {
        let thinks = |model: &ModelInfo| {
            let thinking = &model.capabilities.thinking;
            model.id == id && thinking.as_ref().is_some_and(|thinking| thinking.supported)
        };
        self.with_list(|list| list.models.iter().any(thinks))
    }

    /// Reads the list. Tracked.
    pub fn with_list<T>(self, read: impl FnOnce(&ModelList) -> T) -> T {
        self.list.with(|list| read(list))
    }

    /// Restores the last choice, and requests the list again whenever the page becomes visible. Called once, after
    /// hydration.
    pub(super) fn start(self) {
        self.last_choice.set(browser::storage_get(STORAGE_KEY));
        self.requested_at.set_value(browser::monotonic_ms());
        browser::on_presence(move |presence| {
            if presence == browser::PresenceEvent::Visible {
                self.refresh();
            }
        });
        let has_only_tour = Memo::new(move |_| self.has_only_tour());
        Effect::new(move |_| {
            if has_only_tour.get() {
                self.search_later();
            }
        });
    }

    /// Requests the list again and again until there is a model: a server on Parlor's machine is found as soon as it has started.
    fn search_later(self) {
        browser::set_timeout(SEARCH_INTERVAL_MS, move || {
            if !untrack(|| self.has_only_tour()) {
                return;
            }
            if !browser::is_page_hidden() {
                self.reload();
            }
            self.search_later();
        })
        .detach();
    }

    /// Reloads the list: a model server may have been started in the meantime.
    pub fn refresh(self) {
        let now = browser::monotonic_ms();
        if now - self.requested_at.get_value() < MIN_REFRESH_INTERVAL_MS {
            return;
        }
        self.reload();
    }

    /// Reloads the list now: the server says that it may have changed.
    pub fn reload(self) {
        self.requested_at.set_value(browser::monotonic_ms());
        let number = self.requests.begin();
        spawn_local(async move {
            if let Ok(list) = self.connection.call_upstream(rpc::models()).await
                && self.requests.is_last(number)
                && self.list.with_untracked(|old| *old != list)
            {
                self.list.set(list);
            }
        });
    }

    /// The model of the next message here.
    pub fn current(self) -> Option<String> {
        let own = match self.conversations.current_view() {
            Some(view) => view.model.get(),
            None => self
                .of_project()
                .or_else(|| self.last_choice.get())
                .filter(|id| self.list.with(|list| contains(list, id))),
        };
        own.or_else(|| self.list.with(|list| list.default.clone()))
    }

    /// The model of conversations that begin in the project on the screen, if it has one that is offered.
    fn of_project(self) -> Option<String> {
        let id = self.navigation.chat_route().get().project_id()?;
        let chosen = self.choice_in_project.get();
        let chosen = chosen.filter(|(of, _)| *of == id).map(|(_, model)| model);
        let of_project = || self.projects.get(id)?.project.model;
        chosen
            .or_else(of_project)
            .filter(|id| self.list.with(|list| contains(list, id)))
    }

    /// The model to send with the next message here. The server knows the model of an existing conversation: while the
    /// conversation is not loaded, none is sent in its place.
    pub fn requested(self) -> Option<String> {
        untrack(|| match self.conversations.current_view() {
            Some(view) => view.model.get(),
            None => self.current(),
        })
    }

    /// The capabilities of the model of the next message here. Tracked.
    pub fn current_capabilities(self) -> ModelCapabilities {
        let current = self.current();
        self.list.with(|list| {
            let mut models = list.models.iter();
            let model = models.find(|model| current.as_deref() == Some(&*model.id));
            model.map(|model| model.capabilities.clone()).unwrap_or_default()
        })
    }

    /// The name of the model of the next message here. Tracked.
    pub fn current_name(self) -> Option<String> {
        let current = self.current()?;
        let name = self.list.with(|list| {
            let model = list.models.iter().find(|model| model.id == current);
            model.map(|model| model.name.clone())
        });
        Some(name.unwrap_or_else(|| short_name(&current).into()))
    }

    /// Selects a model.
    pub fn choose(self, id: String) {
        ModelShortlist::note_use(&id);
        if let Some(project) = self.navigation.chat_route().get_untracked().project_id() {
            // The default of other conversations stays.
            return self.choice_in_project.set(Some((project, id)));
        }
        browser::storage_set(STORAGE_KEY, Some(&id));
        self.last_choice.set(Some(id.clone()));
        if let Some(view) = untrack(|| self.conversations.current_view()) {
            self.conversations.choose_model(view.id, id);
        }
    }

    /// Returns true if only the tour is available.
    pub fn has_only_tour(self) -> bool {
        self.list.with(|list| {
            !list.models.is_empty()
                && list
                    .models
                    .iter()
                    .all(|model| model.endpoint == BUILT_IN_ENDPOINT)
        })
    }

    /// The problems of the configured endpoints, if none of them has a model.
    pub fn endpoint_problems(self) -> Vec<RunError> {
        self.list.with(|list| match list.models.is_empty() {
            true => {
                let problems = list.problems.iter();
                problems
                    .filter(|problem| !is_tool_problem(problem))
                    .cloned()
                    .map(Into::into)
                    .collect()
            }
            false => Vec::new(),
        })
    }
}

/// Returns true if a problem concerns tools, not models.
pub fn is_tool_problem(problem: &ModelListProblem) -> bool {
    problem.code.starts_with("mcp_") || problem.code.starts_with("tool")
}

fn contains(list: &ModelList, id: &str) -> bool {
    list.models.iter().any(|model| model.id == id)
}

/// The models by endpoint, in the order of the list. A selected model that is no longer available is included: the
/// conversation still has it.
pub fn by_endpoint(list: &ModelList, chosen: Option<&str>) -> Vec<(String, Vec<ModelInfo>)> {
    let mut groups: Vec<(String, Vec<ModelInfo>)> = Vec::new();
    for model in &list.models {
        match groups
            .iter_mut()
            .find(|(endpoint, _)| *endpoint == model.endpoint)
        {
            Some((_, models)) => models.push(model.clone()),
            None => groups.push((model.endpoint.clone(), vec![model.clone()])),
        }
    }
    if let Some(id) = chosen.filter(|id| !contains(list, id)) {
        let gone = ModelInfo {
            id: id.into(),
            name: short_name(id).into(),
            endpoint: String::new(),
            capabilities: ModelCapabilities::default(),
        };
        groups.push((texts::UNAVAILABLE_MODELS.into(), vec![gone]));
    }
    groups
}

/// The URL of the form for the endpoint of a model, or for an endpoint by its name.
pub fn key_form_url(id: &str) -> String {
    let endpoint = id.split_once('/').map_or(id, |(endpoint, _)| endpoint);
    let encoded = utf8_percent_encode(endpoint, NON_ALPHANUMERIC).to_string();
    [&SettingsTab::Models.path(), "?server=", &encoded].concat()
}

/// A model's name without its endpoint.
pub fn short_name(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, model)| model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(id: &str) -> ModelInfo {
        let (endpoint, name) = id.split_once('/').unwrap();
        ModelInfo {
            id: id.into(),
            name: name.into(),
            endpoint: endpoint.into(),
            capabilities: ModelCapabilities::default(),
        }
    }

    #[test]
    fn groups_by_endpoint_and_keeps_missing_choice() {
        let models = vec![model("a/one"), model("b/two/three"), model("a/four")];
        let list = ModelList {
            models: models.clone(),
            ..ModelList::default()
        };
        let expected = vec![
            ("a".to_string(), vec![models[0].clone(), models[2].clone()]),
            ("b".to_string(), vec![models[1].clone()]),
        ];
        assert_eq!(by_endpoint(&list, Some("a/one")), expected);
        assert_eq!(by_endpoint(&list, None), expected);
        let gone = ModelInfo {
            id: "c/old".into(),
            name: "old".into(),
            endpoint: String::new(),
            capabilities: ModelCapabilities::default(),
        };
        assert_eq!(
            by_endpoint(&list, Some("c/old"))[2],
            ("Not available now".to_string(), vec![gone])
        );
    }
}
