//! The dialog that says who may read a project, adds people by name, and removes them.

use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{dialogs::Frame, texts};
use crate::{
    api::projects::{add_project_readers, project_readers, remove_project_reader},
    browser,
    components::time::Time,
    runtime::{effect::effect, erase::Erase, requests::LastRequest, when::When},
    state::{Projects, use_projects},
};
use parlor_protocol::{ApiError, ProjectId, ProjectReader, ProjectReaders};

/// The dialog's heading, which takes the focus when the pressed button is gone.
const HEADING: &str = "#project-dialog-title";

#[derive(Clone, Copy)]
struct Readers {
    id: ProjectId,
    projects: Projects,
    /// `None` until they are loaded.
    list: RwSignal<Option<Vec<ProjectReader>>>,
    names: NodeRef<html::Input>,
    is_busy: RwSignal<bool>,
    error: RwSignal<Option<String>>,
    requests: LastRequest,
}

pub fn readers(frame: Frame, id: ProjectId) -> AnyView {
    let projects = use_projects();
    let readers = Readers {
        id,
        projects,
        list: RwSignal::new(None),
        names: NodeRef::new(),
        is_busy: RwSignal::new(false),
        error: RwSignal::new(None),
        requests: LastRequest::new(),
    };
    // One who leaves the project is told of as a change of it.
    effect(move || {
        projects.version();
        readers.load();
    });
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        readers.add();
    };
    let rows = move || {
        let list = readers.list.get().unwrap_or_default().into_iter();
        list.map(|reader| row(readers, reader)).collect::<Vec<_>>()
    };
    let is_empty = move || readers.list.with(|list| list.as_ref().is_some_and(Vec::is_empty));
    view! {
        <form on:submit=submit>
            <h2 id="project-dialog-title" tabindex="-1">{texts::SHARE_TITLE}</h2>
            <p class="sharing-note">{texts::SHARE_ABOUT}</p>
            <label class="field">
                {texts::READER_NAMES}
                <input
                    node_ref=readers.names
                    class="settings-input"
                    required
                    autofocus
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck="false"
                    placeholder=texts::READER_NAMES_EXAMPLE
                />
            </label>
            <div role="alert" class="project-alarm">{move || readers.error.get()}</div>
            <div class="dialog-actions">
                <button type="button" class="button" on:click=move |_| frame.close()>{texts::CLOSE}</button>
                <button class="button button-primary" aria-disabled=move || readers.is_busy.get().then_some("true")>
                    {texts::SHARE}
                </button>
            </div>
        </form>
        <section class="sharing-list" aria-labelledby="project-readers">
            <h3 id="project-readers">{texts::READERS}</h3>
            <When when=is_empty>
                <p class="settings-empty">{texts::NO_READERS}</p>
            </When>
            <ul class="settings-list" aria-busy=move || readers.list.with(Option::is_none).to_string()>
                {rows}
            </ul>
        </section>
    }
    .erase()
}

fn row(readers: Readers, reader: ProjectReader) -> AnyView {
    let ProjectReader { name, since } = reader;
    let (label, removed) = (texts::remove_reader(&name), name.clone());
    view! {
        <li class="settings-row">
            <div class="settings-what">
                <p dir="auto">{name}</p>
                <p class="settings-facts"><span>{texts::SINCE} <Time at=since/></span></p>
            </div>
            <button
                type="button"
                class="button button-quiet"
                aria-label=label
                on:click=move |_| readers.remove(removed.clone())
            >
                {texts::REMOVE}
            </button>
        </li>
    }
    .erase()
}

impl Readers {
    fn load(self) {
        self.request(project_readers(self.id), || {});
    }

    fn add(self) {
        let Some(field) = self.names.get_untracked() else {
            return;
        };
        let written = field.value();
        let names = written.split([',', ' ', '\n']).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        if self.is_busy.get_untracked() || names.is_empty() {
            return;
        }
        self.is_busy.set(true);
        self.request(add_project_readers(self.id, names), move || field.set_value(""));
    }

    /// Sends a request for the readers, and then does something if it succeeded.
    fn request(
        self,
        request: impl Future<Output = Result<ProjectReaders, ApiError>> + 'static,
        and_then: impl FnOnce() + 'static,
    ) {
        let (number, connection) = (self.requests.begin(), self.projects.connection());
        self.error.set(None);
        spawn_local(async move {
            let loaded = connection.call(request).await;
            // The dialog may be closed by now.
            self.is_busy.try_set(false);
            match loaded {
                Ok(found) => {
                    and_then();
                    if self.requests.is_last(number) {
                        self.list.try_set(Some(found.readers));
                    }
                }
                Err(error) => drop(self.error.try_set(Some(error.message))),
            }
        });
    }

    fn remove(self, name: String) {
        let connection = self.projects.connection();
        self.error.set(None);
        browser::focus_selector(HEADING);
        spawn_local(async move {
            match connection.call(remove_project_reader(self.id, name)).await {
                Ok(()) => self.load(),
                Err(error) => drop(self.error.try_set(Some(error.message))),
            }
        });
    }
}
