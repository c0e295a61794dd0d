//! Code blocks.

use leptos::{html, prelude::*};

use super::{grow::Text, scroll::tab_stop_while_wider};
use crate::ui::copy::CopyButton;

/// A code block with the name of its language and a button that copies it.
#[component]
pub fn CodeBlock(language: Option<String>, text: Text) -> impl IntoView {
    let class = language.as_ref().map(|language| format!("language-{language}"));
    let (scroller, content) = (NodeRef::<html::Pre>::new(), NodeRef::<html::Code>::new());
    let tab_stop = tab_stop_while_wider(scroller, content);
    let code = text.view();
    view! {
        <div class="md-code">
            <div class="md-code-head">
                <span class="md-code-language">{language}</span>
                <CopyButton name="Copy code" text=move || text.whole()/>
            </div>
            <pre node_ref=scroller tabindex=tab_stop>
                <code node_ref=content class=class>{code}</code>
            </pre>
        </div>
    }
}
