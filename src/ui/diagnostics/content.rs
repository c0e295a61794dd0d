//! What is in the dialog. Its code is loaded when the dialog is first opened.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use crate::{
    api::{ApiError, rpc},
    protocol::{
        MessageId,
        diagnostics::{Block, DiagnosticsView, Fact, Section},
    },
    ui::{
        copy::CopyButton,
        erase::Erase,
        icons,
        lazy::{Code, NotLoaded},
        live::Live,
    },
};

/// The dialog's content.
#[wasm_split(diagnostics, wasm_split_path = leptos::wasm_split, fallible)]
pub fn code(live: Live, id: MessageId) -> Result<Code, NotLoaded> {
    Ok(Arc::new(move || content(live, id)))
}

/// Diagnostics as they come.
#[derive(Clone)]
enum State {
    Loading,
    Ready(Arc<DiagnosticsView>),
    Failed(ApiError),
}

fn content(live: Live, id: MessageId) -> AnyView {
    let state = RwSignal::new(State::Loading);
    let load = move || {
        spawn_local(async move {
            let outcome = live.ask(rpc::diagnostics(id)).await;
            // The dialog may be closed by now.
            state.try_set(match outcome {
                Ok(view) => State::Ready(Arc::new(view)),
                Err(error) => State::Failed(error),
            });
        });
    };
    load();
    let body = move || match state.get() {
        State::Loading => view! { <div class="notice notice-waiting" role="status">"Loading…"</div> }.erase(),
        State::Ready(view) => shown(&view, load),
        State::Failed(error) => failure(error, load),
    };
    body.erase()
}

fn failure(error: ApiError, load: impl Fn() + 'static) -> AnyView {
    view! {
        <div class="notice" role="alert">
            <p>{error.message}</p>
            <button type="button" class="button" on:click=move |_| load()>"Try again"</button>
        </div>
    }
    .erase()
}

fn shown(view: &Arc<DiagnosticsView>, load: impl Fn() + 'static) -> AnyView {
    let facts: Vec<_> = view.summary.iter().map(fact).collect();
    let sections: Vec<_> = view.sections.iter().map(section).collect();
    let again = view.at_work.then(|| {
        view! {
            <span class="diagnostics-at-work">"The answer is being made."</span>
            <button type="button" class="icon-button" aria-label="Refresh" title="Refresh" on:click=move |_| load()>
                {icons::retry()}
            </button>
        }
    });
    let json = {
        let view = view.clone();
        move || view.json.clone()
    };
    view! {
        <div class="diagnostics-body" role="group" tabindex="0" aria-label="Details">
            <dl class="diagnostics-facts">{facts}</dl>
            {sections}
        </div>
        <div class="diagnostics-foot">{again} <CopyButton name="Copy as JSON" text=json/></div>
    }
    .erase()
}

fn fact(Fact { name, value }: &Fact) -> AnyView {
    view! {
        <div>
            <dt>{name.clone()}</dt>
            <dd dir="auto">{value.clone()}</dd>
        </div>
    }
    .erase()
}

fn section(section: &Section) -> AnyView {
    let blocks: Vec<_> = section.blocks.iter().map(block).collect();
    let kind = if section.lines {
        "diagnostics-lines"
    } else {
        "diagnostics-blocks"
    };
    view! {
        <details class="diagnostics-section">
            <summary>
                {section.title.clone()} " " <span class="diagnostics-count">{section.count.clone()}</span>
            </summary>
            <div class=kind>{blocks}</div>
        </details>
    }
    .erase()
}

fn block(Block { label, text }: &Block) -> AnyView {
    let label = (!label.is_empty()).then(|| view! { <span class="diagnostics-label">{label.clone()}</span> });
    view! { <div>{label} <pre dir="auto">{text.clone()}</pre></div> }.erase()
}
