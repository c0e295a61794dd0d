//! The colours of a code block. What colours it is loaded when there is the first one.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use crate::ui::{
    browser, components::highlight::highlighted, runtime::erase::Erase, runtime::lazy::LazyView,
    runtime::lazy::LoadError,
};

/// A code block of which all is here.
pub struct EndedBlock {
    pub text: String,
    pub language: String,
    /// Where it is shown.
    pub element: NodeRef<html::Pre>,
    pub is_ended: ArcRwSignal<bool>,
    /// Told what to show instead.
    pub highlighted: RwSignal<Option<LazyView>>,
}

/// Gives a block its colours: at once if it is not on the page yet, else when nothing is selected in it. The text is put there
/// anew, and a selection would be lost.
#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_colours))]
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
            // The block may be gone.
            target.try_set(Some(code));
        }
    };
    // What was left meanwhile has no place at all, what is not on the page yet an empty one.
    match element.try_get_untracked() {
        Some(Some(place)) => browser::when_unselected(&place, show),
        Some(None) => show(),
        None => {}
    }
    Ok(())
}
