//! The list of models: a popover with a field that finds by typing. Few people open it often, so its code is loaded on
//! demand.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split};

use super::model_row::{ModelRow, matches_query};
use crate::{
    browser,
    components::{icon_button::IconButton, icons},
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        roving::{AtEnd, Move},
        when::When,
    },
    state::{models::by_endpoint, use_models},
};
use parlor_protocol::model_list::{ModelInfo, ModelList};

/// The dialog, while it is open, next to the button that opens it.
#[component]
pub fn ModelDialog(
    is_open: RwSignal<bool>,
    anchor: NodeRef<html::Button>,
    on_choose: Callback<String>,
) -> impl IntoView {
    view! {
        <When when=move || is_open.get()>{lazy_part(move || load_view(is_open, anchor, on_choose))}</When>
    }
}

/// Loads the view's code on first use.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(
    is_open: RwSignal<bool>,
    anchor: NodeRef<html::Button>,
    on_choose: Callback<String>,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        view! { <Dialog is_open anchor on_choose/> }.erase()
    }))
}

/// The models of an endpoint, and its error if it could not be queried.
#[derive(Clone, PartialEq)]
struct ModelGroup {
    endpoint: String,
    problem: Option<String>,
    /// The models, each with its place among all.
    models: Vec<(usize, ModelInfo)>,
}

/// Returns the groups of a list, also those of endpoints that have only a problem.
fn model_groups(list: &ModelList, chosen: Option<&str>) -> Vec<ModelGroup> {
    let mut at = 0..;
    let mut groups: Vec<ModelGroup> = by_endpoint(list, chosen)
        .into_iter()
        .map(|(endpoint, models)| ModelGroup {
            endpoint,
            problem: None,
            models: at.by_ref().zip(models).collect(),
        })
        .collect();
    for problem in &list.problems {
        let Some(endpoint) = &problem.endpoint else {
            continue;
        };
        let message = Some([&problem.message, " ", &problem.hint].concat());
        match groups.iter_mut().find(|group| group.endpoint == *endpoint) {
            Some(group) => group.problem = message,
            None => groups.push(ModelGroup {
                endpoint: endpoint.clone(),
                problem: message,
                models: Vec::new(),
            }),
        }
    }
    groups
}

/// The state that all rows share.
#[derive(Clone, Copy)]
pub(super) struct ModelListState {
    /// The places and the ids of the models that match the query, in order.
    shown: Memo<Vec<(usize, String)>>,
    /// The id of the model that Enter selects, if it is shown.
    pub active: RwSignal<Option<String>>,
}

impl ModelListState {
    /// Moves to another shown model, from the last one to the first one and back.
    fn move_active(self, to: Move) {
        let now = untrack(|| self.active_index());
        let shown = self.shown.get_untracked();
        let next = to.target(now, shown.len(), AtEnd::Wrap);
        let next = next.and_then(|next| shown.get(next));
        self.active.set(next.map(|(_, id)| id.clone()));
        self.scroll_to_active();
    }

    /// The index of the active model among the shown ones. Tracked.
    fn active_index(self) -> Option<usize> {
        let active = self.active.get()?;
        self.shown
            .with(|shown| shown.iter().position(|(_, id)| *id == active))
    }

    /// The id of the active row. Tracked.
    fn active_row_id(self) -> Option<String> {
        let index = self.active_index()?;
        self.shown
            .with(|shown| shown.get(index).map(|(place, _)| row_id(*place)))
    }

    /// Returns true if the model at a place matches the query. Tracked.
    pub fn is_shown(self, place: usize) -> bool {
        let by_place = |(at, _): &(usize, String)| *at;
        self.shown
            .with(|shown| shown.binary_search_by_key(&place, by_place).is_ok())
    }

    fn scroll_to_active(self) {
        if let Some(row) = untrack(|| self.active_row_id()).and_then(|id| browser::element_by_id(&id)) {
            browser::scroll_into_view(&row);
        }
    }
}

/// The id of a row, by which the field names the active one.
pub(super) fn row_id(place: usize) -> String {
    ["model-", &place.to_string()].concat()
}

