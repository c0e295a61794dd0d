//! The dialog that deletes a project, and asks what becomes of its conversations.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{dialogs::Frame, texts};
use crate::{
    runtime::{bidi::isolated, erase::Erase},
    state::use_projects,
};
use parlor_protocol::{ProjectConversations, ProjectId};

pub fn deletion(frame: Frame, id: ProjectId) -> AnyView {
    let projects = use_projects();
    // Conversations may have been moved since the list was loaded.
    projects.reload();
    let listed = Memo::new(move |_| projects.get(id));
    let count =
        Memo::new(move |_| listed.with(|listed| listed.as_ref().map_or(0, |listed| listed.conversations)));
    let choice = RwSignal::new(ProjectConversations::Keep);
    let (is_busy, error) = (RwSignal::new(false), RwSignal::new(None));
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        if is_busy.get_untracked() {
            return;
        }
        is_busy.set(true);
        spawn_local(async move {
            let deleted = projects.delete(id, choice.get_untracked()).await;
            let is_here = is_busy.try_set(false).is_none();
            match deleted {
                Ok(()) if is_here => frame.close(),
                Ok(()) => {}
                Err(failure) => drop(error.try_set(Some(failure.message))),
            }
        });
    };
    let title = move || {
        let name = listed.with(|listed| listed.as_ref().map(|listed| listed.project.name.clone()));
        texts::delete_title(&isolated(&name.unwrap_or_default()))
    };
    let option = move |conversations, label, about| {
        view! {
            <label class="project-choice">
                <input
                    type="radio"
                    name="project-conversations"
                    prop:checked=move || choice.get() == conversations
                    on:change=move |_| choice.set(conversations)
                />
                <span><strong>{label}</strong> <span>{about}</span></span>
            </label>
        }
        .erase()
    };
    let choices = move || {
        (count.get() > 0).then(|| {
            view! {
                <fieldset class="project-choices">
                    <legend>{move || texts::chats_in_project(count.get())}</legend>
                    {option(ProjectConversations::Keep, texts::KEEP_CHATS, texts::KEEP_CHATS_ABOUT)}
                    {option(ProjectConversations::Delete, texts::DELETE_CHATS, texts::DELETE_CHATS_ABOUT)}
                </fieldset>
            }
            .erase()
        })
    };
    view! {
        <form on:submit=submit>
            <h2 id="project-dialog-title" dir="auto">{title}</h2>
            <p>{move || texts::delete_about(listed.with(|listed| listed.as_ref().map_or(0, |listed| listed.files)))}</p>
            {choices}
            <div role="alert" class="project-alarm">{move || error.get()}</div>
            <div class="dialog-actions">
                <button type="button" class="button" autofocus on:click=move |_| frame.close()>{texts::CANCEL}</button>
                <button class="button button-danger" aria-disabled=move || is_busy.get().then_some("true")>
                    {texts::DELETE_PROJECT}
                </button>
            </div>
        </form>
    }
    .erase()
}
