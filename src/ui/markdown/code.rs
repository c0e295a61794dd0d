//! Code blocks.

use leptos::{html, prelude::*};

use super::{
    context::OpenCodeLookup,
    growing::GrowingText,
    highlighting::{EndedBlock, colour},
    scroll::tab_stop_while_wider,
};
use crate::ui::{
    components::copy::CopyButton, components::highlight::MAX_HIGHLIGHTED_BYTES, runtime::erase::Erase,
    runtime::lazy::LazyView, runtime::lazy::when_loaded,
};

/// A code block with the name of its language and a copy button. It is highlighted when it has ended.
#[component]
pub fn CodeBlock(
    language: Option<String>,
    text: GrowingText,
    ended: ArcRwSignal<bool>,
    open_code: OpenCodeLookup,
) -> impl IntoView {
    let class = language.as_ref().map(|language| format!("language-{language}"));
    let (scroller, content) = (NodeRef::<html::Pre>::new(), NodeRef::<html::Code>::new());
    let tab_stop = tab_stop_while_wider(scroller, content);
    let shown = RwSignal::new(None);
    let copied = {
        let (text, ended) = (text.clone(), ended.clone());
        move || {
            let open = (!ended.get_untracked()).then(|| open_code()).flatten();
            open.unwrap_or_else(|| text.whole())
        }
    };
    if let Some(language) = language.clone() {
        let text = text.clone();
        highlight_when_ended(ended.clone(), shown, move || EndedBlock {
            text: text.whole(),
            language: language.clone(),
            element: scroller,
            is_ended: ended.clone(),
            highlighted: shown,
        });
    }
    let code = {
        let text = text.clone();
        move || match shown.get() {
            Some(code) => code(),
            None => text.view(),
        }
    };
    let lazy = shown.with_untracked(Option::is_some).then_some("colours");
    view! {
        <div class="md-code">
            <div class="md-code-head">
                <span class="md-code-language">{language}</span>
                <CopyButton name="Copy code" text=copied/>
            </div>
            <pre node_ref=scroller tabindex=tab_stop>
                <code node_ref=content class=class data-lazy=lazy>{code.erase()}</code>
            </pre>
        </div>
    }
}

/// Highlights a block each time it has ended, and shows it plain while it grows.
fn highlight_when_ended(
    ended: ArcRwSignal<bool>,
    shown: RwSignal<Option<LazyView>>,
    block: impl Fn() -> EndedBlock + 'static,
) {
    let colour = move || {
        let block = block();
        if block.text.len() <= MAX_HIGHLIGHTED_BYTES {
            // If the highlighter cannot be loaded, the block stays plain.
            when_loaded(Box::pin(colour(block)), drop);
        }
    };
    // Read before the first rendering, as on the server, so that hydration matches.
    let mut is_done = ended.get_untracked();
    if is_done {
        colour();
    }
    Effect::new(move |_| {
        let has_ended = ended.get();
        match (is_done, has_ended) {
            (false, true) => colour(),
            (true, false) => shown.set(None),
            _ => {}
        }
        is_done = has_ended;
    });
}
