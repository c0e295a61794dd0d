//! The list of models: a popover with a field that finds by typing. Few people open it often, so its code is loaded on
//! demand.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split};

use super::{
    model_groups::{ModelGroup, endpoint_label, model_groups},
    model_row::{ModelRow, matches_query},
    texts,
};
use crate::{
    browser,
    components::{
        icon_button::IconButton,
        icons,
        listbox::{Listbox, ListboxRow},
    },
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
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
    shown: Memo<Vec<ListboxRow>>,
    /// Their list, in which the key of a row is the model's id.
    pub listbox: Listbox,
    /// The favourites. They move to the top when the list is opened again, so that nothing jumps under a finger.
    favourites: RwSignal<Vec<String>>,
}

impl ModelListState {
    /// Returns true if the model at a place matches the query. Tracked.
    pub fn is_shown(self, place: usize) -> bool {
        let by_place = |(at, _): &ListboxRow| *at;
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
        listbox: Listbox::new("model", shown, chosen),
        favourites: RwSignal::new(shortlist.favourites),
    };
    let listbox = list.listbox;
    let choose = move |id: String| {
        close();
        on_choose.run(id);
    };
    let on_key = move |event: ev::KeyboardEvent| {
        listbox.press(&event, choose);
    };
    let field = NodeRef::<html::Input>::new();
    // The chosen model may be far below.
    effect(move || {
        if field.get().is_some() {
            browser::on_next_frame(move || listbox.scroll_to_active());
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
                {listbox.field(texts::FIND_MODEL, String::new(), field, on_key, move |typed| query.set(typed))}
                {IconButton::new(texts::CLOSE, icons::close(), close).view()}
            </div>
            <p class="model-count" role="status">{found}</p>
            <div id=listbox.list_id() class="model-list" role="listbox" aria-label=texts::MODELS tabindex="-1">
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
    let names_endpoint = group.is_mixed;
    let title = match names_endpoint {
        true => group.title,
        false => endpoint_label(group.title),
    };
    let name = title.clone();
    let rows: Vec<_> = group
        .models
        .into_iter()
        .map(|(place, model)| view! { <ModelRow place model names_endpoint list on_choose=choose/> }.erase())
        .collect();
    view! {
        <div role="group" class:hidden=is_hidden aria-label=name>
            <div class="model-group-name" aria-hidden="true">
                {title}
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
    let active = move || list.listbox.active_key();
    let is_favourite = move || active().is_some_and(|id| list.is_favourite(&id));
    let toggle = move |_| {
        if let Some(id) = untrack(active) {
            list.toggle_favourite(&id);
        }
    };
    let can_add = move || models.with_list(|list| list.can_connect || list.can_bring_keys);
    view! {
        <div class="model-foot">
            <button
                type="button"
                class="button button-quiet model-star-button"
                class:hidden=move || active().is_none()
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
