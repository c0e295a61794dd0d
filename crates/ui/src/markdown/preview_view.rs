//! Previews of code blocks: an SVG or a diagram as an image, a page in a frame.
//!
//! Browsers run no script of an `img` and load nothing for it. A frame is sandboxed, and gets its document from
//! `/frame` (`http::framed_page`), with a policy that allows no requests.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    diagram::Diagram,
    framed_page::{framed_page, large_page},
    preview::PreviewKind,
    texts,
    xml_error::xml_error,
};
use crate::{
    components::{confirm::use_modal, icons},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
    },
};

/// The source of a preview, and the signals by which the preview reports to its block.
pub struct PreviewSource {
    pub kind: PreviewKind,
    pub text: String,
    /// Set once there is something to show instead of the source.
    pub is_drawn: RwSignal<bool>,
    /// Set to a notice if it cannot be drawn.
    pub failure: RwSignal<Option<String>>,
    /// True while it is shown in a dialog.
    pub is_enlarged: RwSignal<bool>,
}

/// Makes the view of a preview.
#[wasm_split(panel, wasm_split_path = leptos::wasm_split, fallible)]
pub fn preview(source: PreviewSource) -> Result<LazyView, LoadError> {
    let PreviewSource {
        kind,
        text,
        is_drawn,
        failure,
        is_enlarged,
    } = source;
    let text: Arc<str> = text.into();
    if kind != PreviewKind::Diagram {
        is_drawn.try_set(true);
    }
    let diagram = Diagram {
        source: text.clone(),
        drawn: ArcRwSignal::default(),
        is_drawn,
        failure,
        is_enlarged,
    };
    Ok(Arc::new(move || {
        let (text, in_dialog, drawn) = (text.clone(), text.clone(), diagram.drawn.clone());
        let content = match kind {
            PreviewKind::Image => image(&text, failure, is_enlarged),
            PreviewKind::Page => framed_page(&text, is_enlarged),
            PreviewKind::Diagram => diagram.clone().view(),
        };
        let enlarged = move || match kind {
            PreviewKind::Image => large_image(&image_url(&in_dialog), "image.svg"),
            PreviewKind::Page => large_page(&in_dialog),
            PreviewKind::Diagram => {
                let drawn = drawn.clone();
                let image = move || drawn.get().map(|drawn| large_image(&drawn.url, "diagram.svg"));
                image.erase()
            }
        };
        view! { {content} {dialog(is_enlarged, kind, enlarged)} }.erase()
    }))
}

/// The URL of an SVG as an image.
pub fn image_url(text: &str) -> String {
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
    let url = image_url(text);
    let text = text.clone();
    let failed = move || {
        failure.set(Some(texts::image_failed(xml_error(&text).as_deref())));
    };
    let content = move || match failure.get() {
        Some(notice) => failure_note(notice, None),
        None => image_button(
            texts::IMAGE_LARGER,
            "md-preview",
            &url,
            is_enlarged,
            failed.clone(),
        ),
    };
    content.erase()
}

/// An image that is enlarged by a click.
pub fn image_button(
    name: &'static str,
    class: &'static str,
    url: &str,
    is_enlarged: RwSignal<bool>,
    failed: impl Fn() + 'static,
) -> AnyView {
    view! {
        <button type="button" class=class aria-label=name on:click=move |_| is_enlarged.set(true)>
            <img src=url.to_owned() alt="" on:error=move |_| failed()/>
        </button>
    }
    .erase()
}

/// The notice that something cannot be drawn, under its source, perhaps with a button.
pub fn failure_note(notice: String, button: Option<AnyView>) -> AnyView {
    view! { <p class="md-preview-failure" role="note">{notice} {button}</p> }.erase()
}

fn large_image(url: &str, file_name: &'static str) -> AnyView {
    view! {
        <img class="md-large-image" src=url.to_owned() alt=texts::IMAGE/>
        <a
            class="icon-button md-large-download"
            href=url.to_owned()
            download=file_name
            aria-label=texts::DOWNLOAD_IMAGE
            title=texts::DOWNLOAD_IMAGE
        >
            {icons::download()}
        </a>
    }
    .erase()
}

/// A dialog with the preview, as large as the window allows.
fn dialog(
    is_open: RwSignal<bool>,
    kind: PreviewKind,
    content: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let dialog = use_modal(move || is_open.get());
    let class = match kind {
        PreviewKind::Diagram => "dialog md-large md-diagram",
        PreviewKind::Image | PreviewKind::Page => "dialog md-large",
    };
    view! {
        <dialog node_ref=dialog class=class aria-label=texts::PREVIEW on:close=move |_| is_open.set(false)>
            <form method="dialog">
                <button class="icon-button" aria-label=texts::CLOSE title=texts::CLOSE>{icons::close()}</button>
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
    fn image_url_has_a_namespace_and_no_markup() {
        let url = image_url("<svg viewBox=\"0 0 1 1\"><text>é#%</text></svg>\n");
        let decoded = percent_encoding::percent_decode_str(&url).decode_utf8_lossy();
        assert_eq!(
            decoded,
            "data:image/svg+xml;charset=utf-8,<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"><text>é#%</text></svg>"
        );
        assert!(!url.contains(['<', '>', '#', '"']));
        let named = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
        assert_eq!(image_url(named).matches("xmlns").count(), 1);
    }
}
