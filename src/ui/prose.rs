//! Text of a model on the screen. A stand-in that shows Markdown as it was written.

use leptos::prelude::*;

/// A text that grows.
#[derive(Clone, Debug)]
pub struct MarkdownState {
    text: ArcRwSignal<String>,
}

impl MarkdownState {
    /// Begins with what is there already.
    pub fn new(text: &str) -> Self {
        Self {
            text: ArcRwSignal::new(text.into()),
        }
    }

    /// Adds what came.
    pub fn append(&self, text: &str) {
        self.text.update(|whole| whole.push_str(text));
    }

    /// Nothing more will come.
    pub fn finish(&self) {}
}

/// Shows a text that grows.
#[component]
pub fn MarkdownView(state: MarkdownState) -> impl IntoView {
    let text = state.text;
    view! { <div class="md-plain">{move || text.get()}</div> }
}
