//! The card in the transcript that stands for a payload in the panel. Its code is loaded with the first card.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::use_panel;
use crate::{
    protocol::ConversationId,
    protocol::PayloadRef,
    protocol::Verdict,
    ui::{
        components::icons, runtime::erase::Erase, runtime::lazy::LazyView, runtime::lazy::LoadError,
        runtime::lazy::lazy_part,
    },
};

/// The card of a payload of a tool or the model: a summary line, and a button that opens the panel.
pub fn payload_card(conversation_id: ConversationId, payload: PayloadRef) -> AnyView {
    lazy_part(move || code(conversation_id, payload.clone()))
}

#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_card))]
pub fn code(conversation_id: ConversationId, payload: PayloadRef) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || card(conversation_id, payload.clone())))
}

fn card(conversation_id: ConversationId, payload: PayloadRef) -> AnyView {
    let panel = use_panel();
    let verdict = panel.verdict(conversation_id, &payload.payload_id);
    let verdict_label = move || {
        verdict.get().map(|verdict| {
            let word = match verdict {
                Verdict::Accepted => "Accepted",
                Verdict::Rejected => "Rejected",
            };
            view! { <span class="payload-verdict">{word}</span> }
        })
    };
    let id = payload.payload_id.clone();
    let shown = Memo::new(move |_| panel.is_showing(&id));
    let word = move || if shown.get() { "Close" } else { "Open" };
    let summary = payload.summary.clone();
    let name = {
        let summary = summary.clone();
        move || [word(), ": ", &summary].concat()
    };
    let id = payload.payload_id.clone();
    let press = move |_| {
        if shown.get_untracked() {
            panel.close();
        } else {
            panel.open(payload.clone());
        }
    };
    view! {
        <div class="payload" data-payload=id data-lazy="payload">
            {icons::panel()}
            <span class="payload-summary" dir="auto">{summary}</span>
            {verdict_label}
            <button type="button" class="payload-open needs-script" aria-label=name on:click=press>{word}</button>
        </div>
    }
    .erase()
}

/// The selector of the card's button.
pub fn card_selector(payload: &PayloadRef) -> String {
    ["[data-payload=\"", &payload.payload_id, "\"] button"].concat()
}
