//! Markdown as the page shows it: the views' HTML, for the examples of the CommonMark specification and for what they
//! don't have.

mod commonmark;
mod html;
mod views;

use leptos::prelude::*;
use parlor::ui::markdown::{MarkdownState, MarkdownView};

/// The HTML that the server sends for a text.
fn render(state: &MarkdownState) -> String {
    let state = state.clone();
    Owner::new().with(|| view! { <MarkdownView state prefix="m"/> }.to_html())
}

fn rendered(text: &str) -> String {
    render(&MarkdownState::finished(text))
}