#[component]
fn Dialog(
    is_open: RwSignal<bool>,
    anchor: NodeRef<html::Button>,
    on_choose: Callback<String>,
) -> impl IntoView {
    let models = use_models();
    let dialog = NodeRef::<html::Div>::new();
    effect(move || {
        if let (Some(dialog), Some(anchor)) = (dialog.get(), anchor.get_untracked()) {
            browser::show_popover(&dialog, &anchor);
        }
    });
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            browser::close_popover(&dialog);
        }
    };
    let query = RwSignal::new(String::new());
    let chosen = untrack(|| models.current());
    let groups = {
        let chosen = chosen.clone();
        Memo::new(move |_| models.with_list(|list| model_groups(list, chosen.as_deref())))
    };
    let shown = Memo::new(move |_| {
        let query = query.get().to_lowercase();
        groups.with(|groups| {
            let all = groups.iter().flat_map(|group| &group.models);
            let matching = all.filter(|(_, model)| matches_query(model, &query));
            let ids = matching.map(|(place, model)| (*place, model.id.clone()));
            ids.collect::<Vec<_>>()
        })
    });
    let list = ModelListState {
        shown,
        active: RwSignal::new(chosen),
    };
    let choose = move |id: String| {
        close();
        on_choose.run(id);
    };
    let choose_active = move || {
        if untrack(|| list.active_index()).is_some()
            && let Some(id) = list.active.get_untracked()
        {
            choose(id);
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let key = event.key();
        if let Some(to) = Move::from_arrow(&key) {
            list.move_active(to);
        } else if key == "Enter" && !browser::is_composing(&event) {
            choose_active();
        } else {
            return;
        }
        event.prevent_default();
    };
    let field = NodeRef::<html::Input>::new();
    // The chosen model may be far below.
    effect(move || {
        if field.get().is_some() {
            browser::on_next_frame(move || list.scroll_to_active());
        }
    });
    let found = move || match shown.with(Vec::len) {
        0 => "No model has this name.".to_owned(),
        1 => "1 model".into(),
        count => [&count.to_string(), " models"].concat(),
    };
    let group = move |group: ModelGroup| {
        let places: Vec<usize> = group.models.iter().map(|(place, _)| *place).collect();
        // A problem is said until the user looks for something else.
        let has_problem = group.problem.is_some();
        let is_hidden = move || {
            let has_shown = places.iter().any(|place| list.is_shown(*place));
            !(has_shown || has_problem && query.with(String::is_empty))
        };
        let endpoint = group.endpoint.clone();
        let rows: Vec<_> = group
            .models
            .into_iter()
            .map(|(place, model)| view! { <ModelRow place model list on_choose=choose/> }.erase())
            .collect();
        view! {
            <div role="group" class:hidden=is_hidden aria-label=endpoint>
                <div class="model-group-name" aria-hidden="true">
                    {group.endpoint}
                </div>
                {group.problem.map(|problem| view! { <p class="model-problem">{problem}</p> })}
                {rows}
            </div>
        }
        .erase()
    };
    view! {
        <div
            node_ref=dialog
            class="popover model-dialog"
            popover="auto"
            role="dialog"
            aria-label="Choose a model"
            on:toggle=move |event| is_open.set(browser::is_toggled_open(&event))
        >
            <div class="model-search">
                {icons::search()}
                <input
                    node_ref=field
                    type="search"
                    role="combobox"
                    autofocus
                    autocomplete="off"
                    spellcheck="false"
                    placeholder="Find a model"
                    aria-label="Find a model"
                    aria-expanded="true"
                    aria-autocomplete="list"
                    aria-controls="model-list"
                    aria-activedescendant=move || list.active_row_id()
                    on:keydown=on_key
                    on:input=move |event| {
                        query.set(event_target_value(&event));
                        // Enter takes the first match.
                        list.active.set(shown.with_untracked(|shown| shown.first().map(|(_, id)| id.clone())));
                    }
                />
                {IconButton::new("Close", icons::close(), close).view()}
            </div>
            <p class="model-count" role="status">{found}</p>
            <div id="model-list" class="model-list" role="listbox" aria-label="Models" tabindex="-1">
                {move || groups.get().into_iter().map(group).collect::<Vec<_>>()}
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ModelCapabilities, RunError, model_list::ModelListProblem};

    #[test]
    fn groups_keep_endpoints_that_have_only_a_problem() {
        let model = |endpoint: &str, name: &str| ModelInfo {
            id: format!("{endpoint}/{name}"),
            name: name.into(),
            endpoint: endpoint.into(),
            capabilities: ModelCapabilities::default(),
        };
        let error = |message: &str| RunError {
            code: "endpoint_unreachable".into(),
            message: message.into(),
            hint: "Start it.".into(),
        };
        let list = ModelList {
            models: vec![model("a", "one"), model("b", "two"), model("a", "three")],
            problems: vec![
                ModelListProblem::of_endpoint("b", error("It is slow.")),
                ModelListProblem::of_endpoint("c", error("It is down.")),
                error("A setting is wrong.").into(),
            ],
            ..ModelList::default()
        };
        let groups = model_groups(&list, Some("a/one"));
        let summary: Vec<_> = groups
            .iter()
            .map(|group| {
                let places: Vec<usize> = group.models.iter().map(|(place, _)| *place).collect();
                (group.endpoint.as_str(), group.problem.as_deref(), places)
            })
            .collect();
        assert_eq!(
            summary,
            [
                ("a", None, vec![0, 1]),
                ("b", Some("It is slow. Start it."), vec![2]),
                ("c", Some("It is down. Start it."), vec![]),
            ]
        );
    }
}
