//! One project in the list, with its conversations while it is unfolded.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{
    drag::Dragging,
    groups::{ListGroup, RowGroup, project_of, rows_of_group},
    item::ConversationItem,
    links::{project_link_id, shared_project_link_id},
    list_keys::{RowKey, TabStop},
    list_view::use_list_view,
    texts,
};
use crate::{
    commands::Shortcut,
    components::{
        icons,
        menu::{ItemKind, Menu},
    },
    projects::{project_sign, readers_sign, use_project_dialogs},
    runtime::{
        bidi::isolated,
        each::Each,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
    },
    state::{route::Route, use_navigation, use_projects},
};
use parlor_protocol::ProjectId;

/// The menu of all projects, and the project for which it was opened last.
#[derive(Clone, Copy)]
pub struct ProjectMenu {
    menu: Menu,
    project: RwSignal<Option<ProjectId>>,
}

impl ProjectMenu {
    /// Creates a closed menu.
    pub fn new() -> Self {
        Self {
            menu: Menu::new("project-menu"),
            project: RwSignal::new(None),
        }
    }

    /// The menu.
    pub fn view(self) -> AnyView {
        let projects = use_projects();
        let name = move || {
            let listed = self.project.get().and_then(|id| projects.get(id));
            texts::actions_for(&isolated(
                &listed.map(|listed| listed.project.name).unwrap_or_default(),
            ))
        };
        self.menu.view(name, move || lazy_part(move || load_items(self)))
    }

    fn items(self) -> Option<AnyView> {
        let dialogs = use_project_dialogs();
        let id = self.project.get()?;
        let button = self.menu.button();
        let focus = button.clone();
        Some(self.menu.items(vec![
            self.menu.item(ItemKind::Action(icons::pencil()), texts::EDIT_PROJECT, move || {
                dialogs.edit(id, focus.clone());
            }),
            self.menu.item(ItemKind::Action(icons::trash()), texts::DELETE, move || {
                dialogs.delete(id, button.clone());
            }),
        ]))
    }

    fn button(self, id: ProjectId, name: Memo<String>) -> AnyView {
        let button_id = ["actions-", &id.to_string()].concat();
        let selector = ["[id='", &button_id, "']"].concat();
        let press = move |_| {
            self.menu.set_button(selector.clone());
            self.project.set(Some(id));
        };
        view! {
            <button
                type="button"
                id=button_id
                class="icon-button"
                class:is-open=move || self.menu.is_open() && self.project.get() == Some(id)
                tabindex="-1"
                aria-keyshortcuts=Shortcut::RowActions.aria()
                aria-label=move || texts::actions_for(&isolated(&name.get()))
                title=texts::ACTIONS
                aria-haspopup="menu"
                popovertarget=self.menu.id()
                on:click=press
            >
                {icons::dots()}
            </button>
        }
        .erase()
    }
}

#[wasm_split(palette, wasm_split_path = leptos::wasm_split, fallible)]
fn load_items(menu: ProjectMenu) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || menu.items().erase()))
}

/// The list of the projects.
pub fn project_list(groups: Memo<Vec<RowGroup>>, menu: ProjectMenu) -> AnyView {
    let projects = use_projects();
    view! {
        <ul class="projects">
            <Each of=move || projects.ids() key=|id| *id let:id>
                {project_item(id, groups, menu)}
            </Each>
        </ul>
    }
    .erase()
}

