//! Highlighting of code blocks. Its code is loaded with the first code block.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use crate::{
    browser,
    components::highlight::highlighted,
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
    },
};

/// A complete code block.
pub struct EndedBlock {
    pub text: String,
    pub language: String,
    /// The element that shows it.
    pub element: NodeRef<html::Pre>,
    pub is_ended: ArcRwSignal<bool>,
    /// Set to the highlighted view.
    pub highlighted: RwSignal<Option<LazyView>>,
}

/// Highlights a block: at once if it is not on the page yet, else when nothing is selected in it. The text is rendered
/// again, and a selection would be lost.
#[wasm_split(colours, wasm_split_path = leptos::wasm_split, fallible, preload(load_colours))]
pub fn colour(block: EndedBlock) -> Result<(), LoadError> {
    let EndedBlock {
        text,
        language,
        element,
        is_ended,
        highlighted: target,
    } = block;
    let code: LazyView =
        Arc::new(move || view! { <span class="md-lines">{highlighted(&text, &language)}</span> }.erase());
    let show = move || {
        if is_ended.get_untracked() {
            // The block may be removed.
            target.try_set(Some(code));
        }
    };
    // A removed block has no node ref, one that is not on the page yet an empty one.
    match element.try_get_untracked() {
        Some(Some(element)) => browser::when_unselected(&element, show),
        Some(None) => show(),
        None => {}
    }
    Ok(())
}
