//! Sentences with code in backticks, as the server writes them.

use leptos::prelude::*;

use crate::runtime::erase::Erase;

/// Shows a sentence, in which what stands between backticks is code.
pub fn with_code(sentence: &str) -> AnyView {
    let parts = sentence.split('`').enumerate();
    let parts: Vec<_> = parts
        .map(|(index, part)| match index % 2 {
            0 => view! { <span>{part.to_owned()}</span> }.erase(),
            _ => view! { <code>{part.to_owned()}</code> }.erase(),
        })
        .collect();
    parts.erase()
}
