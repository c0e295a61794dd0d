//! The colours of a code block. What colours it is loaded when there is the first one.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use crate::ui::{
    browser,
    erase::Erase,
    highlight::coloured,
    lazy::{Code, NotLoaded},
};

/// A code block of which all is here.
pub struct Block {
    pub text: String,
    pub language: String,
    /// Where it is shown.
    pub place: NodeRef<html::Pre>,
    pub ended: ArcRwSignal<bool>,
    /// Told what to show instead.
    pub shown: RwSignal<Option<Code>>,
}

/// Gives a block its colours: at once if it is not on the page yet, else when nothing is selected in it. The text is put there
/// anew, and a selection would be lost.
#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_colours))]
pub fn colour(block: Block) -> Result<(), NotLoaded> {
    let Block {
        text,
        language,
        place,
        ended,
        shown,
    } = block;
    let code: Code =
        Arc::new(move || view! { <span class="md-lines">{coloured(&text, &language)}</span> }.erase());
    let show = move || {
        if ended.get_untracked() {
            // The block may be gone.
            shown.try_set(Some(code));
        }
    };
    // What was left meanwhile has no place at all, what is not on the page yet an empty one.
    match place.try_get_untracked() {
        Some(Some(place)) => browser::when_not_selected(&place, show),
        Some(None) => show(),
        None => {}
    }
    Ok(())
}
