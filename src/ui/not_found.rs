//! What is shown in place of what is not there.

use leptos::prelude::*;

use super::erase::Erase;

/// Says kindly that something is not there, and where to go from here.
pub fn nothing_here(what: &'static str) -> AnyView {
    view! {
        <div class="notice">
            <h2>{what}</h2>
            <p>"The link may be old, or what was here was deleted."</p>
            <a class="button" href="/">"Start a new chat"</a>
        </div>
    }
    .erase()
}
