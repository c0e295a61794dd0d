//! The images of the page that open large.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlAnchorElement};

use super::LinkedImage;

/// Links with the id of their image.
const LINKS: &str = "a[data-image]";

/// Returns all images that open large, in their order on the page, and the position of the clicked one. Images that are not
/// confirmed yet are not among them. `None` if the click is elsewhere.
pub fn clicked_image(event: &Event) -> Option<(Vec<LinkedImage>, usize)> {
    let target: Element = event.target()?.dyn_into().ok()?;
    let clicked = target.closest(LINKS).ok()??;
    let links = document().query_selector_all(LINKS).ok()?;
    let mut images = Vec::new();
    let mut position = None;
    for index in 0..links.length() {
        let Some(link) = links
            .get(index)
            .and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok())
        else {
            continue;
        };
        if matches!(link.query_selector("[data-pending]"), Ok(Some(_))) {
            continue;
        }
        if *AsRef::<Element>::as_ref(&link) == clicked {
            position = Some(images.len());
        }
        let image = link.query_selector("img").ok().flatten();
        images.push(LinkedImage {
            id: link.get_attribute("data-image").unwrap_or_default(),
            url: link.get_attribute("href").unwrap_or_default(),
            name: image
                .and_then(|image| image.get_attribute("alt"))
                .unwrap_or_default(),
        });
    }
    Some((images, position?))
}
