//! The images of a conversation in large, one at a time: with arrows, keys and swipes to the others. Its code is loaded with
//! the first click.

use std::sync::Arc;

use leptos::{ev, prelude::*, wasm_split::wasm_split};

use super::{edit_image::edit_image, texts};
use crate::{
    browser::{self, LinkedImage},
    components::{
        confirm::{close_dialog, use_modal},
        icon_button::IconButton,
        icons,
    },
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        shared_view::is_read_only,
    },
    state::{use_navigation, use_next_message},
};

/// The minimum length of a swipe, in pixels.
const MIN_SWIPE: i32 = 48;

/// The opened images, and the position of the shown one.
#[derive(Clone, Copy)]
pub struct Gallery(RwSignal<Option<(Vec<LinkedImage>, usize)>>);

impl Gallery {
    pub fn new() -> Self {
        Self(RwSignal::new(None))
    }

    /// Opens a clicked image. Other clicks are left to the browser.
    pub fn on_click(self, event: &ev::MouseEvent) {
        if !browser::is_plain_click(event) {
            return;
        }
        if let Some(opened) = browser::clicked_image(event) {
            event.prevent_default();
            self.0.set(Some(opened));
        }
    }

    /// The dialog, once an image is opened.
    pub fn view(self) -> AnyView {
        let is_used = Memo::new(move |used: Option<&bool>| {
            used.copied().unwrap_or_default() || self.0.with(Option::is_some)
        });
        (move || is_used.get().then(|| lazy_part(move || gallery_view(self)))).erase()
    }

    /// Shows another image, `step` further on.
    fn step(self, step: isize) {
        self.0.update(|opened| {
            if let Some((images, position)) = opened {
                let next = position.saturating_add_signed(step);
                *position = next.min(images.len().saturating_sub(1));
            }
        });
    }
}

#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible)]
pub fn gallery_view(gallery: Gallery) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Dialog gallery/> }.erase()))
}

#[component]
fn Dialog(gallery: Gallery) -> impl IntoView {
    let (opened, is_read_only) = (gallery.0, is_read_only());
    let dialog = use_modal(move || opened.with(Option::is_some));
    let (files, chat_route) = (use_next_message().files, use_navigation().chat_route());
    let shown = Memo::new(move |_| {
        opened.with(|opened| {
            let (images, position) = opened.as_ref()?;
            Some((images.get(*position)?.clone(), *position, images.len()))
        })
    });
    let on_key = move |event: ev::KeyboardEvent| {
        if browser::has_modifier(&event) {
            return;
        }
        let step = match event.key().as_str() {
            "ArrowLeft" | "PageUp" => -1,
            "ArrowRight" | "PageDown" => 1,
            "Home" => isize::MIN,
            "End" => isize::MAX,
            _ => return,
        };
        event.prevent_default();
        gallery.step(step);
    };
    // The beginning of a swipe.
    let pressed_at = StoredValue::new(None);
    let on_press = move |event: ev::PointerEvent| {
        let is_swipe = event.pointer_type() == "touch" && event.is_primary();
        pressed_at.set_value(is_swipe.then(|| event.client_x()));
    };
    let on_release = move |event: ev::PointerEvent| {
        let Some(pressed_at) = pressed_at.try_update_value(Option::take).flatten() else {
            return;
        };
        let moved: i32 = event.client_x() - pressed_at;
        if moved.abs() >= MIN_SWIPE {
            gallery.step(if moved > 0 { -1 } else { 1 });
        }
    };
    let edit = move |id: String, name: String| {
        move |_| {
            close_dialog(dialog);
            if let Ok(id) = id.parse() {
                edit_image(files, chat_route.get_untracked(), id, name.clone());
            }
        }
    };
    let arrow = move |class: &'static str, label: &'static str, step: isize, is_end: bool| {
        let icon = if step < 0 {
            icons::previous()
        } else {
            icons::next()
        };
        IconButton::new(label, icon, move || gallery.step(step))
            .class(class)
            .disabled_while(move || is_end)
            .view()
    };
    let content = move || {
        shown.get().map(|(image, position, count)| {
            let LinkedImage { id, url, name } = image;
            let place = texts::image_place(position + 1, count);
            let (href, saved, alt) = (url.clone(), name.clone(), name.clone());
            let edited = name.clone();
            view! {
                <div class="gallery-bar">
                    <span class="gallery-name" dir="auto">{name}</span>
                    {(count > 1).then(|| view! { <span class="gallery-place" role="status">{place}</span> })}
                    {(!is_read_only).then(|| view! {
                        <button type="button" class="button button-quiet" on:click=edit(id, edited)>
                            {icons::pencil()} {texts::EDIT_IMAGE}
                        </button>
                    })}
                    <a class="icon-button" href=href download=saved aria-label=texts::DOWNLOAD title=texts::DOWNLOAD>
                        {icons::download()}
                    </a>
                    {IconButton::new(texts::CLOSE, icons::close(), move || close_dialog(dialog)).view()}
                </div>
                <div
                    class="gallery-stage"
                    on:pointerdown=on_press
                    on:pointerup=on_release
                    on:pointercancel=move |_| pressed_at.set_value(None)
                >
                    <img class="gallery-image" src=url alt=alt draggable="false"/>
                    {(count > 1).then(|| arrow("gallery-previous", texts::PREVIOUS_IMAGE, -1, position == 0))}
                    {(count > 1).then(|| arrow("gallery-next", texts::NEXT_IMAGE, 1, position + 1 == count))}
                </div>
            }
            .erase()
        })
    };
    view! {
        <dialog
            node_ref=dialog
            class="dialog gallery"
            aria-label=texts::IMAGE
            on:keydown=on_key
            on:close=move |_| opened.set(None)
        >
            {content}
        </dialog>
    }
}
