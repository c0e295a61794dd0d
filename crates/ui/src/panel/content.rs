//! The content of the panel's frame. Its code is loaded when the panel is first opened.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{
    Panel,
    body::{body, own_body},
    card::payload_file,
    handlers, loading,
    loading::LoadingPayload,
    proposal::own_proposal,
    texts,
    verdict::{VerdictInput, verdict_buttons},
    width,
};
use crate::{
    commands::{Shortcut, use_commands},
    components::{escape::EscapeAction, icons},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
        shared_view::is_read_only,
    },
    state::page_registry::{PayloadHandler, ShownPayload, use_page_registry},
};
use parlor_protocol::{ApiError, PanelView, panel::PanelBody};

/// Loads the view's code on first use.
#[wasm_split(panel, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(panel: Panel) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || panel_view(panel)))
}

/// Renders the shown payload; Escape closes the panel.
fn panel_view(panel: Panel) -> AnyView {
    use_commands().on_shortcut(Shortcut::Close, move |event| {
        let is_triggered = EscapeAction::ClosePanel.is_triggered(event);
        if is_triggered {
            panel.close();
        }
        is_triggered
    });
    (move || panel.shown.get().map(|shown| payload_view(panel, shown))).erase()
}

/// The loading state of a payload.
#[derive(Clone)]
enum PayloadState {
    Loading,
    Ready(Arc<PanelView>),
    Failed(ApiError),
}

fn payload_view(panel: Panel, shown: ShownPayload) -> AnyView {
    let handler = handlers::handler_for(&use_page_registry(), &shown.payload.kind);
    let file = payload_file(shown.conversation_id, &shown.payload.payload_id);
    let state = RwSignal::new(PayloadState::Loading);
    let proposed = shown.clone();
    let request = loading::request(&shown, false);
    let load = move || load(request(), state);
    load();
    let body = move || match state.get() {
        PayloadState::Loading => {
            view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }.erase()
        }
        PayloadState::Ready(view) => {
            if handler.is_for_draft && matches!(view.body, PanelBody::Proposal(_)) {
                return own_proposal(".panel-body".into(), panel, &proposed, &handler, view);
            }
            let input = VerdictInput::default();
            let answer = view
                .is_proposal
                .then(|| verdict_buttons(".panel-body", panel, &proposed, &handler, view.clone(), input));
            view! {
                {payload_body(&handler, &proposed, &view)}
                {answer}
            }
            .erase()
        }
        PayloadState::Failed(error) => failure(error, load.clone()),
    };
    view! {
        <div class="panel-content">
            {width::separator(panel, handler)}
            <div class="panel-head">
                <h2>{handler.title}</h2>
                <a class="icon-button" href=file download="" aria-label=texts::DOWNLOAD title=texts::DOWNLOAD>
                    {icons::download()}
                </a>
            </div>
            <div class="panel-body" role="group" tabindex="0" aria-label=handler.title>
                {body}
            </div>
        </div>
    }
    .erase()
}

/// The content: the page's own view, or else the one of its kind.
pub(super) fn payload_body(handler: &PayloadHandler, shown: &ShownPayload, view: &Arc<PanelView>) -> AnyView {
    if is_read_only() {
        return body(view);
    }
    match handler.view {
        Some(own) => own.run((shown.clone(), view.clone())),
        None => own_body(shown, view),
    }
}

fn load(request: LoadingPayload, state: RwSignal<PayloadState>) {
    state.set(PayloadState::Loading);
    spawn_local(async move {
        let outcome = request.await;
        // The panel may show something else by now.
        state.try_set(match outcome {
            Ok(view) => PayloadState::Ready(Arc::new(view)),
            Err(error) => PayloadState::Failed(error),
        });
    });
}

fn failure(error: ApiError, load: impl Fn() + 'static) -> AnyView {
    view! {
        <div class="notice" role="alert">
            <h3>{texts::LOADING_FAILED}</h3>
            <p>{error.message}</p>
            <button type="button" class="button" on:click=move |_| load()>{texts::TRY_AGAIN}</button>
        </div>
    }
    .erase()
}
