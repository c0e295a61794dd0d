//! Code blocks.

use std::time::Duration;

use leptos::prelude::*;

use super::grow::Text;
use crate::ui::browser;

/// How long the button says that the code was copied.
const SAID_FOR: Duration = Duration::from_secs(2);

/// A code block with the name of its language and a button that copies it.
#[component]
pub fn CodeBlock(language: Option<String>, text: Text) -> impl IntoView {
    let class = language.as_ref().map(|language| format!("language-{language}"));
    let code = text.view();
    view! {
        <div class="md-code">
            <div class="md-code-head">
                <span class="md-code-language">{language}</span>
                <CopyButton text/>
            </div>
            <pre tabindex="0">
                <code class=class>{code}</code>
            </pre>
        </div>
    }
}

#[component]
fn CopyButton(text: Text) -> impl IntoView {
    // Counted, so that the end of an earlier "Copied" does not end a later one. Not owned by this view: the clipboard
    // may answer when it is gone.
    let copied = ArcRwSignal::new(0_u32);
    let copy = {
        let copied = copied.clone();
        move |_| {
            let copied = copied.clone();
            browser::copy_text(text.whole(), move |done| {
                if done {
                    say(copied);
                }
            });
        }
    };
    let (label, status) = (copied.clone(), copied);
    view! {
        <button type="button" class="md-copy" aria-label="Copy code" on:click=copy>
            {move || if label.get() > 0 { "Copied" } else { "Copy" }}
        </button>
        <span class="md-status" role="status">
            {move || (status.get() > 0).then_some("Copied")}
        </span>
    }
}

fn say(copied: ArcRwSignal<u32>) {
    copied.update(|count| *count += 1);
    let said = copied.get_untracked();
    let end = move || {
        if copied.get_untracked() == said {
            copied.set(0);
        }
    };
    set_timeout(end, SAID_FOR);
}
