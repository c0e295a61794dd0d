//! The form of a project.

use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{MovedChats, dialogs::Frame, sign_class, texts, tools};
use crate::{
    components::icons,
    fields::model_field,
    runtime::erase::Erase,
    state::{route::Route, use_navigation, use_projects},
};
use parlor_protocol::{ErrorCode, ListChange, Project, ProjectColour, ProjectId};

/// The form that is on the screen.
#[derive(Clone, Copy)]
struct FormState {
    id: ProjectId,
    project: RwSignal<Project>,
    /// The version that is edited; `None` of a new project.
    known: StoredValue<Option<Project>>,
    is_saving: RwSignal<bool>,
    error: RwSignal<Option<String>>,
}

/// The form of a project, or of a new one, into which these conversations are then moved.
pub fn form(frame: Frame, edited: Option<ProjectId>, chats: Option<MovedChats>) -> AnyView {
    let (projects, navigation) = (use_projects(), use_navigation());
    let known = edited.and_then(|id| untrack(|| projects.get(id)));
    let known = known.map(|listed| listed.project);
    let is_new = edited.is_none();
    let state = FormState {
        id: edited.unwrap_or_default(),
        project: RwSignal::new(known.clone().unwrap_or_default()),
        known: StoredValue::new(edited.map(|_| known.unwrap_or_default())),
        is_saving: RwSignal::new(false),
        error: RwSignal::new(None),
    };
    let chats = StoredValue::new(chats);
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        if state.is_saving.get_untracked() {
            return;
        }
        state.is_saving.set(true);
        spawn_local(async move {
            let saved = projects
                .save(state.id, state.project.get_untracked(), state.known.get_value())
                .await;
            // The dialog may be closed by now.
            let is_here = state.is_saving.try_set(false).is_none();
            match saved {
                Ok(()) if is_here => {
                    frame.close();
                    match chats.try_get_value().flatten() {
                        Some(chats) => {
                            let project_id = Some(state.id);
                            chats.list.change(chats.ids, ListChange::Move { project_id });
                            projects.unfold(state.id, true);
                        }
                        None if is_new => navigation.set_url(Route::Project(state.id).path(), false),
                        None => {}
                    }
                }
                Ok(()) => {}
                Err(error) => {
                    let is_outdated = error.code == ErrorCode::NoteChanged;
                    drop(state.error.try_set(Some(error.message)));
                    if is_outdated && is_here {
                        // Saving again replaces that version.
                        projects.refresh().await;
                        let now = untrack(|| projects.get(state.id)).map(|listed| listed.project);
                        if let Some(now) = now {
                            state.known.try_update_value(|known| *known = Some(now));
                        }
                    }
                }
            }
        });
    };
    let title = if is_new {
        texts::NEW_TITLE
    } else {
        texts::EDIT_TITLE
    };
    let button = if is_new { texts::CREATE } else { texts::SAVE };
    view! {
        <form on:submit=submit class="stream-form">
            <h2 id="project-dialog-title">{title}</h2>
            {name(state)}
            {colours(state)}
            {instructions(state)}
            {model(state)}
            {tools::tools(state.project)}
            <div role="alert" class="project-alarm">{move || state.error.get()}</div>
            <div class="dialog-actions">
                <button type="button" class="button" on:click=move |_| frame.close()>{texts::CANCEL}</button>
                <button class="button button-primary" aria-disabled=move || state.is_saving.get().then_some("true")>
                    {button}
                </button>
            </div>
        </form>
    }
    .erase()
}

fn name(state: FormState) -> AnyView {
    let field = NodeRef::<html::Input>::new();
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.project.update(|project| project.name = text);
    };
    view! {
        <div class="stream-field">
            <label for="project-name">{texts::NAME}</label>
            <input
                node_ref=field
                id="project-name"
                required
                autofocus
                autocomplete="off"
                dir="auto"
                maxlength="200"
                placeholder=texts::NAME_PLACEHOLDER
                prop:value=move || state.project.with(|project| project.name.clone())
                on:input=input
            />
        </div>
    }
    .erase()
}

fn colours(state: FormState) -> AnyView {
    let swatch = |colour: ProjectColour| {
        let is_chosen = move || state.project.with(|project| project.colour == colour);
        view! {
            <label class="project-swatch" title=colour.name()>
                <input
                    type="radio"
                    name="project-colour"
                    aria-label=colour.name()
                    prop:checked=is_chosen
                    on:change=move |_| state.project.update(|project| project.colour = colour)
                />
                <span class=sign_class(colour)>{icons::folder()}</span>
            </label>
        }
        .erase()
    };
    let swatches: Vec<_> = ProjectColour::ALL.into_iter().map(swatch).collect();
    view! {
        <fieldset class="project-colours">
            <legend>{texts::COLOUR}</legend>
            <div class="project-swatches">{swatches}</div>
        </fieldset>
    }
    .erase()
}

fn instructions(state: FormState) -> AnyView {
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.project.update(|project| project.instructions = text);
    };
    view! {
        <div class="stream-field">
            <label for="project-instructions">{texts::INSTRUCTIONS}</label>
            <textarea
                id="project-instructions"
                rows="5"
                dir="auto"
                aria-describedby="project-instructions-help"
                placeholder=texts::INSTRUCTIONS_PLACEHOLDER
                prop:value=move || state.project.with(|project| project.instructions.clone())
                on:input=input
            ></textarea>
            <p id="project-instructions-help" class="stream-help">{texts::INSTRUCTIONS_HELP}</p>
        </div>
    }
    .erase()
}

/// The model of conversations that begin in the project.
fn model(state: FormState) -> AnyView {
    let chosen = Memo::new(move |_| state.project.with(|project| project.model.clone()));
    let choose = move |model| state.project.update(|project| project.model = model);
    model_field(
        ("project-model", texts::MODEL, texts::DEFAULT_MODEL),
        chosen,
        choose,
    )
}
