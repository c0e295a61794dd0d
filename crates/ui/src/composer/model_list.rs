//! The list of models: a popover with a field that finds by typing. Few people open it often, so its code is loaded on
//! demand.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split};

use super::{
    model_groups::{ModelGroup, model_groups},
    model_row::{ModelRow, matches_query},
    texts,
};
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
    state::{model_shortlist::ModelShortlist, settings_tab::SettingsTab, use_models},
};

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

/// The state that all rows share.
#[derive(Clone, Copy)]
pub(super) struct ModelListState {
    /// The places and the ids of the models that match the query, in order.
    shown: Memo<Vec<(usize, String)>>,
    /// The id of the model that Enter selects, if it is shown.
    pub active: RwSignal<Option<String>>,
    /// The favourites. They move to the top when the list is opened again, so that nothing jumps under a finger.
    favourites: RwSignal<Vec<String>>,
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

    /// Returns true for a favourite. Tracked.
    pub fn is_favourite(self, id: &str) -> bool {
        self.favourites
            .with(|ids| ids.iter().any(|favourite| favourite == id))
    }

    /// Makes a model a favourite, or no longer.
    pub fn toggle_favourite(self, id: &str) {
        self.favourites.set(ModelShortlist::toggle_favourite(id));
    }

    /// The active model, if it is shown. Tracked.
    fn active_id(self) -> Option<String> {
        let index = self.active_index()?;
        self.shown
            .with(|shown| shown.get(index).map(|(_, id)| id.clone()))
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
    let (chosen, shortlist) = (untrack(|| models.current()), ModelShortlist::load());
    let groups = {
        let (chosen, shortlist) = (chosen.clone(), shortlist.clone());
        Memo::new(move |_| models.with_list(|list| model_groups(list, chosen.as_deref(), &shortlist)))
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
        favourites: RwSignal::new(shortlist.favourites),
    };
    let choose = move |id: String| {
        close();
        on_choose.run(id);
    };
    let choose_active = move || {
        if let Some(id) = untrack(|| list.active_id()) {
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
        0 => texts::NO_MODEL.to_owned(),
        count => texts::models(count),
    };
    let group = move |group: ModelGroup| group_view(group, list, query, choose);
    view! {
        <div
            node_ref=dialog
            class="popover model-dialog"
            popover="auto"
            role="dialog"
            aria-label=texts::CHOOSE_MODEL
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
                    placeholder=texts::FIND_MODEL
                    aria-label=texts::FIND_MODEL
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
                {IconButton::new(texts::CLOSE, icons::close(), close).view()}
            </div>
            <p class="model-count" role="status">{found}</p>
            <div id="model-list" class="model-list" role="listbox" aria-label=texts::MODELS tabindex="-1">
                {move || groups.get().into_iter().map(group).collect::<Vec<_>>()}
            </div>
            {foot(list, close)}
        </div>
    }
}

fn group_view(
    group: ModelGroup,
    list: ModelListState,
    query: RwSignal<String>,
    choose: impl Fn(String) + Copy + 'static,
) -> AnyView {
    let places: Vec<usize> = group.models.iter().map(|(place, _)| *place).collect();
    // A problem is said until the user looks for something else.
    let has_problem = group.problem.is_some();
    let is_hidden = move || {
        let has_shown = places.iter().any(|place| list.is_shown(*place));
        !(has_shown || has_problem && query.with(String::is_empty))
    };
    let (title, names_endpoint) = (group.title.clone(), group.is_mixed);
    let rows: Vec<_> = group
        .models
        .into_iter()
        .map(|(place, model)| view! { <ModelRow place model names_endpoint list on_choose=choose/> }.erase())
        .collect();
    view! {
        <div role="group" class:hidden=is_hidden aria-label=title>
            <div class="model-group-name" aria-hidden="true">
                {group.title}
            </div>
            {group.problem.map(|problem| view! { <p class="model-problem">{problem}</p> })}
            {rows}
        </div>
    }
    .erase()
}

/// Below the list: the star of the active model, for those who press no row, and the way to further models.
fn foot(list: ModelListState, close: impl Fn() + Copy + Send + Sync + 'static) -> AnyView {
    let models = use_models();
    let is_favourite = move || list.active_id().is_some_and(|id| list.is_favourite(&id));
    let toggle = move |_| {
        if let Some(id) = untrack(|| list.active_id()) {
            list.toggle_favourite(&id);
        }
    };
    let can_add = move || models.with_list(|list| list.can_connect || list.can_bring_keys);
    view! {
        <div class="model-foot">
            <button
                type="button"
                class="button button-quiet model-star-button"
                class:hidden=move || list.active_id().is_none()
                aria-pressed=move || is_favourite().to_string()
                on:click=toggle
            >
                {icons::star()}
                {texts::FAVOURITE}
            </button>
            <When when=can_add>
                <a class="button button-quiet" href=SettingsTab::Models.path() on:click=move |_| close()>
                    {icons::plus()}
                    {texts::ADD_MODEL}
                </a>
            </When>
        </div>
    }
    .erase()
}
