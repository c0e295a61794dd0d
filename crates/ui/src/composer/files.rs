//! The files of the next message: the target to drop them, and their list, whose code is loaded with the first file.

use std::sync::Arc;

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*, wasm_split::wasm_split};

use super::texts;
use crate::{
    browser,
    components::icons,
    files::{preview_button, problem_note},
    runtime::{
        each::Each,
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        when::When,
    },
    state::{DraftFile, file_upload::UploadState, use_navigation, use_next_message},
};
use parlor_protocol::{Attachment, attachment::AttachmentDisplay, number_format::format_size};

/// The target for files that are dragged over the page.
#[component]
pub fn DropTarget() -> impl IntoView {
    let (draft, chat_route) = (use_next_message().files, use_navigation().chat_route());
    // The number of nested elements that the pointer has entered.
    let depth = RwSignal::new(0_i32);
    effect(move || {
        let is_for_us =
            move |event: &ev::DragEvent| browser::has_files(event) && chat_route.get_untracked().is_chat();
        let handles = [
            window_event_listener(ev::dragenter, move |event| {
                if is_for_us(&event) {
                    depth.update(|depth| *depth += 1);
                }
            }),
            window_event_listener(ev::dragleave, move |event| {
                if is_for_us(&event) {
                    depth.update(|depth| *depth = (*depth - 1).max(0));
                }
            }),
            window_event_listener(ev::dragover, move |event| {
                // Otherwise the browser opens the file.
                if is_for_us(&event) {
                    event.prevent_default();
                }
            }),
            window_event_listener(ev::drop, move |event| {
                depth.set(0);
                if is_for_us(&event) {
                    event.prevent_default();
                    let route = chat_route.get_untracked();
                    for file in browser::dropped_files(&event) {
                        draft.add(route, file);
                    }
                }
            }),
        ];
        on_cleanup(move || handles.into_iter().for_each(|handle| handle.remove()));
    });
    view! {
        <When when=move || { depth.get() > 0 }>
            <div class="drop-target">
                <div>{icons::attach()} <p>{texts::DROP_FILES}</p></div>
            </div>
        </When>
    }
}

/// The files of the draft on the screen, if there are any.
#[component]
pub fn FileChips() -> impl IntoView {
    let (draft, chat_route) = (use_next_message().files, use_navigation().chat_route());
    view! {
        <When when=move || draft.has_files(chat_route.get())>{lazy_part(file_chips)}</When>
    }
}

#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn file_chips() -> Result<LazyView, LoadError> {
    Ok(Arc::new(|| view! { <Chips/> }.erase()))
}

#[component]
fn Chips() -> impl IntoView {
    let (draft, chat_route) = (use_next_message().files, use_navigation().chat_route());
    view! {
        <ul class="attached" aria-label=texts::ATTACHED_FILES>
            <Each of=move || draft.for_route(chat_route.get()) key=|file: &DraftFile| (0, file.key) let:file>
                <Chip file/>
            </Each>
        </ul>
    }
}

#[component]
fn Chip(file: DraftFile) -> impl IntoView {
    let draft = use_next_message().files;
    let (state, name) = (file.state.clone(), file.name.clone());
    let shown_preview = {
        let state = state.clone();
        move || match state.get() {
            UploadState::Uploaded(uploaded) => preview(&uploaded),
            UploadState::Uploading { .. } | UploadState::Failed(_) => icons::page(),
        }
    };
    let removed = file.clone();
    let remove = move |_| {
        draft.remove(&removed);
        browser::focus_after_removal();
    };
    let remove_label = {
        let name = file.name.clone();
        let state = state.clone();
        move || match state.get() {
            UploadState::Uploading { .. } => texts::cancel_upload(&name),
            UploadState::Uploaded(_) | UploadState::Failed(_) => texts::remove_file(&name),
        }
    };
    let uploading = texts::uploading(&file.name);
    let status = move || match state.get() {
        UploadState::Uploading { percent } => view! {
            <progress max="100" value=percent.to_string() aria-label=uploading.clone()></progress>
        }
        .erase(),
        UploadState::Uploaded(uploaded) => view! {
            {problem_note(&uploaded)}
            <span class="attached-note">{format_size(uploaded.bytes)}</span>
            {preview_button(&uploaded)}
        }
        .erase(),
        UploadState::Failed(reason) => {
            let again = file.clone();
            view! {
                <span class="attached-note attached-failed" role="alert">{reason}</span>
                <button type="button" class="button button-quiet" on:click=move |_| draft.retry(&again)>
                    {texts::TRY_AGAIN}
                </button>
            }
            .erase()
        }
    };
    view! {
        <li class="attached-file">
            <span class="attached-preview">{shown_preview}</span>
            <span class="attached-name">{name}</span>
            {status}
            <button type="button" class="icon-button" aria-label=remove_label title=texts::REMOVE on:click=remove>
                {icons::close()}
            </button>
        </li>
    }
}

/// A small picture of an image, or an icon.
fn preview(file: &Attachment) -> AnyView {
    match AttachmentDisplay::for_media_type(&file.media_type) {
        AttachmentDisplay::Image => view! { <img src=file.url() alt=""/> }.erase(),
        AttachmentDisplay::Audio | AttachmentDisplay::Chart | AttachmentDisplay::Download => icons::page(),
    }
}
