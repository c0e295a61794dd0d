//! Projects: their page, and the dialogs that create, change and delete one, or move conversations into it.
//!
//! This module has what every page needs: the sign of a project, and the frame of the dialogs. Their code is in a file of its
//! own ([`mod@dialogs`]), which is loaded when one is first opened. The list shows the projects, too (`sidebar`).

mod deletion;
mod dialogs;
mod file_list;
mod files;
mod form;
mod memories;
mod move_dialog;
mod page;
mod readers;
mod shared;
mod texts;
mod tools;

use leptos::prelude::*;

pub use self::{
    page::{load as load_page, project_below, project_head},
    shared::{load as load_shared_page, shared_project},
};
use crate::{
    components::icons,
    runtime::{erase::Erase, lazy::lazy_part},
    state::{ConversationListStore, use_navigation},
};
use parlor_protocol::{ConversationId, ProjectColour, ProjectId};

/// The sign of a project in its colour.
pub fn project_sign(colour: ProjectColour) -> AnyView {
    view! { <span class=sign_class(colour)>{icons::folder()}</span> }.erase()
}

/// Returns a sign that other people may read a project; `None` without any.
pub fn readers_sign(readers: usize) -> Option<AnyView> {
    (readers > 0).then(|| {
        view! {
            <span class="project-readers" title=texts::shared_with(readers)>
                {icons::people()} <span class="visually-hidden">{texts::shared_with(readers)}</span>
            </span>
        }
        .erase()
    })
}

fn sign_class(colour: ProjectColour) -> &'static str {
    match colour {
        ProjectColour::Grey => "project-sign",
        ProjectColour::Red => "project-sign is-red",
        ProjectColour::Orange => "project-sign is-orange",
        ProjectColour::Yellow => "project-sign is-yellow",
        ProjectColour::Green => "project-sign is-green",
        ProjectColour::Teal => "project-sign is-teal",
        ProjectColour::Blue => "project-sign is-blue",
        ProjectColour::Purple => "project-sign is-purple",
    }
}

/// Conversations that are moved, and the list that has them.
#[derive(Clone)]
pub struct MovedChats {
    pub list: ConversationListStore,
    pub ids: Vec<ConversationId>,
}

/// A dialog about projects.
#[derive(Clone)]
enum Dialog {
    /// Creates a project, and moves these conversations into it.
    Create(Option<MovedChats>),
    Edit(ProjectId),
    Delete(ProjectId),
    /// Shows who may read a project.
    Share(ProjectId),
    /// Asks for the project of conversations.
    Move(MovedChats),
}

/// The dialog that is open, and the selector of what gets the focus when it is closed.
#[derive(Clone, Copy)]
pub struct ProjectDialogs {
    open: RwSignal<Option<(Dialog, String)>>,
}

impl ProjectDialogs {
    /// No dialog. Navigating away closes an open one.
    pub fn new() -> Self {
        let open = RwSignal::new(None);
        use_navigation().clear_when_leaving(open);
        Self { open }
    }

    /// Asks for a new project, which is then shown.
    pub fn create(self, focus_after: String) {
        self.open.set(Some((Dialog::Create(None), focus_after)));
    }

    /// Shows the form of a project.
    pub fn edit(self, id: ProjectId, focus_after: String) {
        self.open.set(Some((Dialog::Edit(id), focus_after)));
    }

    /// Asks what becomes of the conversations of a project, and deletes it.
    pub fn delete(self, id: ProjectId, focus_after: String) {
        self.open.set(Some((Dialog::Delete(id), focus_after)));
    }

    /// Shows who may read a project.
    pub fn share(self, id: ProjectId, focus_after: String) {
        self.open.set(Some((Dialog::Share(id), focus_after)));
    }

    /// Asks for the project of conversations.
    pub fn move_chats(self, chats: MovedChats, focus_after: String) {
        if !chats.ids.is_empty() {
            self.open.set(Some((Dialog::Move(chats), focus_after)));
        }
    }

    /// Goes on to the form of a new project for these conversations.
    fn create_for(self, chats: MovedChats) {
        let focus_after = self.open.with_untracked(|open| {
            let open = open.as_ref();
            open.map(|(_, focus)| focus.clone()).unwrap_or_default()
        });
        self.open.set(Some((Dialog::Create(Some(chats)), focus_after)));
    }
}

/// The dialogs of the page.
pub fn use_project_dialogs() -> ProjectDialogs {
    expect_context()
}

/// The dialog that is open.
pub fn dialogs() -> AnyView {
    let dialogs = use_project_dialogs();
    let shown = move || {
        let (dialog, focus_after) = dialogs.open.get()?;
        Some(lazy_part(move || {
            dialogs::load_view(dialogs, dialog.clone(), focus_after.clone())
        }))
    };
    shown.erase()
}
