//! Code blocks.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    code_file::file_name,
    code_tools::{CodeTools, CodeToolsProps},
    context::OpenCodeLookup,
    growing::GrowingText,
    highlighting::{EndedBlock, colour},
    preview::{PreviewKind, PreviewState},
    scroll::{follow_end, tab_stop_while_wider},
    texts,
};
use crate::{
    components::highlight::MAX_HIGHLIGHTED_BYTES,
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazyView, when_loaded},
        lazy_part::LazyPart,
    },
};

/// A stored block with more lines is cut and can be opened. One that streams in stays open: nothing jumps at its end.
const MAX_SHOWN_LINES: usize = 40;

/// A code block with its tools. It is highlighted when it has ended; an image or a page is shown as such.
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
    let whole_text = {
        let (text, ended) = (text.clone(), ended.clone());
        move || {
            let open = (!ended.get_untracked()).then(|| open_code()).flatten();
            open.unwrap_or_else(|| text.whole())
        }
    };
    if let Some(language) = language.clone() {
        let (text, is_ended) = (text.clone(), ended.clone());
        highlight_when_ended(ended.clone(), shown, move || EndedBlock {
            text: text.whole(),
            language: language.clone(),
            element: scroller,
            is_ended: is_ended.clone(),
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
    let lazy = shown
        .with_untracked(Option::is_some)
        .then_some(LazyPart::Colours.name());

    let kind = PreviewKind::memo(language.clone(), &text);
    let preview = PreviewState::new(kind, ended.clone(), text.clone(), scroller);
    follow_end(scroller, content, {
        let ended = ended.clone();
        move || kind.try_get_untracked().flatten().is_some() && !ended.get_untracked()
    });
    let lines = if ended.get_untracked() && kind.get_untracked().is_none() {
        text.whole().lines().count()
    } else {
        0
    };
    let is_cut = RwSignal::new(lines > MAX_SHOWN_LINES);
    let is_wrapped = RwSignal::new(false);
    let tools = CodeTools(CodeToolsProps {
        file_name: file_name(language.as_deref()),
        language,
        text: Arc::new(whole_text),
        is_wrapped,
        preview,
    });
    view! {
        <div
            class="md-code"
            dir="ltr"
            class:md-wrap=move || is_wrapped.get()
            class:md-cut=move || is_cut.get()
            class:md-previewed=move || kind.get().is_some()
            class:md-source-hidden=move || preview.is_shown()
        >
            {tools.erase()}
            <pre node_ref=scroller tabindex=tab_stop>
                <code node_ref=content class=class data-lazy=lazy>{code.erase()}</code>
            </pre>
            {move || preview.view()}
            {(lines > MAX_SHOWN_LINES).then(|| show_all_button(is_cut, lines))}
        </div>
    }
}

fn show_all_button(is_cut: RwSignal<bool>, lines: usize) -> AnyView {
    let name = move || {
        if is_cut.get() {
            texts::show_all_lines(lines)
        } else {
            texts::SHOW_LESS.to_owned()
        }
    };
    view! {
        <button
            type="button"
            class="button md-code-more needs-script"
            aria-expanded=move || if is_cut.get() { "false" } else { "true" }
            on:click=move |_| is_cut.update(|is_cut| *is_cut = !*is_cut)
        >
            {name}
        </button>
    }
    .erase()
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
    effect(move || {
        let has_ended = ended.get();
        match (is_done, has_ended) {
            (false, true) => colour(),
            (true, false) => shown.set(None),
            _ => {}
        }
        is_done = has_ended;
    });
}
