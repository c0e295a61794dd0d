//! The list of a project's files, with those that are being uploaded, and the upload itself.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{files::FIRST_ROWS, texts};
use crate::{
    api::projects::{delete_project_file, project_files},
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        icon_button::IconButton,
        icons,
        toast::use_toasts,
    },
    files::{preview_button, problem_note},
    runtime::{
        each::Each,
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError},
        requests::LastRequest,
        when::When,
    },
    state::{
        ProjectUpload, Projects,
        file_upload::{FileUpload, UploadState, exceeded_size},
        use_projects,
    },
};
use parlor_protocol::{
    ApiError, Attachment, ProjectFiles, ProjectId, attachment::AttachmentDisplay, number_format::format_size,
};

/// Loads the code of the list.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(id: ProjectId) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || list(id)))
}

/// The most uploads at a time: the page needs connections, too.
const MAX_AT_ONCE: usize = 3;

/// Loads the code of uploads, and begins those that wait.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn upload(projects: Projects) -> Result<(), LoadError> {
    begin_waiting(projects);
    Ok(())
}

fn begin_waiting(projects: Projects) {
    let mut uploads = projects.uploads().get_untracked();
    uploads.retain(|upload| matches!(upload.state.get_untracked(), UploadState::Uploading { .. }));
    let (running, waiting): (Vec<_>, Vec<_>) = uploads
        .into_iter()
        .partition(|upload| upload.has_begun.get_value());
    let mut free = MAX_AT_ONCE.saturating_sub(running.len());
    for upload in waiting {
        if let Some(reason) = exceeded_size(&upload.source) {
            upload.state.set(UploadState::Failed(reason));
        } else if free > 0 {
            free -= 1;
            upload.has_begun.set_value(true);
            send(projects, &upload);
        }
    }
}

fn send(projects: Projects, upload: &ProjectUpload) {
    let uploads = projects.uploads();
    let (key, state) = (upload.key, upload.state.clone());
    let id = upload.project_id.to_string();
    let request = FileUpload {
        url: ["/rpc/projects/", &id, "/files?id=", &upload.file_id.to_string()].concat(),
        source: upload.source.clone(),
        state: upload.state.clone(),
        slot: upload.slot.clone(),
    };
    let is_wanted = move || uploads.with_untracked(|uploads| uploads.iter().any(|upload| upload.key == key));
    request.start(projects.connection(), is_wanted, move || {
        if matches!(state.get_untracked(), UploadState::Uploaded(_)) {
            uploads.update(|uploads| uploads.retain(|upload| upload.key != key));
            // The event that says so may be late.
            projects.reload();
        }
        begin_waiting(projects);
    });
}

/// The files as the server has them.
#[derive(Clone, Copy)]
struct Files {
    project_id: ProjectId,
    projects: Projects,
    list: RwSignal<Option<ProjectFiles>>,
    error: RwSignal<Option<ApiError>>,
    requests: LastRequest,
}

impl Files {
    fn load(self) {
        let (number, connection) = (self.requests.begin(), self.projects.connection());
        spawn_local(async move {
            let loaded = connection.call(project_files(self.project_id)).await;
            if !self.requests.is_last(number) {
                return;
            }
            match loaded {
                Ok(list) => {
                    self.error.try_set(None);
                    self.list.try_set(Some(list));
                }
                Err(error) => {
                    self.error.try_set(Some(error));
                }
            }
        });
    }
}

