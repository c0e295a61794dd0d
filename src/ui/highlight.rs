//! Code in colours, as a view. It is part of what is lazily loaded.

use leptos::prelude::*;

use super::erase::Erase;
use crate::highlight::{self, Kind};

/// Longer texts stay plain: each piece is a node of the page, and a thousand lines have ten thousand of them.
pub const COLOURED_BYTES: usize = 32 << 10;

/// A text in the colours of its language; as it is, if it is too long for that or the language is not known.
pub fn coloured(text: &str, language: &str) -> AnyView {
    if text.len() > COLOURED_BYTES {
        return text.to_owned().into_any();
    }
    let pieces = highlight::highlight(text, language).into_iter();
    pieces.map(piece).collect::<Vec<_>>().erase()
}

fn piece((kind, text): (Kind, &str)) -> AnyView {
    let text = text.to_owned();
    match kind.class() {
        Some(class) => view! { <span class=class>{text}</span> }.erase(),
        None => text.into_any(),
    }
}
