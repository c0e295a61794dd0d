//! The model's reasoning: one line while it goes on, folded away when it is done.

use leptos::{ev, prelude::*, wasm_bindgen::JsCast, web_sys::HtmlDetailsElement};

use super::answer::Dots;
use crate::ui::{erase::Erase, live::PartRow, markdown::MarkdownView};

/// One thinking part. `active` while it grows; `prefix` begins the ids in it.
#[component]
pub fn Thinking(part: PartRow, prefix: String, active: Memo<bool>) -> impl IntoView {
    let PartRow {
        live, prose, latest, ..
    } = part;
    let open = RwSignal::new(false);
    let toggled = move |event: ev::Event| {
        if let Some(details) = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlDetailsElement>().ok())
        {
            open.set(details.open());
        }
    };
    let summary = move || {
        if active.get() {
            let latest = latest.clone();
            view! {
                <span class="thinking-now">"Thinking"</span>
                <Dots/>
                <span class="thinking-latest">{move || latest.get()}</span>
            }
            .erase()
        } else {
            view! { <span>{move || if open.get() { "Hide details" } else { "Show details" }}</span> }.erase()
        }
    };
    // Whoever reads without scripts can open what the server rendered. What streams in while it is folded
    // is drawn when it is opened.
    let seen = Memo::new(move |seen: Option<&bool>| seen.copied().unwrap_or(!live) || open.get());
    view! {
        <details class="thinking" on:toggle=toggled>
            <summary>{summary}</summary>
            <div class="thinking-text">
                {move || seen.get().then(|| view! { <MarkdownView state=prose.show() prefix=prefix.clone()/> })}
            </div>
        </details>
    }
}
