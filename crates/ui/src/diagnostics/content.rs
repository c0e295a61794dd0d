//! The diagnostics dialog. Its code is loaded when it is first opened.

use std::sync::Arc;

use leptos::{ev, prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{DiagnosticsDialog, OPENER, texts};

use crate::{
    api::rpc,
    browser,
    components::{confirm::use_modal, copy::CopyButton, details, icon_button::IconButton, icons},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
    },
    state::{Connection, use_connection},
};
use parlor_protocol::{
    MessageId,
    diagnostics::{DiagnosticsBlock, DiagnosticsFact, DiagnosticsSection, DiagnosticsView},
};

/// Loads the code of the dialog for one answer on first use.
#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(diagnosis: DiagnosticsDialog, id: MessageId) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || frame(diagnosis, id)))
}

fn frame(DiagnosticsDialog { open_for: asked }: DiagnosticsDialog, id: MessageId) -> AnyView {
    let dialog = use_modal(|| true);
    let closed = move |_| {
        asked.set(None);
        // The browser would restore the focus itself, unless the answer has ended meanwhile and its buttons were
        // replaced.
        browser::focus_selector(&["[id='", &id.to_string(), "'] ", OPENER].concat());
    };
    view! {
        <dialog node_ref=dialog class="dialog diagnostics" aria-labelledby="diagnostics-title" on:close=closed>
            <form method="dialog" class="diagnostics-head">
                <h2 id="diagnostics-title">{texts::TITLE}</h2>
                <button class="icon-button" aria-label=texts::CLOSE title=texts::CLOSE>
                    {icons::close()}
                </button>
            </form>
            {loaded_diagnostics(id)}
        </dialog>
    }
    .erase()
}

/// The loading state of the diagnostics.
#[derive(Clone, Copy)]
struct DiagnosticsState {
    connection: Connection,
    id: MessageId,
    view: RwSignal<Option<Arc<DiagnosticsView>>>,
    is_loading: RwSignal<bool>,
    error: RwSignal<Option<String>>,
    /// The titles of the open sections, which stay open when the dialog is rendered again.
    open_sections: StoredValue<Vec<String>>,
}

impl DiagnosticsState {
    fn load(self) {
        if self.is_loading.get_untracked() {
            return;
        }
        self.is_loading.set(true);
        spawn_local(async move {
            let outcome = self.connection.call(rpc::diagnostics(self.id)).await;
            // The dialog may be closed by now.
            self.is_loading.try_set(false);
            match outcome {
                Ok(view) => {
                    self.error.try_set(None);
                    self.view.try_set(Some(Arc::new(view)));
                }
                Err(error) => {
                    self.error.try_set(Some(error.message));
                }
            }
        });
    }
}

/// Loads the diagnostics of an answer and renders them, or the loading or failed state.
fn loaded_diagnostics(id: MessageId) -> AnyView {
    let state = DiagnosticsState {
        connection: use_connection(),
        id,
        view: RwSignal::new(None),
        is_loading: RwSignal::new(false),
        error: RwSignal::new(None),
        open_sections: StoredValue::default(),
    };
    state.load();
    let is_here = Memo::new(move |_| state.view.with(Option::is_some));
    let first = move || {
        (state.is_loading.get() && !is_here.get()).then(|| {
            view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }
        })
    };
    let failure = move || {
        state.error.get().map(|message| {
            view! {
                <div class="notice" role="alert">
                    <p>{message}</p>
                    <button type="button" class="button" on:click=move |_| state.load()>{texts::TRY_AGAIN}</button>
                </div>
            }
        })
    };
    view! {
        {first}
        {failure}
        {move || is_here.get().then(|| diagnostics_view(state))}
    }
    .erase()
}

fn diagnostics_view(state: DiagnosticsState) -> AnyView {
    let with = move |read: fn(&DiagnosticsView, DiagnosticsState) -> Vec<AnyView>| {
        state
            .view
            .with(|view| view.as_ref().map(|view| read(view, state)))
    };
    let facts = move || with(|view, _| view.summary.iter().map(fact).collect());
    let sections = move || with(|view, state| view.sections.iter().map(|one| section(one, state)).collect());
    let at_work = Memo::new(move |_| {
        state
            .view
            .with(|view| view.as_ref().is_some_and(|view| view.at_work))
    });
    let again = move || {
        at_work.get().then(|| {
            view! {
                <span class="diagnostics-at-work">{texts::BEING_WRITTEN}</span>
                {IconButton::new(texts::REFRESH, icons::retry(), move || state.load())
                    .disabled_while(move || state.is_loading.get())
                    .view()}
            }
        })
    };
    let json = move || {
        let json = state
            .view
            .with_untracked(|view| view.as_ref().map(|view| view.json.clone()));
        json.unwrap_or_default()
    };
    view! {
        <div class="diagnostics-body" role="group" tabindex="0" aria-label=texts::DETAILS>
            <dl class="diagnostics-facts">{facts}</dl>
            {sections}
        </div>
        <div class="diagnostics-foot">{again} <CopyButton name=texts::COPY_JSON text=json/></div>
    }
    .erase()
}

fn fact(DiagnosticsFact { name, value }: &DiagnosticsFact) -> AnyView {
    view! {
        <div>
            <dt>{name.clone()}</dt>
            <dd dir="auto">{value.clone()}</dd>
        </div>
    }
    .erase()
}

fn section(section: &DiagnosticsSection, state: DiagnosticsState) -> AnyView {
    let title = section.title.clone();
    let open = state
        .open_sections
        .with_value(|unfolded| unfolded.contains(&title));
    let toggled = move |event: ev::Event| {
        let is_open = details::is_details_open(&event);
        state.open_sections.update_value(|unfolded| {
            unfolded.retain(|other| *other != title);
            unfolded.extend(is_open.then(|| title.clone()));
        });
    };
    let blocks: Vec<_> = section.blocks.iter().map(block).collect();
    let kind = if section.lines {
        "diagnostics-lines"
    } else {
        "diagnostics-blocks"
    };
    view! {
        <details class="diagnostics-section" open=open on:toggle=toggled>
            <summary>
                {section.title.clone()} " " <span class="diagnostics-count">{section.count.clone()}</span>
            </summary>
            <div class=kind>{blocks}</div>
        </details>
    }
    .erase()
}

fn block(DiagnosticsBlock { label, text }: &DiagnosticsBlock) -> AnyView {
    let label = (!label.is_empty()).then(|| view! { <span class="diagnostics-label">{label.clone()}</span> });
    view! { <div>{label} <pre dir="auto">{text.clone()}</pre></div> }.erase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run_in_page;
    use xss::assert_harmless_in;

    fn view_of(text: &str) -> DiagnosticsView {
        let section = |lines| DiagnosticsSection {
            title: text.into(),
            count: text.into(),
            lines,
            blocks: vec![DiagnosticsBlock {
                label: text.into(),
                text: text.into(),
            }],
        };
        DiagnosticsView {
            at_work: true,
            summary: vec![DiagnosticsFact {
                name: text.into(),
                value: text.into(),
            }],
            sections: vec![section(true), section(false)],
            json: text.into(),
        }
    }

    #[test]
    fn no_text_becomes_markup() {
        assert_harmless_in("diagnostics", |text| {
            run_in_page(|| {
                let state = DiagnosticsState {
                    connection: use_connection(),
                    id: MessageId::new(),
                    view: RwSignal::new(Some(Arc::new(view_of(text)))),
                    is_loading: RwSignal::new(false),
                    error: RwSignal::new(None),
                    open_sections: StoredValue::default(),
                };
                diagnostics_view(state)
            })
        });
    }
}
