//! The notice for a missing page or conversation.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::texts;
use crate::runtime::{
    erase::Erase,
    lazy::{LazyView, LoadError, lazy_view},
    lazy_part::LazyPart,
};

/// The notice that something does not exist, with a link. `what` is its heading.
pub fn not_found_notice(what: &'static str) -> AnyView {
    lazy_view(move || load_view(what))
}

/// Loads the view's code on first use, since it is rarely shown.
#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view(what: &'static str) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || notice(what)))
}

fn notice(what: &'static str) -> AnyView {
    view! {
        <div class="notice" data-lazy=LazyPart::NotFound.name()>
            <h2>{what}</h2>
            <p>{texts::NOT_FOUND_REASONS}</p>
            <a class="button" href="/">{texts::START_NEW_CHAT}</a>
        </div>
    }
    .erase()
}
