//! Markdown as the page shows it: the views' HTML, for the examples of the CommonMark specification and for
//! our additions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

mod commonmark;
mod html;
mod views;

use leptos::prelude::*;
use parlor_ui::markdown::{MarkdownLoader, MarkdownView, Prose};

/// Returns the HTML that the server sends for a text.
fn render(prose: &Prose) -> String {
    let prose = prose.clone();
    Owner::new().with(|| {
        provide_context(MarkdownLoader::start());
        view! { <MarkdownView prose prefix="m"/> }.to_html()
    })
}

fn render_text(text: &str) -> String {
    render(&Prose::finished(text))
}
