//! Previews of code blocks: an SVG as an image, a page in a frame.
//!
//! Browsers run no script of an `img` and load nothing for it. A frame is sandboxed, and gets its document from
//! `/frame` (`http::frame`), with a policy that allows neither requests nor scripts.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{preview::PreviewKind, xml_error::xml_error};
use crate::ui::{
    browser,
    components::{confirm::use_modal, icons},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
    },
};

/// A preview to be made.
pub struct PreviewSource {
    pub kind: PreviewKind,
    pub text: String,
    /// Set to a notice if it cannot be drawn.
    pub failure: RwSignal<Option<String>>,
    /// True while it is shown in a dialog.
    pub is_enlarged: RwSignal<bool>,
}

/// Makes the view of a preview.
#[wasm_split(preview, wasm_split_path = leptos::wasm_split, fallible)]
pub fn preview(source: PreviewSource) -> Result<LazyView, LoadError> {
    let PreviewSource {
        kind,
        text,
        failure,
        is_enlarged,
    } = source;
    let text: Arc<str> = text.into();
    Ok(Arc::new(move || {
        let (text, in_dialog) = (text.clone(), text.clone());
        let content = match kind {
            PreviewKind::Image => image(&text, failure, is_enlarged),
            PreviewKind::Page => page(&text),
        };
        let enlarged = move || match kind {
            PreviewKind::Image => large_image(&in_dialog),
            PreviewKind::Page => frame(&in_dialog),
        };
        view! { {content} {dialog(is_enlarged, enlarged)} }.erase()
    }))
}

/// The address of an SVG as an image.
fn image_address(text: &str) -> String {
    let mut text = text.trim().to_owned();
    // Within HTML an SVG needs no namespace, but as an image it does.
    if !text.contains("http://www.w3.org/2000/svg")
        && let Some(at) = text.find("<svg")
    {
        text.insert_str(at + "<svg".len(), " xmlns=\"http://www.w3.org/2000/svg\"");
    }
    let encoded = utf8_percent_encode(&text, NON_ALPHANUMERIC);
    format!("data:image/svg+xml;charset=utf-8,{encoded}")
}

fn image(text: &Arc<str>, failure: RwSignal<Option<String>>, is_enlarged: RwSignal<bool>) -> AnyView {
    let address = image_address(text);
    let text = text.clone();
    let failed = move |_: leptos::ev::ErrorEvent| {
        let reason = xml_error(&text).map_or(String::new(), |reason| [": ", &reason].concat());
        failure.set(Some(["This image cannot be drawn", &reason].concat()));
    };
    let content = move || {
        if let Some(notice) = failure.get() {
            view! { <p class="md-preview-failure" role="note">{notice}</p> }.erase()
        } else {
            view! {
                <button
                    type="button"
                    class="md-preview"
                    aria-label="Image, show larger"
                    on:click=move |_| is_enlarged.set(true)
                >
                    <img src=address.clone() alt="" on:error=failed.clone()/>
                </button>
            }
            .erase()
        }
    };
    content.erase()
}

fn large_image(text: &str) -> AnyView {
    view! { <img class="md-large-image" src=image_address(text) alt="Image"/> }.erase()
}

/// A page, and a note if it lacks its scripts.
fn page(text: &Arc<str>) -> AnyView {
    let note = has_scripts(text).then(|| {
        view! { <p class="md-preview-note">"Shown without its scripts. Download it to run them."</p> }
    });
    view! { <div class="md-preview md-preview-page">{frame(text)} {note}</div> }.erase()
}

/// True if a page seems to have scripts, also in attributes such as `onclick`.
fn has_scripts(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_handler = |part: &str| {
        part.split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    text.contains("<script") || text.split(" on").skip(1).any(is_handler)
}

/// A frame with a page.
fn frame(text: &Arc<str>) -> AnyView {
    let frame = NodeRef::<html::Iframe>::new();
    // A name that is given later is not found.
    let name = ["frame-", &browser::random().to_string()].concat();
    let text = text.clone();
    Effect::new(move |_| {
        if let Some(frame) = frame.get() {
            browser::show_in_frame(&frame, &text);
        }
    });
    view! { <iframe node_ref=frame class="md-frame" name=name title="Page" sandbox=""></iframe> }.erase()
}

/// A dialog with the preview, as large as the window allows.
fn dialog(is_open: RwSignal<bool>, content: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let dialog = use_modal(move || is_open.get());
    view! {
        <dialog node_ref=dialog class="dialog md-large" aria-label="Preview" on:close=move |_| is_open.set(false)>
            <form method="dialog">
                <button class="icon-button" aria-label="Close" title="Close">{icons::close()}</button>
            </form>
            {move || is_open.get().then(&content)}
        </dialog>
    }
    .erase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_address_has_a_namespace_and_no_markup() {
        let address = image_address("<svg viewBox=\"0 0 1 1\"><text>é#%</text></svg>\n");
        let decoded = percent_encoding::percent_decode_str(&address).decode_utf8_lossy();
        assert_eq!(
            decoded,
            "data:image/svg+xml;charset=utf-8,<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"><text>é#%</text></svg>"
        );
        assert!(!address.contains(['<', '>', '#', '"']));
        let named = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
        assert_eq!(image_address(named).matches("xmlns").count(), 1);
    }

    #[test]
    fn recognizes_scripts() {
        for (text, expected) in [
            ("<SCRIPT>a</SCRIPT>", true),
            ("<p onclick=\"a()\">", true),
            ("<p>on = off, go on</p>", false),
            ("<p>a</p>", false),
        ] {
            assert_eq!(has_scripts(text), expected, "{text}");
        }
    }
}
