//! The files of a project on its page: the button that adds some, and room for their list. The list is in a file of its own
//! ([`mod@super::file_list`]), which is loaded when there are some.

use leptos::prelude::*;

use super::{file_list, texts};
use crate::{
    browser,
    components::icons,
    runtime::{
        erase::Erase,
        lazy::{lazy_part_after, when_loaded},
        signal::after_hydration,
    },
    state::{file_upload::UploadState, use_projects},
};
use parlor_protocol::{ApiError, ProjectId};

/// The rows that are shown at first. There is room for them before the list is loaded.
pub const FIRST_ROWS: usize = 5;

const FIELD: &str = ".project-file-input";

/// The files of a project.
pub fn project_files(id: ProjectId) -> AnyView {
    let projects = use_projects();
    let count = Memo::new(move |_| projects.get(id).map_or(0, |listed| listed.files));
    let has_list = Memo::new(move |_| {
        let uploads = projects.uploads();
        count.get() > 0 || uploads.with(|uploads| uploads.iter().any(|upload| upload.project_id == id))
    });
    let on_choice = move |event| {
        let chosen = browser::chosen_files(&event).into_iter();
        let added: Vec<_> = chosen.map(|source| projects.add_upload(id, source)).collect();
        when_loaded(Box::pin(file_list::upload(projects)), move |loaded| {
            if loaded.is_err() {
                for upload in added {
                    upload
                        .state
                        .set(UploadState::Failed(ApiError::unreachable().message));
                }
            }
        });
    };
    let room = move || {
        let rows = untrack(|| count.get()).min(FIRST_ROWS);
        let rows: Vec<_> = (0..rows)
            .map(|_| view! { <li class="project-file"></li> }.erase())
            .collect();
        view! { <ul class="project-file-list" aria-hidden="true">{rows}</ul> }.erase()
    };
    let is_hydrated = after_hydration();
    let list = move || match (has_list.get(), is_hydrated.get()) {
        (true, true) => lazy_part_after(room, move || file_list::load_view(id)),
        (true, false) => room(),
        (false, _) => view! { <p class="project-empty">{texts::NO_FILES}</p> }.erase(),
    };
    view! {
        <section class="project-files" aria-labelledby="project-files">
            <div class="project-files-head">
                <h3 id="project-files">{texts::FILES}</h3>
                <input type="file" class="project-file-input" multiple=true hidden=true aria-label=texts::ADD_FILES on:change=on_choice/>
                <button type="button" class="button button-quiet needs-script" on:click=move |_| browser::open_picker(FIELD)>
                    {icons::plus()} {texts::ADD_FILES}
                </button>
            </div>
            {list}
        </section>
    }
    .erase()
}
