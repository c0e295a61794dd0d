//! Diagrams in Mermaid's language: drawn again when the theme changes, and shown as an image.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    preview_view::{failure_note, image_url},
    texts,
};
use crate::{
    browser::{self, DrawFailure},
    runtime::{effect::effect, erase::Erase},
};

/// The maximum length of the reason why a diagram cannot be drawn, in characters.
const MAX_REASON_CHARACTERS: usize = 300;

/// A diagram, and its last drawing.
#[derive(Clone)]
pub struct Diagram {
    pub source: Arc<str>,
    pub drawn: ArcRwSignal<Option<Drawing>>,
    /// True once it can be shown instead of its source.
    pub is_drawn: RwSignal<bool>,
    pub failure: RwSignal<Option<String>>,
    pub is_enlarged: RwSignal<bool>,
}

/// The image of a diagram.
#[derive(Clone)]
pub struct Drawing {
    is_dark: bool,
    pub url: Arc<str>,
    /// Width and height, if the drawing has them.
    size: Option<(usize, usize)>,
}

impl Diagram {
    pub fn view(self) -> AnyView {
        let Self {
            source,
            drawn,
            is_drawn,
            failure,
            is_enlarged,
        } = self;
        let can_retry = RwSignal::new(false);
        let drawing = drawn.clone();
        let draw = Arc::new(move |is_dark: bool| {
            if drawing
                .with_untracked(|drawing| drawing.as_ref().is_some_and(|drawn| drawn.is_dark == is_dark))
            {
                return;
            }
            let drawing = drawing.clone();
            browser::draw_diagram(&source, is_dark, move |result| match result {
                // The theme has changed meanwhile, and changed back if nothing draws it again.
                Ok(_) if untrack(browser::is_dark) != is_dark => {}
                Ok(svg) => {
                    let (url, size) = (image_url(&svg).into(), view_box_size(&svg));
                    drawing.set(Some(Drawing { is_dark, url, size }));
                    is_drawn.try_set(true);
                    failure.try_set(None);
                }
                // The drawing of the other theme stays.
                Err(_) if drawing.with_untracked(Option::is_some) => {}
                Err(DrawFailure::NotLoaded) => {
                    can_retry.try_set(true);
                    failure.try_set(Some(failure_notice(texts::MERMAID_FAILED)));
                }
                Err(DrawFailure::Impossible(reason)) => {
                    can_retry.try_set(false);
                    failure.try_set(Some(failure_notice(&reason)));
                }
            });
        });
        let again = draw.clone();
        effect(move || draw(browser::is_dark()));
        let retry = move |_| {
            can_retry.set(false);
            failure.set(None);
            again(untrack(browser::is_dark));
        };
        let failed = move || failure.set(Some(failure_notice("")));
        let content = move || match (failure.get(), drawn.get()) {
            (Some(notice), _) => {
                let retry = retry.clone();
                let button = can_retry.get().then(|| {
                    view! { <button type="button" class="button" on:click=retry>{texts::TRY_AGAIN}</button> }.erase()
                });
                failure_note(notice, button)
            }
            (None, Some(Drawing { url, size, .. })) => sized_image(&url, size, is_enlarged, failed),
            (None, None) => ().into_any(),
        };
        content.erase()
    }
}

/// The image in the size of its view box, and smaller where there is less room: but not so small that its letters, which are 16 px
/// high, could not be read.
fn sized_image(
    url: &str,
    size: Option<(usize, usize)>,
    is_enlarged: RwSignal<bool>,
    failed: impl Fn() + 'static,
) -> AnyView {
    let (width, height) = size.unzip();
    // An element of the minimum width, because inline styles are not allowed.
    let sizer = width.map(|width| {
        let min_width = (width * 3 / 4).to_string();
        view! { <svg class="md-diagram-sizer" width=min_width height="0" aria-hidden="true"></svg> }.erase()
    });
    let text = |number: Option<usize>| number.map(|number| number.to_string());
    view! {
        <div class="md-diagram-box">
            <button
                type="button"
                class="md-diagram-image"
                aria-label=texts::DIAGRAM_LARGER
                on:click=move |_| is_enlarged.set(true)
            >
                {sizer}
                <img src=url.to_owned() alt="" width=text(width) height=text(height) on:error=move |_| failed()/>
            </button>
        </div>
    }
    .erase()
}

/// Reads width and height of the view box of an SVG, in whole pixels.
fn view_box_size(svg: &str) -> Option<(usize, usize)> {
    let (_, rest) = svg.split_once("viewBox=\"")?;
    let (numbers, _) = rest.split_once('"')?;
    let mut numbers = numbers
        .split([' ', ','])
        .filter(|number| !number.is_empty())
        .skip(2);
    let mut next = || {
        let number = numbers.next()?;
        let whole = number.split_once('.').map_or(number, |(whole, _)| whole);
        whole.parse().ok().filter(|pixels| *pixels > 0)
    };
    Some((next()?, next()?))
}

/// The notice that a diagram cannot be drawn, with the first two lines of Mermaid's message: the line and the text there.
fn failure_notice(message: &str) -> String {
    let reason = match message {
        _ if message.starts_with("No diagram type detected") => texts::DIAGRAM_TYPE_UNKNOWN.to_owned(),
        _ => {
            let lines: Vec<_> = message
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect();
            let lines = lines.get(..2).unwrap_or(&lines).join(" ");
            lines.chars().take(MAX_REASON_CHARACTERS).collect()
        }
    };
    match reason.as_str() {
        "" => texts::DIAGRAM_FAILED.to_owned(),
        reason => texts::diagram_failed(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_that_of_the_view_box() {
        for (view_box, size) in [
            ("0 0 120.75 80", Some((120, 80))),
            ("-8 -8,300,  42.9", Some((300, 42))),
            ("0 0 0.5 80", None),
            ("0 0 120", None),
            ("a b c d", None),
        ] {
            let svg = ["<svg width=\"7\" viewBox=\"", view_box, "\"><g/></svg>"].concat();
            assert_eq!(view_box_size(&svg), size, "{view_box}");
        }
        assert_eq!(view_box_size("<svg/>"), None);
    }

    #[test]
    fn notice_has_the_line_and_its_text() {
        for (message, notice) in [
            ("", "This diagram cannot be drawn"),
            (
                "Parse error on line 3:\n...t TD A[Start --> B\n----------^\nExpecting 'SQE', got '1'",
                "This diagram cannot be drawn: Parse error on line 3: ...t TD A[Start --> B",
            ),
            (
                "No diagram type detected matching given configuration for text: mindmap\n a",
                "This diagram cannot be drawn: its type is unknown, or not supported here",
            ),
            (
                "it takes too long",
                "This diagram cannot be drawn: it takes too long",
            ),
        ] {
            assert_eq!(failure_notice(message), notice);
        }
        assert!(failure_notice(&"a".repeat(1000)).len() < 400);
    }
}
