//! The diagnostics of an answer: a dialog over the page.
//!
//! This module has what every page needs: the button below an answer, and the frame of the dialog. The dialog's code is
//! in a file of its own ([`content`]), which is loaded when it is first opened.

mod content;

use leptos::prelude::*;

use crate::{
    components::icons,
    runtime::{erase::Erase, lazy::lazy_part},
    state::use_navigation,
};
use parlor_protocol::MessageId;

/// The class of the button that opens the dialog, used to restore the focus.
const BUTTON: &str = "diagnostics-button";

/// The answer whose diagnostics are shown.
#[derive(Clone, Copy)]
pub struct DiagnosticsDialog {
    open_for: RwSignal<Option<MessageId>>,
}

impl DiagnosticsDialog {
    /// Closed. Navigating away closes it too.
    pub fn new() -> Self {
        let open_for = RwSignal::new(None);
        use_navigation().clear_when_leaving(open_for);
        Self { open_for }
    }
}

/// The button for an answer.
pub fn button(id: MessageId) -> AnyView {
    let asked = expect_context::<DiagnosticsDialog>().open_for;
    view! {
        <button
            type="button"
            class=["icon-button needs-script ", BUTTON].concat()
            aria-label="Diagnostics"
            title="Diagnostics"
            aria-haspopup="dialog"
            on:click=move |_| asked.set(Some(id))
        >
            {icons::pulse()}
        </button>
    }
    .erase()
}

/// The dialog, while it is open.
pub fn dialog() -> AnyView {
    let diagnosis = expect_context::<DiagnosticsDialog>();
    let shown = move || {
        let id = diagnosis.open_for.get()?;
        Some(lazy_part(move || content::load_view(diagnosis, id)))
    };
    shown.erase()
}
