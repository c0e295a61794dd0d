//! Marks of what a search has found, by the CSS Custom Highlight API: they change no element of the page. Browsers without it
//! scroll to the message only.

use js_sys::{Array, Function, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, Node, Range, Text};

use super::element_by_id;

/// The name of the marks in the style sheet.
const MARKS: &str = "found";

/// The most marks.
const MAX_MARKS: usize = 200;

/// The part of the scroller's height that is above what was found.
const LEAD: f64 = 0.3;

/// Marks words in an element, and scrolls the first of them into the middle of the scroller, or the start of the element if there is
/// none. Only those in a part of the element are meant, if it is there. Returns false if the element is not there.
pub fn show_found(scroller: &str, id: &str, part: Option<&str>, words: &[String]) -> bool {
    let (Some(element), Ok(Some(scroller))) = (element_by_id(id), document().query_selector(scroller)) else {
        return false;
    };
    let part = part.and_then(|part| element.query_selector(part).ok().flatten());
    let element = part.unwrap_or_else(|| element.into());
    let ranges = find_ranges(&element, words);
    mark(&ranges);
    let rect = ranges.first().map_or_else(
        || element.get_bounding_client_rect(),
        Range::get_bounding_client_rect,
    );
    // What is hidden, as in a closed call, has no place.
    let top = match rect.height() > 0.0 {
        true => rect.top(),
        false => element.get_bounding_client_rect().top(),
    };
    let lead = f64::from(scroller.client_height()) * LEAD;
    let by = top - scroller.get_bounding_client_rect().top() - lead;
    scroller.set_scroll_top(scroller.scroll_top() + by as i32);
    true
}

/// Removes the marks.
pub fn clear_found_marks() {
    mark(&[]);
}

/// Sets the marks, in place of the ones before.
fn mark(ranges: &[Range]) {
    let set = || {
        let css = Reflect::get(&window(), &"CSS".into())?;
        let registry = Reflect::get(&css, &"highlights".into())?;
        let kind: Function = Reflect::get(&window(), &"Highlight".into())?.dyn_into()?;
        let highlight = Reflect::construct(&kind, &ranges.iter().collect::<Array>())?;
        let set: Function = Reflect::get(&registry, &"set".into())?.dyn_into()?;
        set.call2(&registry, &MARKS.into(), &highlight)
    };
    let _: Result<JsValue, JsValue> = set();
}

/// A character of the texts of an element, in the form in which it is compared.
struct Place {
    folded: char,
    is_word: bool,
    node: usize,
    /// In UTF-16 units.
    start: u32,
    end: u32,
}

fn find_ranges(element: &Element, words: &[String]) -> Vec<Range> {
    let mut nodes = Vec::new();
    collect_texts(element, &mut nodes);
    let mut places = Vec::new();
    for (node, text) in nodes.iter().enumerate() {
        let mut at = 0;
        for character in text.data().chars() {
            let end = at + character.len_utf16() as u32;
            places.push(Place {
                folded: fold(character),
                is_word: character.is_alphanumeric(),
                node,
                start: at,
                end,
            });
            at = end;
        }
    }
    let mut ranges = Vec::new();
    for word in words {
        let searched: Vec<char> = word.chars().map(fold).collect();
        // A space in the snippet may be the end of a line, and with it any space.
        let same = |place: &Place, searched: char| {
            place.folded == searched || (searched == ' ' && place.folded.is_whitespace())
        };
        let found: Vec<usize> = (0..places.len())
            .filter(|start| {
                let here = places.get(*start..start + searched.len());
                here.is_some_and(|here| {
                    here.iter()
                        .zip(&searched)
                        .all(|(place, searched)| same(place, *searched))
                })
            })
            .collect();
        let is_whole = |start: &&usize| {
            let before = start.checked_sub(1).and_then(|before| places.get(before));
            let after = places.get(**start + searched.len());
            !before.is_some_and(|place| place.is_word) && !after.is_some_and(|place| place.is_word)
        };
        let whole: Vec<usize> = found.iter().filter(is_whole).copied().collect();
        // A part of a name, or a word of a script without spaces, is no whole word.
        let shown = if whole.is_empty() { found } else { whole };
        for start in shown {
            let last = start + searched.len().max(1) - 1;
            if let (Some(first), Some(last)) = (places.get(start), places.get(last)) {
                ranges.extend(range(&nodes, first, last).map(|range| (start, range)));
            }
        }
    }
    ranges.sort_by_key(|(start, _)| *start);
    ranges.truncate(MAX_MARKS);
    ranges.into_iter().map(|(_, range)| range).collect()
}

fn range(nodes: &[Text], first: &Place, last: &Place) -> Option<Range> {
    let range = document().create_range().ok()?;
    range.set_start(nodes.get(first.node)?, first.start).ok()?;
    range.set_end(nodes.get(last.node)?, last.end).ok()?;
    Some(range)
}

fn collect_texts(node: &Node, texts: &mut Vec<Text>) {
    let mut child = node.first_child();
    while let Some(node) = child {
        match node.dyn_ref::<Text>() {
            Some(text) => texts.push(text.clone()),
            None => collect_texts(&node, texts),
        }
        child = node.next_sibling();
    }
}

/// The first character of the lower case: one for one, so that places stay.
fn fold(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}
