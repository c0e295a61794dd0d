//! What reads Markdown. It weighs much and has a file of its own: a new chat is there without
//! it, and has it before the first answer comes.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{prose::Read, state::MarkdownState};
use crate::ui::lazy::{NotLoaded, until_here};

/// Reads a text, of which that is all or that may grow.
pub type Reader = fn(text: &str, ended: bool) -> Arc<dyn Read>;

#[wasm_split(markdown, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
fn reader() -> Result<Reader, NotLoaded> {
    Ok(|text, ended| match ended {
        true => Arc::new(MarkdownState::finished(text)),
        false => Arc::new(MarkdownState::new(text)),
    })
}

/// Loads it, for a page that was rendered with Markdown in it.
pub async fn load_markdown() -> Result<(), NotLoaded> {
    Ok(load().await?)
}

/// What reads Markdown on this page, once it is here.
#[derive(Clone, Copy)]
pub struct Reading(RwSignal<Option<Reader>>);

impl Reading {
    /// It is loaded at once, and again until it is here. The server has it.
    pub fn begin() -> Self {
        let here = RwSignal::new(None);
        // The page wants it as long as it is there.
        until_here(
            || Box::pin(reader()),
            || true,
            move |reader| here.set(Some(reader)),
        );
        Self(here)
    }

    pub(super) fn now(self) -> Option<Reader> {
        self.0.get_untracked()
    }

    pub(super) fn tracked(self) -> Option<Reader> {
        self.0.get()
    }
}
