//! Long pasted texts, which stay out of the message box. Each is a chip that opens; they are sent as the end of the
//! message's text. The code of the chips is loaded with the first one.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use crate::ui::{
    browser, components::icons, runtime::erase::Erase, runtime::lazy::LazyView, runtime::lazy::LoadError,
    runtime::lazy::lazy_part, runtime::when::When, state::drafts, state::route::Route, state::use_navigation,
};

/// The length from which a pasted text becomes a chip.
const MIN_PASTE_BYTES: usize = 2000;

/// The number of lines from which a pasted text becomes a chip.
const MIN_PASTE_LINES: usize = 25;

/// Separates a pasted text from the text before it.
const SEPARATOR: &str = "\n\n";

/// The long pasted texts of the draft on the screen.
#[derive(Clone, Copy)]
pub struct Pastes(RwSignal<Vec<String>>);

impl Pastes {
    pub fn new() -> Self {
        Self(RwSignal::default())
    }

    /// Shows the pasted texts of a route's draft.
    pub fn load(self, route: Route) {
        let stored = drafts::load_pastes(route);
        if self.0.with_untracked(|shown| *shown != stored) {
            self.0.set(stored);
        }
    }

    /// Takes a pasted text that is long. Returns false for others.
    pub fn add(self, route: Route, text: String) -> bool {
        let is_long = is_long(&text);
        if is_long {
            self.update(route, |pastes| pastes.push(text));
        }
        is_long
    }

    /// Returns the message's text with the pasted texts at its end.
    pub fn append_to(self, text: &str) -> String {
        let pastes = self.0.get_untracked();
        let pasted = pastes.iter().map(|text| text.trim());
        let texts: Vec<&str> = std::iter::once(text).chain(pasted).collect();
        texts.join(SEPARATOR).trim().to_owned()
    }

    pub fn clear(self, route: Route) {
        self.update(route, Vec::clear);
    }

    /// Returns true if there is none. Tracked.
    pub fn is_empty(self) -> bool {
        self.0.with(Vec::is_empty)
    }

    fn update(self, route: Route, change: impl FnOnce(&mut Vec<String>)) {
        self.0.update(change);
        self.0.with_untracked(|pastes| drafts::save_pastes(route, pastes));
    }
}

fn is_long(text: &str) -> bool {
    text.len() >= MIN_PASTE_BYTES || text.lines().count() >= MIN_PASTE_LINES
}

/// The chips, if there are any.
#[component]
pub fn PasteChips(pastes: Pastes) -> impl IntoView {
    view! {
        <When when=move || !pastes.is_empty()>{lazy_part(move || chips(pastes))}</When>
    }
}

#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn chips(pastes: Pastes) -> Result<LazyView, LoadError> {
    let chip = move |chat_route: Signal<Route>, (index, text): (usize, String)| {
        let remove = move |_| {
            pastes.update(chat_route.get_untracked(), |pastes| {
                pastes.remove(index);
            });
            browser::focus_selector("#message");
        };
        let lines = text.lines().count().to_string();
        view! {
            <li class="paste">
                <details>
                    <summary>{icons::page()} "Pasted text, " {lines} " lines"</summary>
                    <div class="paste-text" dir="auto" tabindex="0">{text}</div>
                </details>
                <button
                    type="button"
                    class="icon-button"
                    aria-label="Remove pasted text"
                    title="Remove"
                    on:click=remove
                >
                    {icons::close()}
                </button>
            </li>
        }
        .erase()
    };
    Ok(Arc::new(move || {
        let route = use_navigation().chat_route();
        let chat_route = Signal::derive(move || route.get());
        let shown = move || -> Vec<AnyView> {
            let pasted = pastes.0.get().into_iter().enumerate();
            pasted.map(|paste| chip(chat_route, paste)).collect()
        };
        view! { <ul class="pastes" aria-label="Pasted texts">{shown}</ul> }.erase()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_pastes_become_chips() {
        assert!(!is_long("A short text\nof two lines"));
        assert!(!is_long(&"a".repeat(MIN_PASTE_BYTES - 1)));
        assert!(is_long(&"a".repeat(MIN_PASTE_BYTES)));
        assert!(!is_long(&"a\n".repeat(MIN_PASTE_LINES - 1)));
        assert!(is_long(&"a\n".repeat(MIN_PASTE_LINES)));
    }

    #[test]
    fn pasted_texts_end_the_message() {
        let owner = Owner::new();
        owner.set();
        let pastes = Pastes::new();
        assert_eq!(pastes.append_to("Hello"), "Hello");
        pastes.0.set(vec!["first\n".into(), "second".into()]);
        assert_eq!(pastes.append_to("Compare:"), "Compare:\n\nfirst\n\nsecond");
        assert_eq!(pastes.append_to(""), "first\n\nsecond");
    }
}
