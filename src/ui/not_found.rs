//! Pages for what is not there.

use leptos::prelude::*;
use leptos_meta::Title;

use super::{browser, erase::Erase};

/// An address that names nothing.
#[component]
pub fn NotFound() -> impl IntoView {
    browser::not_found();
    view! {
        <Title text="Not found · Parlor"/>
        <main class="lost">{nothing_here("There is nothing at this address.")}</main>
    }
    .erase()
}

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
