//! Images that a model makes: a placeholder of the final size, then the image in its place.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::super::edit_image::edit_image;
use crate::{
    components::icons,
    files::{deleted_file, file_list, file_url, image_link},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        lazy_part::LazyPart,
        shared_view::is_read_only,
    },
    state::{use_navigation, use_next_message},
    transcript::texts,
};
use parlor_protocol::{
    Attachment, ToolCall, ToolStatus, attachment::AttachmentDisplay, tool::object_entries,
};

/// The size of an image whose own is not known.
const DEFAULT_SIZE: Size = (1024, 1024);

/// A width and a height in pixels.
type Size = (usize, usize);

/// An image in an answer itself.
pub fn answer_image(file: Attachment) -> AnyView {
    match file.is_deleted() {
        true => deleted_file(&file),
        false => lazy_part(move || load_image_view(file.clone())),
    }
}

/// Loads the code of the view on first use.
#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_image))]
pub fn load_image_view(file: Attachment) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let image = made_image(file.clone(), DEFAULT_SIZE);
        view! { <div class="answer-image" data-lazy=LazyPart::Image.name()>{image}</div> }.erase()
    }))
}

/// The images of a call, or the placeholder while it runs.
pub fn made_images(call: ArcRwSignal<ToolCall>) -> AnyView {
    // The reported size also counts when the report is gone. Before it, a placeholder could have another size.
    let expected = {
        let call = call.clone();
        Memo::new(move |before: Option<&Option<Size>>| {
            call.with(reported_size).or_else(|| before.copied().flatten())
        })
    };
    let shown =
        Memo::new(move |_| call.with(|call| (call.status == ToolStatus::Running, call.attachments.clone())));
    let size = move || expected.get_untracked().unwrap_or(DEFAULT_SIZE);
    (move || match shown.get() {
        (true, _) => expected.get().map(placeholder),
        (false, files) if files.is_empty() => None,
        (false, files) => {
            let is_image = |file: &Attachment| {
                !file.is_deleted()
                    && AttachmentDisplay::for_media_type(&file.media_type) == AttachmentDisplay::Image
            };
            let (images, others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_image);
            let images: Vec<_> = images
                .into_iter()
                .map(|image| made_image(image, size()))
                .collect();
            Some(view! { {images} {file_list(others)} }.erase())
        }
    })
    .erase()
}

/// The size that the tool has reported.
fn reported_size(call: &ToolCall) -> Option<Size> {
    let fields = object_entries(call.progress.as_ref()?.data.as_ref()?)?;
    let number = |name: &str| -> Option<usize> {
        let (_, value) = fields.iter().find(|(key, _)| key == name)?;
        value.as_str().parse().ok().filter(|number| *number > 0)
    };
    Some((number("width")?, number("height")?))
}

fn placeholder(size: Size) -> AnyView {
    view! {
        <figure class="made">
            <div class="made-image made-placeholder" role="img" aria-label=texts::IMAGE_BEING_MADE>
                {sizer(size)}
            </div>
            <figcaption class="made-actions"></figcaption>
        </figure>
    }
    .erase()
}

fn made_image(file: Attachment, expected: Size) -> AnyView {
    let size = file.width.zip(file.height).unwrap_or(expected);
    let (files, chat_route) = (use_next_message().files, use_navigation().chat_route());
    let (id, name) = (file.id, file.name.clone());
    let edit = move |_| edit_image(files, chat_route.get_untracked(), id, name.clone());
    let (url, saved_name) = (file_url(&file), file.name.clone());
    view! {
        <figure class="made">
            <div class="made-image">{sizer(size)} {image_link(&file)}</div>
            <figcaption class="made-actions">
                {(!is_read_only()).then(|| view! {
                    <button type="button" class="button button-quiet needs-script" on:click=edit>
                        {icons::pencil()} {texts::EDIT_IMAGE}
                    </button>
                })}
                <a class="button button-quiet" href=url download=saved_name>
                    {icons::download()} {texts::DOWNLOAD}
                </a>
            </figcaption>
        </figure>
    }
    .erase()
}

/// An empty picture that keeps the place of an image: inline styles are not allowed.
fn sizer((width, height): Size) -> AnyView {
    let view_box = ["0 0 ", &width.to_string(), " ", &height.to_string()].concat();
    view! {
        <svg class="made-sizer" width=width.to_string() height=height.to_string() viewBox=view_box aria-hidden="true"></svg>
    }
    .erase()
}
