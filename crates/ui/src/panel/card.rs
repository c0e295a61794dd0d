//! The card in the transcript that stands for a payload in the panel. Its code is loaded with the first card.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{
    preview::{preview_place, preview_placeholder},
    texts, use_panel,
    verdict::verdict_word,
};
use crate::{
    components::icons,
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part_after},
        lazy_part::LazyPart,
        shared_view::use_shared_view,
    },
    state::page_registry::ShownPayload,
};
use parlor_protocol::{ConversationId, PayloadRef};

/// The card of a payload of a tool or the model: a summary line, and a button that opens the panel.
pub fn payload_card(conversation_id: ConversationId, payload: PayloadRef) -> AnyView {
    let expected = payload.clone();
    lazy_part_after(
        move || placeholder(&expected),
        move || load_view(conversation_id, payload.clone()),
    )
}

/// The placeholder of a card, as high as the card: a part of the answer may follow at once.
fn placeholder(payload: &PayloadRef) -> AnyView {
    view! {
        <div class="payload">
            <div class="payload-head">
                {icons::panel()}
                <span class="payload-summary" dir="auto">{payload.summary.clone()}</span>
                <button type="button" class="payload-open" disabled>{texts::OPEN}</button>
            </div>
            {payload.preview_rows.map(|rows| preview_placeholder(&payload.kind, rows))}
        </div>
    }
    .erase()
}

/// Loads the view's code on first use.
#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_card))]
pub fn load_view(conversation_id: ConversationId, payload: PayloadRef) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || card(conversation_id, payload.clone())))
}

fn card(conversation_id: ConversationId, payload: PayloadRef) -> AnyView {
    let panel = use_panel();
    let judged = panel.judged(conversation_id, &payload.payload_id);
    let verdict_label = move || {
        judged.get().map(|judged| {
            let (_, word) = verdict_word(&judged);
            view! { <span class="payload-verdict">{word}</span> }
        })
    };
    let id = payload.payload_id.clone();
    let shown = Memo::new(move |_| panel.is_showing(&id));
    let word = move || if shown.get() { texts::CLOSE } else { texts::OPEN };
    let summary = payload.summary.clone();
    let name = {
        let summary = summary.clone();
        move || texts::card_button(word(), &summary)
    };
    let id = payload.payload_id.clone();
    let file = payload_file(conversation_id, &id);
    let preview = payload.preview_rows.map(|rows| {
        let payload = payload.clone();
        let shown = ShownPayload {
            conversation_id,
            payload,
        };
        preview_place(shown, rows)
    });
    let press = move |_| {
        if shown.get_untracked() {
            panel.close();
        } else {
            panel.open(payload.clone());
        }
    };
    view! {
        <div
            class=move || if shown.get() { "payload in-panel" } else { "payload" }
            data-payload=id
            data-lazy=LazyPart::Payload.name()
        >
            <div class="payload-head">
                {icons::panel()}
                <span class="payload-summary" dir="auto">{summary}</span>
                {verdict_label}
                <button type="button" class="payload-open needs-script" aria-label=name on:click=press>{word}</button>
                <a class="payload-open without-script" href=file download="">{texts::DOWNLOAD}</a>
            </div>
            {preview}
        </div>
    }
    .erase()
}

/// The URL of a payload as a file.
pub fn payload_file(conversation_id: ConversationId, payload_id: &str) -> String {
    if let Some(share) = use_shared_view() {
        return share.payload_file(payload_id);
    }
    [
        "/rpc/conversations/",
        &conversation_id.to_string(),
        "/payloads/",
        payload_id,
        "/file",
    ]
    .concat()
}

/// The selector of the card's button.
pub fn card_selector(payload: &PayloadRef) -> String {
    ["[data-payload=\"", &payload.payload_id, "\"] .payload-open"].concat()
}
