//! The previews of code blocks: an image in SVG, an HTML page, or a diagram in Mermaid's language.
//!
//! Such a block has one height from its first line on, so nothing moves when the preview takes the place of the source.
//! Its code ([`preview_view`](super::preview_view)) is loaded when the first such block is seen.

use leptos::{html, prelude::*};

use super::{
    growing::GrowingText,
    preview_view::{PreviewSource, preview},
};
use crate::{
    browser,
    runtime::{
        effect::effect,
        lazy::{LazyView, when_loaded},
        shared_view::is_read_only,
    },
};

/// The maximum length of a source that is shown.
const MAX_PREVIEW_BYTES: usize = 512 << 10;

/// The kind of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewKind {
    /// An SVG.
    Image,
    /// A whole HTML document. A part of one stays code.
    Page,
    /// A diagram in Mermaid's language.
    Diagram,
}

/// The languages of code that may be an image or a page.
const MARKUP_LANGUAGES: [&str; 5] = ["svg", "xml", "html", "htm", "xhtml"];

/// The names of Mermaid's language.
const DIAGRAM_LANGUAGES: [&str; 2] = ["mermaid", "mmd"];

impl PreviewKind {
    /// Recognizes the kind by the language and the beginning of the text, which is read only if the language is not
    /// enough: it may grow with each delta.
    fn detect(language: &str, read_start: impl FnOnce() -> String) -> Option<Self> {
        if DIAGRAM_LANGUAGES.contains(&language) {
            return Some(Self::Diagram);
        }
        if !MARKUP_LANGUAGES.contains(&language) {
            return None;
        }
        if language == "svg" {
            return Some(Self::Image);
        }
        let is_html = language != "xml";
        let start = read_start();
        let mut rest = start.trim_start();
        loop {
            let end = match rest {
                _ if rest.starts_with("<!--") => rest.find("-->").map(|at| at + 3),
                _ if rest.starts_with("<?") => rest.find("?>").map(|at| at + 2),
                _ if starts_with(rest, "<!doctype svg") => rest.find('>').map(|at| at + 1),
                _ => break,
            };
            rest = rest.get(end?..)?.trim_start();
        }
        if starts_with(rest, "<svg") {
            return Some(Self::Image);
        }
        (is_html && (starts_with(rest, "<!doctype html") || starts_with(rest, "<html"))).then_some(Self::Page)
    }

    /// The kind of a growing text, as soon as its beginning shows it.
    pub fn memo(language: Option<String>, text: &GrowingText) -> Memo<Option<Self>> {
        let language = language.unwrap_or_default().to_ascii_lowercase();
        let text = text.clone();
        let is_read_only = is_read_only();
        Memo::new(move |known: Option<&Option<Self>>| match known {
            Some(Some(kind)) => Some(*kind),
            // Frames are for signed-in people: readers of a share see the source of what needs one.
            _ => {
                Self::detect(&language, || text.start()).filter(|kind| !is_read_only || *kind == Self::Image)
            }
        })
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The preview of a block.
#[derive(Clone, Copy)]
pub struct PreviewState {
    kind: Memo<Option<PreviewKind>>,
    view: RwSignal<Option<LazyView>>,
    /// True once the view has something to show.
    is_drawn: RwSignal<bool>,
    /// True if the user chose the source.
    is_source_chosen: RwSignal<bool>,
    is_enlarged: RwSignal<bool>,
    /// The notice that the preview could not be drawn.
    failure: RwSignal<Option<String>>,
}

impl PreviewState {
    /// Makes the preview of a block once the block has ended and is seen.
    pub fn new(
        kind: Memo<Option<PreviewKind>>,
        ended: ArcRwSignal<bool>,
        text: GrowingText,
        element: NodeRef<html::Pre>,
    ) -> Self {
        let state = Self {
            kind,
            view: RwSignal::new(None),
            is_drawn: RwSignal::new(false),
            is_source_chosen: RwSignal::new(false),
            is_enlarged: RwSignal::new(false),
            failure: RwSignal::new(None),
        };
        let watch = StoredValue::new(None);
        effect(move || {
            let (Some(element), Some(kind), true) = (element.get(), kind.get(), ended.get()) else {
                // The block continues: what was drawn of its first part is out of date.
                watch.set_value(None);
                state.view.set(None);
                state.is_drawn.set(false);
                state.failure.set(None);
                return;
            };
            let text = text.clone();
            watch.set_value(Some(browser::on_visible(&element, move || {
                if state.view.try_with_untracked(Option::is_some) == Some(false) {
                    state.load(kind, text.whole());
                }
            })));
        });
        state
    }

    fn load(self, kind: PreviewKind, text: String) {
        if text.len() > MAX_PREVIEW_BYTES {
            return;
        }
        let source = PreviewSource {
            kind,
            text,
            is_drawn: self.is_drawn,
            failure: self.failure,
            is_enlarged: self.is_enlarged,
        };
        // If the code cannot be loaded, the source stays.
        when_loaded(Box::pin(preview(source)), move |loaded| {
            if let Ok(view) = loaded {
                self.view.try_set(Some(view));
            }
        });
    }

    /// Returns true if there is or will be a preview. Tracked.
    pub fn is_expected(self) -> bool {
        self.kind.get().is_some() && self.failure.with(Option::is_none)
    }

    /// Returns true if there is a preview that can be shown. Tracked.
    pub fn is_ready(self) -> bool {
        self.view.with(Option::is_some) && self.is_drawn.get() && self.failure.with(Option::is_none)
    }

    /// Returns true if the preview hides the source. Tracked.
    pub fn is_shown(self) -> bool {
        self.is_ready() && !self.is_source_chosen.get()
    }

    pub fn toggle(self) {
        self.is_source_chosen.update(|is_chosen| *is_chosen = !*is_chosen);
    }

    pub fn enlarge(self) {
        self.is_source_chosen.set(false);
        self.is_enlarged.set(true);
    }

    /// The preview, while it is wanted. Tracked.
    pub fn view(self) -> Option<AnyView> {
        let view = self.view.get()?;
        (!self.is_source_chosen.get()).then(|| view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_images_and_documents() {
        for (language, text, kind) in [
            ("svg", "", Some(PreviewKind::Image)),
            ("mermaid", "", Some(PreviewKind::Diagram)),
            (
                "xml",
                "<?xml version=\"1.0\"?>\n<!-- a -->\n<svg ",
                Some(PreviewKind::Image),
            ),
            ("html", " <SVG>", Some(PreviewKind::Image)),
            ("html", "<!DOCTYPE html>\n<p>", Some(PreviewKind::Page)),
            ("html", "<!-- a -->\n<html>", Some(PreviewKind::Page)),
            ("html", "<!-- <html>", None),
            ("html", "<div>a</div>", None),
            ("xml", "<html>", None),
            ("rust", "<svg>", None),
            ("", "<svg>", None),
            ("html", "<", None),
        ] {
            assert_eq!(
                PreviewKind::detect(language, || text.to_owned()),
                kind,
                "{language} {text}"
            );
        }
    }
}
