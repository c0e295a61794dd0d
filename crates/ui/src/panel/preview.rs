//! The beginning of a payload in the answer: a chart, the first rows of a table, the first changes of a document with
//! Accept and Reject.
//!
//! Its place has its final height from the beginning, so that nothing moves when it is loaded. That happens when it is first
//! seen, with the code of the panel.

use std::sync::Arc;

use leptos::{html, prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{
    body::preview as preview_body,
    card::card_selector,
    handlers, loading,
    proposal::own_proposal,
    texts, use_panel,
    verdict::{VerdictInput, verdict_buttons},
};
use crate::{
    browser,
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazySlot, LazyView, LoadError},
    },
    state::page_registry::{ShownPayload, use_page_registry},
};
use parlor_protocol::{
    number_format::group_digits,
    panel::{PREVIEW_LINES, PREVIEW_ROWS, PanelView},
};

/// The kind of a preview, which decides on its height.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PayloadPreviewKind {
    Chart,
    Rows,
    Changes,
    /// The changes of a draft, all of them.
    Fields,
}

impl PayloadPreviewKind {
    fn new(payload_type: &str, rows: usize) -> Self {
        let handler = handlers::handler_for(&use_page_registry(), payload_type);
        match payload_type {
            _ if handler.is_for_draft => Self::Fields,
            "text_document" => Self::Changes,
            // A chart that can't be drawn is a table.
            _ if rows == 0 => Self::Chart,
            _ => Self::Rows,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Chart => "preview preview-chart",
            Self::Rows => "preview preview-rows",
            Self::Changes => "preview preview-changes",
            Self::Fields => "preview preview-fields",
        }
    }

    /// The number of lines that are shown of `rows`, without the head of a table.
    fn shown_rows(self, rows: usize) -> usize {
        match self {
            Self::Chart => 0,
            Self::Rows => rows.min(PREVIEW_ROWS),
            Self::Changes => rows.min(PREVIEW_LINES),
            Self::Fields => rows,
        }
    }

    /// "115 more rows", if there are more than are shown.
    fn more(self, rows: usize) -> Option<String> {
        let more = rows.saturating_sub(self.shown_rows(rows));
        let words = match self {
            Self::Chart | Self::Fields => return None,
            Self::Rows => texts::more_rows,
            Self::Changes => texts::more_lines,
        };
        (more > 0).then(|| words(&group_digits(more as u64)))
    }
}

/// The place of the preview, and the preview once it is seen and loaded.
pub fn preview_place(shown: ShownPayload, rows: usize) -> AnyView {
    let panel = use_panel();
    let kind = PayloadPreviewKind::new(&shown.payload.kind, rows);
    let slot = LazySlot::new();
    let place = NodeRef::<html::Div>::new();
    let watch = StoredValue::new(None);
    let payload = shown.payload.clone();
    effect(move || {
        let Some(place) = place.get() else { return };
        let shown = shown.clone();
        watch.set_value(Some(browser::on_visible(&place, move || {
            let shown = shown.clone();
            slot.load(move || load_view(shown.clone()));
        })));
    });
    let content = slot.view(move || placeholder(kind, rows));
    let more = kind.more(rows).map(|words| {
        let open = move |_| panel.open(payload.clone());
        view! { <button type="button" class="preview-more" on:click=open>{words}</button> }
    });
    view! {
        <div node_ref=place class=[kind.class(), " needs-script"].concat()>
            {content}
            {more}
        </div>
    }
    .erase()
}

/// The placeholder of a preview, as high as the preview with the button below it.
pub fn preview_placeholder(payload_type: &str, rows: usize) -> AnyView {
    let kind = PayloadPreviewKind::new(payload_type, rows);
    let more = kind.more(rows);
    view! {
        <div class=kind.class()>
            {placeholder(kind, rows)}
            {more.map(|words| view! { <button type="button" class="preview-more" disabled>{words}</button> })}
        </div>
    }
    .erase()
}

/// The placeholder of the preview alone, as high as the preview.
fn placeholder(kind: PayloadPreviewKind, rows: usize) -> AnyView {
    let head = usize::from(kind == PayloadPreviewKind::Rows);
    let lines: Vec<_> = (0..head + kind.shown_rows(rows))
        .map(|_| view! { <div class="preview-line"></div> })
        .collect();
    let verdict = matches!(kind, PayloadPreviewKind::Changes | PayloadPreviewKind::Fields)
        .then(|| view! { <div class="panel-verdict"></div> });
    view! {
        <div class="preview-placeholder" aria-hidden="true">{lines}</div>
        {verdict}
    }
    .erase()
}

/// Loads the view's code on first use.
#[wasm_split(panel, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(shown: ShownPayload) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || preview(shown.clone())))
}

/// The loading state of a preview.
#[derive(Clone)]
enum PayloadPreviewState {
    Loading,
    Ready(Arc<PanelView>),
    Failed,
}

fn preview(shown: ShownPayload) -> AnyView {
    let rows = shown.payload.preview_rows.unwrap_or_default();
    let kind = PayloadPreviewKind::new(&shown.payload.kind, rows);
    let state = RwSignal::new(PayloadPreviewState::Loading);
    let handler = handlers::handler_for(&use_page_registry(), &shown.payload.kind);
    let panel = use_panel();
    let request = loading::request(&shown, true);
    let load = move || {
        let request = request();
        state.set(PayloadPreviewState::Loading);
        spawn_local(async move {
            let loaded = request.await;
            // The conversation may be left by now.
            state.try_set(match loaded {
                Ok(view) => PayloadPreviewState::Ready(Arc::new(view)),
                Err(_) => PayloadPreviewState::Failed,
            });
        });
    };
    load();
    let shown = shown.clone();
    let content = move || match state.get() {
        PayloadPreviewState::Loading => placeholder(kind, rows),
        PayloadPreviewState::Ready(view) if kind == PayloadPreviewKind::Fields => {
            own_proposal(card_selector(&shown.payload), panel, &shown, &handler, view)
        }
        PayloadPreviewState::Ready(view) => {
            let verdict = (kind == PayloadPreviewKind::Changes && view.is_proposal).then(|| {
                verdict_buttons(
                    card_selector(&shown.payload),
                    panel,
                    &shown,
                    &handler,
                    view.clone(),
                    VerdictInput::default(),
                )
            });
            view! {
                {preview_body(&view)}
                {verdict}
            }
            .erase()
        }
        PayloadPreviewState::Failed => {
            let load = load.clone();
            view! {
                <div class="preview-failure">
                    <span>{texts::PREVIEW_FAILED}</span>
                    <button type="button" class="button" on:click=move |_| load()>{texts::TRY_AGAIN}</button>
                </div>
                {placeholder(kind, rows)}
            }
            .erase()
        }
    };
    content.erase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_rows_that_are_not_shown() {
        for (kind, rows, shown, more) in [
            (PayloadPreviewKind::Chart, 0, 0, None),
            (PayloadPreviewKind::Rows, 5, 5, None),
            (PayloadPreviewKind::Rows, 6, 5, Some("1 more row")),
            (PayloadPreviewKind::Rows, 1205, 5, Some("1,200 more rows")),
            (PayloadPreviewKind::Changes, 4, 4, None),
            (PayloadPreviewKind::Changes, 12, 10, Some("2 more lines")),
        ] {
            assert_eq!((kind.shown_rows(rows), kind.more(rows).as_deref()), (shown, more));
        }
    }
}
