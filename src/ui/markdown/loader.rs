//! What reads Markdown. It weighs much and has a file of its own: a new chat is there without
//! it, and has it before the first answer comes.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{prose::ParsedText, state::MarkdownState};
use crate::ui::{runtime::lazy::LoadError, runtime::lazy::retry_until_loaded};

/// Reads a text, of which that is all or that may grow.
pub type ParseText = fn(text: &str, ended: bool) -> Arc<dyn ParsedText>;

#[wasm_split(markdown, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
fn reader() -> Result<ParseText, LoadError> {
    Ok(|text, ended| match ended {
        true => Arc::new(MarkdownState::finished(text)),
        false => Arc::new(MarkdownState::new(text)),
    })
}

/// Loads it, for a page that was rendered with Markdown in it.
pub async fn load_markdown() -> Result<(), LoadError> {
    Ok(load().await?)
}

/// What reads Markdown on this page, once it is here.
#[derive(Clone, Copy)]
pub struct MarkdownLoader(RwSignal<Option<ParseText>>);

impl MarkdownLoader {
    /// It is loaded at once, and again until it is here. The server has it.
    pub fn start() -> Self {
        let here = RwSignal::new(None);
        // The page wants it as long as it is there.
        retry_until_loaded(
            || Box::pin(reader()),
            || true,
            move |reader| here.set(Some(reader)),
        );
        Self(here)
    }

    pub(super) fn get_untracked(self) -> Option<ParseText> {
        self.0.get_untracked()
    }

    pub(super) fn get(self) -> Option<ParseText> {
        self.0.get()
    }
}
