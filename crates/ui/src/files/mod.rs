//! Files: images and sounds inline, others as downloads. Those of the user's messages are small, of a fixed size. The text or the
//! tables of a document open in a dialog ([`preview`]), whose code is loaded then. Charts of Plotly are drawn in frames ([`chart`]).

mod chart;
mod preview;
mod texts;

use leptos::prelude::*;

use crate::{
    components::icons,
    runtime::{erase::Erase, lazy::lazy_part, shared_view::use_shared_view, when::When},
};
use parlor_protocol::{Attachment, attachment::AttachmentDisplay, number_format::format_size};

/// The URL of a file: the user's own, or the share's on a reader's page.
pub fn file_url(file: &Attachment) -> String {
    match use_shared_view() {
        Some(share) => share.file(file.id),
        None => file.url(),
    }
}

/// The files of a tool, if there are any.
pub fn file_list(files: Vec<Attachment>) -> Option<AnyView> {
    if files.is_empty() {
        return None;
    }
    let files: Vec<_> = files.into_iter().map(file).collect();
    Some(view! { <ul class="tool-files">{files}</ul> }.erase())
}

/// The card of a file that its user has deleted: its name is all that is left.
pub fn deleted_file(file: &Attachment) -> AnyView {
    view! {
        <span class="deleted-file">
            {icons::page()}
            <span class="tool-file-name" dir="auto">{file.name.clone()}</span>
            {problem_note(file)}
        </span>
    }
    .erase()
}

fn file(file: Attachment) -> AnyView {
    if file.is_deleted() {
        return view! { <li>{deleted_file(&file)}</li> }.erase();
    }
    let url = file_url(&file);
    let name = file.name.clone();
    let shown = match AttachmentDisplay::for_media_type(&file.media_type) {
        AttachmentDisplay::Image => image_link(&file),
        AttachmentDisplay::Audio => {
            let label = name.clone();
            view! {
                <span class="tool-file-name">{name}</span>
                <audio controls preload="none" src=url aria-label=label></audio>
            }
            .erase()
        }
        AttachmentDisplay::Chart => {
            return view! { <li class="tool-chart-item">{chart::chart(&file)}</li> }.erase();
        }
        AttachmentDisplay::Download => download_link(&file),
    };
    view! { <li>{shown}</li> }.erase()
}

/// The largest height of an image in an answer, in pixels.
const MAX_IMAGE_HEIGHT: usize = 320;

/// An image that opens large: in the gallery of the transcript, or without scripts in a tab.
pub fn image_link(file: &Attachment) -> AnyView {
    let (url, name) = (file_url(file), file.name.clone());
    let size = file.width.zip(file.height).map(shown_size);
    let full = url.clone();
    view! {
        <a
            class="tool-image"
            href=full
            target="_blank"
            rel="noopener"
            title=texts::OPEN_IN_FULL
            data-image=file.id.to_string()
        >
            <img
                src=url
                alt=name
                width=size.map(|(width, _)| width.to_string())
                height=size.map(|(_, height)| height.to_string())
            />
        </a>
    }
    .erase()
}

/// The size at which an image of a size is shown. It has its shape, so that a frame around it fits.
fn shown_size((width, height): (usize, usize)) -> (usize, usize) {
    let shown = height.clamp(1, MAX_IMAGE_HEIGHT);
    (width.saturating_mul(shown) / height.max(1), shown)
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
    Some(view! { <ul class="message-files" aria-label=texts::FILES>{files}</ul> }.erase())
}

fn message_file(file: &Attachment, is_pending: ArcRwSignal<bool>) -> AnyView {
    if file.is_deleted() {
        return view! { <li class="message-document">{deleted_file(file)}</li> }.erase();
    }
    let url = file_url(file);
    let name = file.name.clone();
    if AttachmentDisplay::for_media_type(&file.media_type) != AttachmentDisplay::Image {
        return view! {
            <li class="message-document">
                <span class="message-document-row">{download_link(file)} {preview_button(file)}</span>
                {problem_note(file)}
            </li>
        }
        .erase();
    }
    let full = url.clone();
    view! {
        <li>
            <a href=full target="_blank" rel="noopener" title=texts::OPEN_IN_FULL data-image=file.id.to_string()>
                <img
                    src=url
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
        <a class="tool-file" href=file_url(file) download=saved_name>
            {icons::download()}
            <span class="tool-file-name">{name}</span>
            <span class="tool-took">{format_size(file.bytes)}</span>
        </a>
    }
    .erase()
}

/// The note about a document that models can't read.
pub fn problem_note(file: &Attachment) -> Option<AnyView> {
    let problem = file.problem?;
    Some(view! { <span class="file-problem" role="note">{problem.note()}</span> }.erase())
}

/// The button that shows the text or the tables of a document, if it has any.
pub fn preview_button(file: &Attachment) -> Option<AnyView> {
    file.text_bytes?;
    let (id, name) = (file.id, file.name.clone());
    let is_open = RwSignal::new(false);
    let label = texts::show_text_of(&name);
    let dialog = move || {
        let name = name.clone();
        lazy_part(move || preview::load_view(id, name.clone(), is_open))
    };
    Some(
        view! {
            <button
                type="button"
                class="icon-button needs-script"
                aria-label=label
                title=texts::SHOW_TEXT_TITLE
                aria-haspopup="dialog"
                on:click=move |_| is_open.set(true)
            >
                {icons::eye()}
            </button>
            <When when=move || is_open.get()>{dialog()}</When>
        }
        .erase(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tall_images_keep_their_shape() {
        let shown = [(640, 480), (320, 3200), (300, 100), (0, 0), (usize::MAX, 1)].map(shown_size);
        assert_eq!(
            shown,
            [(426, 320), (32, 320), (300, 100), (0, 1), (usize::MAX, 1)]
        );
    }
}