fn list(project_id: ProjectId) -> AnyView {
    let (projects, toasts, confirm) = (use_projects(), use_toasts(), Confirm::new());
    let connection = projects.connection();
    let files = Files {
        project_id,
        projects,
        list: RwSignal::new(None),
        error: RwSignal::new(None),
        requests: LastRequest::new(),
    };
    effect(move || {
        projects.version();
        if untrack(|| projects.get(project_id).is_some()) {
            files.load();
        }
    });
    let shows_all = RwSignal::new(false);
    let shown = move || {
        let all = files
            .list
            .with(|list| list.as_ref().map(|list| list.files.clone()));
        let mut shown = all.unwrap_or_default();
        // The newest are those that were just added.
        shown.reverse();
        if !shows_all.get() {
            shown.truncate(FIRST_ROWS);
        }
        shown
    };
    let count = move || {
        files
            .list
            .with(|list| list.as_ref().map_or(0, |list| list.files.len()))
    };
    let uploads = move || {
        let uploads = projects.uploads().get().into_iter();
        uploads
            .filter(|upload| upload.project_id == project_id)
            .collect::<Vec<_>>()
    };
    let delete = move |file: Attachment| {
        confirm.ask(ConfirmRequest {
            title: texts::delete_file_title(&file.name),
            text: texts::DELETE_FILE_ABOUT.into(),
            button_label: texts::DELETE,
            on_confirm: Arc::new(move || {
                let id = file.id;
                browser::focus_after_removal();
                spawn_local(async move {
                    match connection.call(delete_project_file(project_id, id)).await {
                        Ok(()) => projects.reload(),
                        Err(error) => toasts.show(&error.message),
                    }
                });
            }),
        });
    };
    view! {
        <ul class="project-file-list" aria-busy=move || (files.list.with(Option::is_none) && files.error.with(Option::is_none)).to_string()>
            <Each of=uploads key=|upload| (0, upload.key) let:upload>{upload_row(projects, upload)}</Each>
            <Each of=shown key=|file| file.id let:file>{row(file, delete)}</Each>
        </ul>
        <When when=move || { count() > FIRST_ROWS && !shows_all.get() }>
            <button type="button" class="button button-quiet" on:click=move |_| shows_all.set(true)>
                {move || texts::show_all_files(count())}
            </button>
        </When>
        {move || files.error.get().map(|error| failure(files, error))}
        {confirm.dialog()}
    }
    .erase()
}

fn failure(files: Files, error: ApiError) -> AnyView {
    view! {
        <p class="project-alarm" role="alert">{error.message}</p>
        <button type="button" class="button button-quiet" on:click=move |_| files.load()>{texts::TRY_AGAIN}</button>
    }
    .erase()
}

fn row(file: Attachment, delete: impl Fn(Attachment) + Copy + Send + Sync + 'static) -> AnyView {
    let (url, name) = (file.url(), file.name.clone());
    let size = format_size(file.bytes);
    let removed = file.clone();
    let opens_here = AttachmentDisplay::for_media_type(&file.media_type) == AttachmentDisplay::Image;
    let icon = match opens_here {
        true => view! { <img src=url.clone() alt="" loading="lazy"/> }.erase(),
        false => icons::page(),
    };
    view! {
        <li class="project-file">
            <span class="attached-preview">{icon}</span>
            <a
                class="project-file-name"
                dir="auto"
                href=url
                download=(!opens_here).then(|| name.clone())
                target=opens_here.then_some("_blank")
                rel="noopener"
            >
                {name.clone()}
            </a>
            {problem_note(&file)}
            <span class="attached-note">{size}</span>
            {preview_button(&file)}
            {IconButton::new(texts::delete_file(&name), icons::trash(), move || delete(removed.clone())).view()}
        </li>
    }
    .erase()
}

fn upload_row(projects: Projects, upload: ProjectUpload) -> AnyView {
    let (key, name) = (upload.key, upload.source.name());
    let state = upload.state.clone();
    let uploading = texts::uploading(&name);
    let remove_label = {
        let (name, state) = (name.clone(), state.clone());
        move || match state.get() {
            UploadState::Uploading { .. } => texts::cancel_upload(&name),
            UploadState::Uploaded(_) | UploadState::Failed(_) => texts::remove_file(&name),
        }
    };
    let again = upload.clone();
    let status = move || match state.get() {
        UploadState::Uploading { percent } => view! {
            <progress max="100" value=percent.to_string() aria-label=uploading.clone()></progress>
        }
        .erase(),
        UploadState::Uploaded(file) => {
            view! { <span class="attached-note">{format_size(file.bytes)}</span> }.erase()
        }
        UploadState::Failed(reason) => {
            let again = again.clone();
            let retry = move |_| {
                again.state.set(UploadState::Uploading { percent: 0 });
                again.has_begun.set_value(false);
                begin_waiting(projects);
            };
            view! {
                <span class="attached-note attached-failed" role="alert">{reason}</span>
                <button type="button" class="button button-quiet" on:click=retry>{texts::TRY_AGAIN}</button>
            }
            .erase()
        }
    };
    let remove = move || {
        browser::focus_after_removal();
        // Dropping its request aborts it.
        projects
            .uploads()
            .update(|uploads| uploads.retain(|upload| upload.key != key));
        begin_waiting(projects);
    };
    view! {
        <li class="project-file">
            <span class="attached-preview">{icons::page()}</span>
            <span class="project-file-name" dir="auto">{name.clone()}</span>
            {status}
            <button type="button" class="icon-button" aria-label=remove_label title=texts::REMOVE on:click=move |_| remove()>
                {icons::close()}
            </button>
        </li>
    }
    .erase()
}
