//! The page's address, and going from one to another without loading the page again.
//!
//! There are two kinds of address, and [`Place`] knows them. Leptos's router, made for many, was a tenth of the
//! WASM.

use leptos::prelude::*;

use super::{browser, place::Place};

/// The path of the page's address.
#[derive(Clone, Copy)]
pub struct Address(RwSignal<String>);

impl Address {
    /// Begins at a path, and follows the person from there.
    pub fn new(path: String) -> Self {
        let address = Self(RwSignal::new(path));
        Effect::new(move |_| {
            browser::on_back_or_forward(move |path| address.0.set(path));
            browser::on_link(move |path| {
                // What is not the page's own is the server's.
                let ours = Place::of(path) != Place::Nowhere;
                if ours {
                    address.go(path, false);
                }
                ours
            });
        });
        address
    }

    /// The place that the address names; follows it.
    pub fn place(self) -> Place {
        self.0.with(|path| Place::of(path))
    }

    /// Whether the address is one of the chat's, though there may be nothing at it; follows it.
    pub fn is_chat(self) -> bool {
        self.0.with(|path| path == "/" || path.starts_with("/c/"))
    }

    /// Goes to a path; with `replace` in place of the one in the browser's history.
    pub fn go(self, path: &str, replace: bool) {
        // Once more to where one is would be once more to go back.
        if replace || self.0.with_untracked(|here| here != path) {
            browser::set_path(path, replace);
            self.0.set(path.into());
        }
    }
}
