//! The loader of the Markdown parser, which is in the file of conversations: a new chat is shown without it, and loads it before
//! the first answer arrives.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{prose::ParseText, state::MarkdownState};
use crate::browser;
use crate::runtime::lazy::{LoadError, retry_until_loaded};
use parlor_markup::markdown::without_markup;

/// Loads the parser on first use; `load_markdown` loads it for a page that was rendered with Markdown in it.
#[wasm_split(conversation, wasm_split_path = leptos::wasm_split, fallible, preload(load_markdown))]
pub fn reader() -> Result<ParseText, LoadError> {
    Ok(|text, ended| match ended {
        true => Arc::new(MarkdownState::finished(text)),
        false => Arc::new(MarkdownState::new(text)),
    })
}

#[wasm_split(conversation, wasm_split_path = leptos::wasm_split, fallible)]
fn to_plain_text(text: String) -> Result<String, LoadError> {
    Ok(without_markup(&text))
}

/// Copies a text without its markup to the clipboard and calls `done` with the success.
pub fn copy_without_markup(text: String, done: impl FnOnce(bool) + 'static) {
    spawn_local(async move {
        match to_plain_text(text).await {
            Ok(text) => browser::copy_text(text, done),
            Err(LoadError) => done(false),
        }
    });
}

/// The page's Markdown parser, once it is loaded.
#[derive(Clone, Copy)]
pub struct MarkdownLoader(RwSignal<Option<ParseText>>);

impl MarkdownLoader {
    /// Starts loading at once and retries until it succeeds. On the server the parser is always present.
    pub fn start() -> Self {
        let here = RwSignal::new(None);
        // It is wanted as long as the page exists.
        retry_until_loaded(
            || Box::pin(reader()),
            || true,
            || {},
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
