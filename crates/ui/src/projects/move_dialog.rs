//! The dialog that asks for the project of conversations.

use leptos::{ev, html, prelude::*};

use super::{MovedChats, dialogs::Frame, project_sign, readers_sign, texts};
use crate::{
    browser,
    components::icons,
    runtime::{
        erase::Erase,
        roving::{AtEnd, Move},
    },
    state::use_projects,
};
use parlor_protocol::{ConversationId, ListChange, ListedProject, ProjectId};

pub fn move_dialog(frame: Frame, chats: MovedChats) -> AnyView {
    let projects = use_projects();
    let present = project_of(&chats);
    let title = texts::move_title(chats.ids.len());
    let (list, chats) = (NodeRef::<html::Ul>::new(), StoredValue::new(chats));
    let move_to = move |project_id: Option<ProjectId>| {
        frame.close();
        let MovedChats { list, ids } = chats.get_value();
        list.change(ids, ListChange::Move { project_id });
    };
    let row = move |sign: AnyView, (name, readers): (String, usize), project_id: Option<ProjectId>| {
        let is_present = present == Some(project_id);
        view! {
            <li>
                <button
                    type="button"
                    class="menu-item project-target"
                    aria-current=is_present.then_some("true")
                    on:click=move |_| move_to(project_id)
                >
                    {sign} <span class="menu-name" dir="auto">{name}</span> {readers_sign(readers)}
                    {is_present.then(|| view! { <span class="menu-check">{icons::check()}</span> }.erase())}
                </button>
            </li>
        }
        .erase()
    };
    let rows = move || {
        let none = row(icons::chat(), (texts::NO_PROJECT.into(), 0), None);
        let of_projects = projects.with(|list| {
            let row = |listed: &ListedProject| {
                let sign = project_sign(listed.project.colour);
                let name = listed.project.name.clone();
                row(sign, (name, listed.readers), Some(listed.id))
            };
            list.projects.iter().map(row).collect::<Vec<_>>()
        });
        std::iter::once(none).chain(of_projects).collect::<Vec<_>>()
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if let (Some(to), Some(list)) = (Move::from_key(&event.key()), list.get_untracked()) {
            event.prevent_default();
            browser::move_focus_among(&list, ".menu-item", None, |from, count| {
                to.target(from, count, AtEnd::Wrap)
            });
        }
    };
    view! {
        <form method="dialog">
            <h2 id="project-dialog-title">{title}</h2>
            <ul node_ref=list class="project-targets" on:keydown=on_key>{rows}</ul>
            <div class="dialog-actions">
                <button type="button" class="button" on:click=move |_| frame.dialogs.create_for(chats.get_value())>
                    {icons::plus()} {texts::NEW_PROJECT}
                </button>
                <button class="button">{texts::CANCEL}</button>
            </div>
        </form>
    }
    .erase()
}

/// The project in which all of the conversations are, if they are in the same one, or all in none.
fn project_of(chats: &MovedChats) -> Option<Option<ProjectId>> {
    untrack(|| {
        chats.list.with_rows(|rows| {
            let place = |id: &ConversationId| {
                let row = rows.iter().find(|row| row.id == *id)?;
                Some(row.project_id.get())
            };
            let first = place(chats.ids.first()?)?;
            let is_same = chats.ids.iter().all(|id| place(id) == Some(first));
            is_same.then_some(first)
        })
    })
}
