//! The files of a tool's result: images and sounds inline, others as downloads.

use leptos::prelude::*;

use crate::{
    protocol::Attachment,
    protocol::attachment::AttachmentDisplay,
    ui::{components::icons, runtime::erase::Erase},
};

/// All files, if there are any.
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
    let name = file.name;
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
        AttachmentDisplay::Download => {
            let label = name.clone();
            view! {
                <a class="tool-file" href=address download=name>
                    {icons::download()}
                    <span class="tool-file-name">{label}</span>
                    <span class="tool-took">{format_size(file.bytes)}</span>
                </a>
            }
            .erase()
        }
    };
    view! { <li>{shown}</li> }.erase()
}

/// A file size for people.
fn format_size(bytes: usize) -> String {
    let (number, unit) = match bytes {
        0..1000 => (bytes, " bytes"),
        1000..1_000_000 => (bytes.div_ceil(1000), " KB"),
        _ => (bytes.div_ceil(1_000_000), " MB"),
    };
    [&number.to_string(), unit].concat()
}
