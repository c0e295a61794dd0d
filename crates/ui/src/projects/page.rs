//! The page of a project: its name and instructions above the message box, its files and conversations below.
//!
//! Its code is in a file of its own, which is loaded when a project is first shown.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{files::project_files, memories::memories, project_sign, texts, use_project_dialogs};
use crate::{
    browser,
    components::{icon_button::IconButton, icons, not_found::not_found_notice, time::Time},
    runtime::{
        each::Each,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part, lazy_view},
        signal::after_hydration,
        when::When,
    },
    state::{ListRow, drafts, route::Route, use_project_chats, use_projects},
};
use parlor_protocol::ProjectId;

/// A part of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagePart {
    /// Above the message box.
    Head,
    Below,
}

/// The project above the message box.
pub fn project_head(id: ProjectId) -> AnyView {
    lazy_view(move || load_view(id, PagePart::Head))
}

/// The files and the conversations of the project, below the message box.
pub fn project_below(id: ProjectId) -> AnyView {
    lazy_part(move || load_view(id, PagePart::Below))
}

/// Loads the code of the page.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view(id: ProjectId, part: PagePart) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || match part {
        PagePart::Head => head_or_notice(id),
        PagePart::Below => below(id),
    }))
}

fn head_or_notice(id: ProjectId) -> AnyView {
    let projects = use_projects();
    let is_missing = Memo::new(move |_| projects.is_missing(id));
    let view = move || match is_missing.get() {
        true => missing(id),
        false => head(id),
    };
    view.erase()
}

fn missing(id: ProjectId) -> AnyView {
    browser::set_not_found();
    // What was written here would not be seen again.
    drafts::move_to_new_chat(Route::Project(id));
    not_found_notice(texts::NOT_FOUND)
}

fn head(id: ProjectId) -> AnyView {
    let (projects, dialogs) = (use_projects(), use_project_dialogs());
    let project = Memo::new(move |_| projects.get(id).map(|listed| listed.project));
    let title = move || {
        let project = project.get()?;
        Some(view! { {project_sign(project.colour)} <span dir="auto">{project.name}</span> }.erase())
    };
    let readers = Memo::new(move |_| projects.get(id).map_or(0, |listed| listed.readers));
    let shared = move || {
        let readers = readers.get();
        (readers > 0).then(|| {
            view! { <p class="project-shared">{icons::people()} {texts::shared_with(readers)}</p> }.erase()
        })
    };
    let instructions = move || {
        let text = project.with(|project| {
            project
                .as_ref()
                .map(|project| project.instructions.trim().to_owned())
        });
        let text = text.unwrap_or_default();
        match text.is_empty() {
            true => view! { <p class="project-about">{texts::NO_INSTRUCTIONS}</p> }.erase(),
            false => view! { <p class="project-about project-excerpt" dir="auto">{text}</p> }.erase(),
        }
    };
    view! {
        <section class="welcome project-welcome">
            <div class="project-title">
                <h2>{title}</h2>
                {IconButton::new(texts::EDIT, icons::pencil(), move || dialogs.edit(id, ".project-title button".into())).view()}
                {share_button(id)}
                {IconButton::new(texts::DELETE_PROJECT, icons::trash(), move || {
                    dialogs.delete(id, ".project-title button:last-of-type".into());
                }).view()}
            </div>
            {shared}
            {instructions}
        </section>
    }
    .erase()
}

/// The button that shows who may read the project. Without accounts there is nobody to share it with; the page knows that in
/// the browser.
fn share_button(id: ProjectId) -> AnyView {
    let (dialogs, is_hydrated) = (use_project_dialogs(), after_hydration());
    let button = move || {
        (is_hydrated.get() && browser::share_choices().people).then(|| {
            IconButton::new(texts::SHARE_PROJECT, icons::people(), move || {
                dialogs.share(id, ".project-title button + button".into());
            })
            .view()
        })
    };
    button.erase()
}

fn below(id: ProjectId) -> AnyView {
    let (projects, chats) = (use_projects(), use_project_chats());
    let is_empty = move || chats.with_rows(<[ListRow]>::is_empty) && !chats.has_more();
    let is_missing = Memo::new(move |_| projects.is_missing(id));
    let list = move || {
        (!is_missing.get()).then(|| {
            view! {
                <div class="welcome-cards project-parts">
                {project_files(id)}
                <section class="project-chats" aria-labelledby="project-chats">
                    <h3 id="project-chats">{texts::CHATS}</h3>
                    <When when=is_empty>
                        <p class="project-empty">{texts::NO_CHATS}</p>
                    </When>
                    <ul>
                        <Each of=move || chats.with_rows(<[ListRow]>::to_vec) key=|row| row.id let:row>
                            {chat(row)}
                        </Each>
                    </ul>
                    {move || chats.error().map(|error| view! { <p class="project-alarm" role="alert">{error.message}</p> }.erase())}
                    <When when=move || chats.has_more()>
                        <button
                            type="button"
                            class="button button-quiet needs-script"
                            aria-busy=move || chats.is_loading_more().to_string()
                            on:click=move |_| chats.load_more()
                        >
                            {move || if chats.is_loading_more() { texts::LOADING } else { texts::SHOW_OLDER }}
                        </button>
                    </When>
                </section>
                {memories(id)}
                </div>
            }
            .erase()
        })
    };
    list.erase()
}

fn chat(row: ListRow) -> AnyView {
    let ListRow {
        id,
        title,
        updated_at,
        ..
    } = row;
    view! {
        <li>
            <a class="project-chat" href=Route::Conversation(id).path()>
                <span class="project-chat-title" dir="auto">{move || title.get()}</span>
                {move || view! { <Time at=updated_at.get()/> }.erase()}
            </a>
        </li>
    }
    .erase()
}
