//! Files: images and sounds inline, others as downloads. Those of the user's messages are small, of a fixed size.

use leptos::prelude::*;

use crate::{
    protocol::Attachment,
    protocol::attachment::AttachmentDisplay,
    ui::{components::icons, runtime::erase::Erase},
};

/// The files of a tool, if there are any.
pub fn file_list(files: Vec<Attachment>) -> Option<AnyView> {
    if files.is_empty() {
        return None;
    }
    let files: Vec<_> = files.into_iter().map(file).collect();
    Some(view! { <ul class="tool-files">{files}</ul> }.erase())
}

fn file(file: Attachment) -> AnyView {
    let address = file.url();
    let full = address.clone();
    let name = file.name.clone();
    let shown = match AttachmentDisplay::for_media_type(&file.media_type) {
        AttachmentDisplay::Image => view! {
            <a class="tool-image" href=full target="_blank" rel="noopener" title="Open in full">
                <img src=address alt=name/>
            </a>
        }
        .erase(),
        AttachmentDisplay::Audio => {
            let label = name.clone();
            view! {
                <span class="tool-file-name">{name}</span>
                <audio controls preload="none" src=address aria-label=label></audio>
            }
            .erase()
        }
        AttachmentDisplay::Download => download_link(&file),
    };
    view! { <li>{shown}</li> }.erase()
}

/// The files of a message of the user, if there are any. A click on one that is `pending` does nothing yet.
pub fn message_files(files: &[Attachment], is_pending: ArcRwSignal<bool>) -> Option<AnyView> {
    if files.is_empty() {
        return None;
    }
    let files: Vec<_> = files
        .iter()
        .map(|file| message_file(file, is_pending.clone()))
        .collect();
    Some(view! { <ul class="message-files" aria-label="Files">{files}</ul> }.erase())
}

fn message_file(file: &Attachment, is_pending: ArcRwSignal<bool>) -> AnyView {
    let address = file.url();
    let name = file.name.clone();
    if AttachmentDisplay::for_media_type(&file.media_type) != AttachmentDisplay::Image {
        return view! { <li>{download_link(file)}</li> }.erase();
    }
    let full = address.clone();
    view! {
        <li>
            <a href=full target="_blank" rel="noopener" title="Open in full">
                <img
                    src=address
                    alt=name
                    loading="lazy"
                    width=file.width.map(|width| width.to_string())
                    height=file.height.map(|height| height.to_string())
                    data-pending=move || is_pending.get().then_some("true")
                />
            </a>
        </li>
    }
    .erase()
}

fn download_link(file: &Attachment) -> AnyView {
    let (name, saved_name) = (file.name.clone(), file.name.clone());
    view! {
        <a class="tool-file" href=file.url() download=saved_name>
            {icons::download()}
            <span class="tool-file-name">{name}</span>
            <span class="tool-took">{format_size(file.bytes)}</span>
        </a>
    }
    .erase()
}

/// A file size for people.
pub fn format_size(bytes: usize) -> String {
    let (number, unit) = match bytes {
        0..1000 => (bytes, " bytes"),
        1000..1_000_000 => (bytes.div_ceil(1000), " KB"),
        _ => (bytes.div_ceil(1_000_000), " MB"),
    };
    [&number.to_string(), unit].concat()
}
