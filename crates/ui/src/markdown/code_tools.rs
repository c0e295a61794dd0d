//! The header of a code block: its language, and buttons.

use std::sync::Arc;

use leptos::prelude::*;

use super::{preview::PreviewState, texts};
use crate::{
    browser,
    components::{copy::CopyButton, icon_button::IconButton, icons},
    runtime::{erase::Erase, when::When},
};

/// The row above the code, which is there from the block's first line on: nothing covers the code, and nothing moves when a
/// second line arrives. The buttons that are not always there have their place from the beginning.
#[component]
pub fn CodeTools(
    language: Option<String>,
    file_name: String,
    /// Returns the whole text.
    text: Arc<dyn Fn() -> String + Send + Sync>,
    is_wrapped: RwSignal<bool>,
    preview: PreviewState,
) -> impl IntoView {
    let copied = text.clone();
    let save = move || browser::save_file(&file_name, &text());
    let wrap = move || is_wrapped.update(|is_wrapped| *is_wrapped = !*is_wrapped);
    view! {
        <div class="md-code-head">
            <span class="md-code-language">{language}</span>
            {IconButton::new(texts::WRAP_LINES, icons::wrap(), wrap)
                .class("md-code-tool")
                .pressed_while(move || is_wrapped.get())
                .view()}
            {IconButton::new(texts::DOWNLOAD_CODE, icons::download(), save).class("md-code-tool").view()}
            <When when=move || preview.is_expected()>{preview_buttons(preview)}</When>
            <CopyButton name=texts::COPY_CODE text=move || copied()/>
        </div>
    }
}

/// The switch between the source and what it shows, and the button that shows it larger. They have their place before
/// there is a preview.
fn preview_buttons(preview: PreviewState) -> AnyView {
    view! {
        <button
            type="button"
            class="icon-button needs-script"
            class:md-unready=move || !preview.is_ready()
            aria-label=texts::SHOW_SOURCE
            title=texts::SHOW_SOURCE
            aria-pressed=move || if preview.is_shown() { "false" } else { "true" }
            on:click=move |_| preview.toggle()
        >
            {icons::code()}
        </button>
        <button
            type="button"
            class="icon-button needs-script"
            class:md-unready=move || !preview.is_ready()
            aria-label=texts::SHOW_LARGER
            title=texts::SHOW_LARGER
            on:click=move |_| preview.enlarge()
        >
            {icons::expand()}
        </button>
    }
    .erase()
}
