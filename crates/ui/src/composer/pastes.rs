//! Long pasted texts, which stay out of the message box. Each is a chip that opens; they are sent as the end of the
//! message's text. The code of the chips is loaded with the first one.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::texts;
use crate::{
    browser,
    components::{icon_button::IconButton, icons},
    runtime::{
        each::Each,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        when::When,
    },
    state::{drafts, route::Route, use_navigation},
};

/// The length from which a pasted text becomes a chip.
const MIN_PASTE_BYTES: usize = 2000;

/// The number of lines from which a pasted text becomes a chip.
const MIN_PASTE_LINES: usize = 25;

/// Separates a pasted text from the text before it.
const SEPARATOR: &str = "\n\n";

/// The long pasted texts of the draft on the screen.
#[derive(Clone, Copy)]
pub struct Pastes {
    shown: RwSignal<Vec<Paste>>,
    next_key: StoredValue<u64>,
}

/// A long pasted text.
#[derive(Clone)]
struct Paste {
    /// Identifies it on this page: an opened one stays open when others come and go.
    key: u64,
    text: String,
}

impl Pastes {
    pub fn new() -> Self {
        Self {
            shown: RwSignal::default(),
            next_key: StoredValue::new(0),
        }
    }

    /// Shows the pasted texts of a route's draft.
    pub fn load(self, route: Route) {
        let stored = drafts::load_pastes(route);
        let is_shown = |shown: &Vec<Paste>| shown.iter().map(|paste| &paste.text).eq(&stored);
        if !self.shown.with_untracked(is_shown) {
            self.shown
                .set(stored.into_iter().map(|text| self.paste(text)).collect());
        }
    }

    fn paste(self, text: String) -> Paste {
        let key = self.next_key.get_value();
        self.next_key.set_value(key + 1);
        Paste { key, text }
    }

    /// Takes a pasted text that is long. Returns false for others.
    pub fn add(self, route: Route, text: String) -> bool {
        let is_long = is_long(&text);
        if is_long {
            self.update(route, |pastes| pastes.push(self.paste(text)));
        }
        is_long
    }

    /// Returns the message's text with the pasted texts at its end.
    pub fn append_to(self, text: &str) -> String {
        let pastes = self.shown.get_untracked();
        let pasted = pastes.iter().map(|paste| paste.text.trim());
        let texts: Vec<&str> = std::iter::once(text).chain(pasted).collect();
        texts.join(SEPARATOR).trim().to_owned()
    }

    pub fn clear(self, route: Route) {
        self.update(route, Vec::clear);
    }

    /// Returns true if there is none. Tracked.
    pub fn is_empty(self) -> bool {
        self.shown.with(Vec::is_empty)
    }

    fn update(self, route: Route, change: impl FnOnce(&mut Vec<Paste>)) {
        self.shown.update(change);
        let pastes = self.shown.get_untracked().into_iter();
        let texts: Vec<String> = pastes.map(|paste| paste.text).collect();
        drafts::save_pastes(route, &texts);
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
    let chip = move |chat_route: Memo<Route>, Paste { key, text }: Paste| {
        let remove = move || {
            pastes.update(chat_route.get_untracked(), |pastes| {
                pastes.retain(|paste| paste.key != key);
            });
            browser::focus_after_removal();
        };
        let title = texts::pasted_text(text.lines().count());
        view! {
            <li class="paste">
                <details>
                    <summary>{icons::page()} {title}</summary>
                    <div class="paste-text" dir="auto" tabindex="0">{text}</div>
                </details>
                {IconButton::new(texts::REMOVE_PASTE, icons::close(), remove).title(texts::REMOVE).view()}
            </li>
        }
        .erase()
    };
    Ok(Arc::new(move || {
        let chat_route = use_navigation().chat_route();
        view! {
            <ul class="pastes" aria-label=texts::PASTED_TEXTS>
                <Each
                    of=move || pastes.shown.get()
                    key=|paste: &Paste| paste.key
                    children=move |paste| chip(chat_route, paste)
                />
            </ul>
        }
        .erase()
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
        for text in ["first\n", "second"] {
            pastes.update(Route::New, |shown| shown.push(pastes.paste(text.into())));
        }
        assert_eq!(pastes.append_to("Compare:"), "Compare:\n\nfirst\n\nsecond");
        assert_eq!(pastes.append_to(""), "first\n\nsecond");
    }
}