fn project_item(id: ProjectId, groups: Memo<Vec<RowGroup>>, menu: ProjectMenu) -> AnyView {
    let (projects, view, page_route) = (use_projects(), use_list_view(), use_navigation().page_route());
    let (stop, dragging) = (expect_context::<TabStop>(), expect_context::<Dragging>());
    let project = Memo::new(move |_| projects.get(id).map(|listed| listed.project).unwrap_or_default());
    let name = Memo::new(move |_| project.with(|project| project.name.clone()));
    let readers = Memo::new(move |_| projects.get(id).map_or(0, |listed| listed.readers));
    let here = Memo::new(move |_| page_route.get() == Route::Project(id));
    let is_open = Memo::new(move |_| view.is_unfolded(id));
    let key = RowKey::Project(id);
    let rows = move || {
        let rows = groups
            .with(|groups| rows_of_group(groups, ListGroup::Projects))
            .into_iter();
        rows.filter(|row| project_of(row, &[id]).is_some())
            .collect::<Vec<_>>()
    };
    let is_empty = Memo::new(move |_| rows().is_empty());
    let fold_name = move || match is_open.get() {
        true => texts::fold(&isolated(&name.get())),
        false => texts::unfold(&isolated(&name.get())),
    };
    let chats = move || {
        is_open.get().then(|| {
            view! {
                <ul class="project-rows">
                    <Each of=rows key=|row| row.id let:row>
                        <ConversationItem row/>
                    </Each>
                </ul>
                {move || (is_empty.get() && !view.list().has_more()).then(|| view! {
                    <p class="list-empty project-rows">{texts::PROJECT_EMPTY}</p>
                }.erase())}
                {move || view.list().has_more().then(|| view! {
                    <a class="project-more" href=Route::Project(id).path() tabindex="-1">{texts::ALL_OF_PROJECT}</a>
                }.erase())}
            }
            .erase()
        })
    };
    view! {
        <li
            class="project"
            class:is-drop-target=move || dragging.is_over(Some(id))
            on:dragover=move |event| dragging.enter(&event, Some(id))
            on:drop=move |event| dragging.drop_on(&event, Some(id))
        >
            <div class="item" class:item-here=here>
                <button
                    type="button"
                    class="project-fold needs-script"
                    tabindex="-1"
                    aria-expanded=move || is_open.get().to_string()
                    aria-label=fold_name
                    on:click=move |_| projects.unfold(id, !is_open.get_untracked())
                >
                    {icons::next()}
                </button>
                <a
                    id=project_link_id(id)
                    class="item-link"
                    href=Route::Project(id).path()
                    tabindex=move || stop.tabindex(key)
                    on:focus=move |_| stop.on_focus(key)
                    aria-current=move || here.get().then_some("page")
                    aria-keyshortcuts=Shortcut::FoldProject.aria()
                >
                    {move || project_sign(project.with(|project| project.colour))}
                    <span class="item-title" dir="auto">{move || name.get()}</span>
                    {move || readers_sign(readers.get())}
                </a>
                <div class="item-actions needs-script">{menu.button(id, name)}</div>
            </div>
            {chats}
        </li>
    }
    .erase()
}

/// The list of the projects of others.
pub fn shared_project_list() -> AnyView {
    let view = use_list_view();
    view! {
        <ul class="projects">
            <Each of=move || view.shared_project_ids() key=|id| *id let:id>
                {shared_project_item(id)}
            </Each>
        </ul>
    }
    .erase()
}

fn shared_project_item(id: ProjectId) -> AnyView {
    let (projects, page_route) = (use_projects(), use_navigation().page_route());
    let (stop, key) = (expect_context::<TabStop>(), RowKey::SharedProject(id));
    let shared = Memo::new(move |_| projects.get_shared(id));
    let here = Memo::new(move |_| page_route.get() == Route::SharedProject(id));
    let content = move || {
        let shared = shared.get()?;
        let by = texts::shared_by(&isolated(&shared.owner));
        Some(
            view! {
                {project_sign(shared.colour)}
                <span class="item-title" dir="auto">{shared.name}</span>
                <span class="visually-hidden">{by}</span>
            }
            .erase(),
        )
    };
    view! {
        <li class="project">
            <div class="item" class:item-here=here>
                <a
                    id=shared_project_link_id(id)
                    class="item-link shared-project-link"
                    href=Route::SharedProject(id).path()
                    tabindex=move || stop.tabindex(key)
                    on:focus=move |_| stop.on_focus(key)
                    aria-current=move || here.get().then_some("page")
                >
                    {content}
                </a>
            </div>
        </li>
    }
    .erase()
}
