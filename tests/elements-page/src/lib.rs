//! A page with every kind of attribute, child and event that `elements` has. The program of this crate prints it as Leptos renders
//! it on a server, a browser hydrates that or builds it anew with `elements`, and `end2end/tests/elements.spec.ts` compares the two.
//! `elements/tests/to_html.rs` compares what a server renders with `elements`.
//!
//! After each step the browser must show what the server renders for it.

#[cfg(feature = "hydrate")]
extern crate elements as leptos;

#[cfg(feature = "hydrate")]
mod browser;
mod page;

pub use page::*;
