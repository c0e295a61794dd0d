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
use parlor_protocol::{ProjectId, ProjectReader, ProjectReaders};

/// The dialog's heading, which takes the focus when the pressed button is gone.
const HEADING: &str = "#project-dialog-title";

#[derive(Clone, Copy)]
struct Readers {
    id: ProjectId,
    projects: Projects,
    /// `None` until they are loaded.
    list: RwSignal<Option<Vec<ProjectReader>>>,
    names: NodeRef<html::Input>,
    is_adding: RwSignal<bool>,
    /// The reason why nobody was added or removed.
    error: RwSignal<Option<String>>,
    /// The reason why the list is missing, or not the latest.
    list_error: RwSignal<Option<String>>,
    requests: LastRequest,
}

pub fn readers(frame: Frame, id: ProjectId) -> AnyView {
    let projects = use_projects();
    let readers = Readers {
        id,
        projects,
        list: RwSignal::new(None),
        names: NodeRef::new(),
        is_adding: RwSignal::new(false),
        error: RwSignal::new(None),
        list_error: RwSignal::new(None),
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
    let is_loading = move || readers.list.with(Option::is_none) && readers.list_error.with(Option::is_none);
    let failure = move || {
        readers.list_error.get().map(|error| {
            view! {
                <p class="project-alarm" role="alert">{error}</p>
                <button type="button" class="button button-quiet" on:click=move |_| readers.try_again()>{texts::TRY_AGAIN}</button>
            }
            .erase()
        })
    };
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
                <button class="button button-primary" aria-disabled=move || readers.is_adding.get().then_some("true")>
                    {texts::SHARE}
                </button>
            </div>
        </form>
        <section class="sharing-list" aria-labelledby="project-readers">
            <h3 id="project-readers">{texts::READERS}</h3>
            <When when=is_empty>
                <p class="settings-empty">{texts::NO_READERS}</p>
            </When>
            <When when=is_loading>
                <p class="settings-empty" role="status">{texts::LOADING}</p>
            </When>
            {failure}
            <ul class="settings-list">
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
    /// Loads the list again, which another page may have changed.
    fn load(self) {
        let (number, connection) = (self.requests.begin(), self.projects.connection());
        spawn_local(async move {
            let loaded = connection.call(project_readers(self.id)).await;
            if !self.requests.is_last(number) {
                return;
            }
            match loaded {
                Ok(found) => self.show(found),
                Err(error) => drop(self.list_error.try_set(Some(error.message))),
            }
        });
    }

    /// Loads the list again after a failure. The pressed button goes.
    fn try_again(self) {
        self.list_error.set(None);
        browser::focus_selector(HEADING);
        self.load();
    }

    /// Shows a list. The dialog may be closed by now.
    fn show(self, found: ProjectReaders) {
        self.list_error.try_set(None);
        self.list.try_set(Some(found.readers));
    }

    fn add(self) {
        let Some(field) = self.names.get_untracked() else {
            return;
        };
        let written = field.value();
        let names = written.split([',', ' ', '\n']).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        if self.is_adding.get_untracked() || names.is_empty() {
            return;
        }
        self.is_adding.set(true);
        self.error.set(None);
        let (number, connection) = (self.requests.begin(), self.projects.connection());
        spawn_local(async move {
            let added = connection.call(add_project_readers(self.id, names)).await;
            self.is_adding.try_set(false);
            match added {
                Ok(found) => {
                    field.set_value("");
                    if self.requests.is_last(number) {
                        self.show(found);
                    }
                }
                Err(error) => {
                    self.error.try_set(Some(error.message));
                    // Another page's change may have been passed over for this request.
                    self.load();
                }
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
