//! The page of a project of another person: what its readers see, and nothing that changes it. Its code is in a file of its own,
//! which is loaded when such a project is first shown.

mod content;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::content::{Content, SharedPage};
use super::{project_sign, texts};
use crate::{
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        icons,
        time::Time,
    },
    runtime::{
        each::Each,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
        when::When,
    },
};
use parlor_protocol::{
    Attachment, ProjectId, SharedChat, attachment::AttachmentDisplay, number_format::format_size,
    sharing::shared_path,
};

/// The page of a project of another person.
pub fn shared_project(id: ProjectId) -> AnyView {
    lazy_view(move || load_view(id))
}

/// Loads the code of the page.
#[wasm_split(shared, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view(id: ProjectId) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || page(id)))
}

fn page(id: ProjectId) -> AnyView {
    let page = SharedPage::open(id);
    let confirm = Confirm::new();
    let kind = Memo::new(move |_| {
        page.content.with(|content| match content {
            Content::Loading => None,
            Content::Here(_) => Some(Ok(())),
            Content::Gone(was_here) => Some(Err(*was_here)),
        })
    });
    let shown = move || match kind.get() {
        None => failure(page),
        Some(Ok(())) => view! { {head(page, confirm)} {failure(page)} {parts(page)} }.erase(),
        Some(Err(was_here)) => gone(was_here),
    };
    view! {
        <div id="shared-project" class="shared-project" tabindex="-1">{shown}</div>
        {confirm.dialog()}
    }
    .erase()
}

fn gone(was_here: bool) -> AnyView {
    if !was_here {
        browser::set_not_found();
    }
    let title = match was_here {
        true => texts::NO_LONGER_SHARED,
        false => texts::NOT_SHARED,
    };
    view! { <div class="notice" role="alert"><h2>{title}</h2></div> }.erase()
}

fn failure(page: SharedPage) -> AnyView {
    let shown = move || {
        page.error.get().map(|error| {
            view! {
                <p class="project-alarm" role="alert">{error}</p>
                <button type="button" class="button button-quiet" on:click=move |_| page.try_again()>{texts::TRY_AGAIN}</button>
            }
            .erase()
        })
    };
    shown.erase()
}

fn head(page: SharedPage, confirm: Confirm) -> AnyView {
    let project = Memo::new(move |_| page.read(|content| content.project.clone()));
    let title = move || {
        let project = project.get()?;
        Some(view! { {project_sign(project.colour)} <span dir="auto">{project.name}</span> }.erase())
    };
    let by = move || {
        let (before, after) = texts::SHARED_BY;
        let owner = project.get().map(|project| project.owner);
        view! { {before} <strong dir="auto">{owner}</strong> {after} }.erase()
    };
    let leave = move |_| {
        confirm.ask(ConfirmRequest {
            title: texts::LEAVE_TITLE.into(),
            text: texts::LEAVE_ABOUT.into(),
            button_label: texts::LEAVE,
            on_confirm: Arc::new(move || page.leave()),
        });
    };
    view! {
        <section class="welcome project-welcome">
            <div class="project-title">
                <h2>{title}</h2>
            </div>
            <p class="project-about shared-project-by">
                <span>{by}</span>
                <button type="button" class="button button-quiet needs-script" on:click=leave>{texts::LEAVE}</button>
            </p>
        </section>
    }
    .erase()
}

fn parts(page: SharedPage) -> AnyView {
    let instructions = Memo::new(move |_| {
        let text = page.read(|content| content.instructions.trim().to_owned());
        text.filter(|text| !text.is_empty())
    });
    let files = Memo::new(move |_| page.read(|content| content.files.clone()).unwrap_or_default());
    let chats = move || {
        page.read(|content| content.conversations.clone())
            .unwrap_or_default()
    };
    let has_more = move || page.read(|content| content.next.is_some()) == Some(true);
    let about = move || {
        instructions.get().map(|text| {
            view! {
                <section aria-labelledby="project-instructions">
                    <h3 id="project-instructions">{texts::INSTRUCTIONS}</h3>
                    <p class="shared-project-instructions" dir="auto">{text}</p>
                </section>
            }
            .erase()
        })
    };
    view! {
        <div class="shared-project-parts project-parts">
            {about}
            <section class="project-files" aria-labelledby="project-files">
                <h3 id="project-files">{texts::FILES}</h3>
                <When when=move || files.with(Vec::is_empty)>
                    <p class="project-empty">{texts::SHARED_NO_FILES}</p>
                </When>
                <ul class="project-file-list">
                    <Each of=move || files.get() key=|file| file.id let:file>{file_row(page.id, file)}</Each>
                </ul>
            </section>
            <section class="project-chats" aria-labelledby="project-chats">
                <h3 id="project-chats">{texts::CHATS}</h3>
                <When when=move || chats().is_empty()>
                    <p class="project-empty">{texts::SHARED_NO_CHATS}</p>
                </When>
                <ul>
                    <Each of=chats key=|chat| chat.id let:chat>{chat_row(page, chat)}</Each>
                </ul>
                <When when=has_more>
                    <button
                        type="button"
                        class="button button-quiet needs-script"
                        aria-busy=move || page.is_loading_more.get().to_string()
                        on:click=move |_| page.load_more()
                    >
                        {move || if page.is_loading_more.get() { texts::LOADING } else { texts::SHOW_OLDER }}
                    </button>
                </When>
            </section>
        </div>
    }
    .erase()
}

fn file_row(project_id: ProjectId, file: Attachment) -> AnyView {
    let url = [
        "/rpc/shared-projects/",
        &project_id.to_string(),
        "/files/",
        &file.id.to_string(),
    ]
    .concat();
    let opens_here = AttachmentDisplay::for_media_type(&file.media_type) == AttachmentDisplay::Image;
    let (name, size) = (file.name, format_size(file.bytes));
    view! {
        <li class="project-file">
            <span class="attached-preview">{icons::page()}</span>
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
            <span class="attached-note">{size}</span>
        </li>
    }
    .erase()
}

fn chat_row(page: SharedPage, chat: SharedChat) -> AnyView {
    let id = chat.id;
    let now = Memo::new(move |_| {
        let found = page.read(|content| content.conversations.iter().find(|other| other.id == id).cloned());
        found.flatten().unwrap_or_else(|| chat.clone())
    });
    view! {
        <li>
            <a class="project-chat" href=shared_path(&id.to_string())>
                <span class="project-chat-title" dir="auto">{move || now.get().title}</span>
                {move || view! { <Time at=now.get().updated_at/> }.erase()}
            </a>
        </li>
    }
    .erase()
}
