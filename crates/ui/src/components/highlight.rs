//! Highlighted code as a view. It is part of the lazily loaded code.

use leptos::prelude::*;

use crate::runtime::erase::Erase;
use parlor_markup::highlight::{self, TokenKind};

/// Longer texts stay plain: each token is a node of the page, and a thousand lines have ten thousand of them.
pub const MAX_HIGHLIGHTED_BYTES: usize = 32 << 10;

/// A text with the highlighting of its language; plain if it is too long or the language is unknown.
pub fn highlighted(text: &str, language: &str) -> AnyView {
    if text.len() > MAX_HIGHLIGHTED_BYTES {
        return text.to_owned().into_any();
    }
    let tokens = highlight::highlight(text, language).into_iter();
    tokens.map(token_view).collect::<Vec<_>>().erase()
}

fn token_view((kind, text): (TokenKind, &str)) -> AnyView {
    let text = text.to_owned();
    match kind.class() {
        Some(class) => view! { <span class=class>{text}</span> }.erase(),
        None => text.into_any(),
    }
}
