//! The diagnostics of an answer: a dialog over the page.
//!
//! This module has what every page needs: the answer whose dialog is open, and its place. The dialog's code is in a file of its
//! own ([`content`]), which is loaded when it is first opened.

mod content;
mod texts;

use leptos::prelude::*;

use crate::{
    runtime::{erase::Erase, lazy::lazy_part},
    state::use_navigation,
};
use parlor_protocol::MessageId;

/// The selector of the button whose menu opens the dialog, used to restore the focus.
const OPENER: &str = ".message-foot [aria-haspopup='menu']";

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

    /// Opens it for an answer.
    pub fn open(self, id: MessageId) {
        self.open_for.set(Some(id));
    }
}

/// The page's dialog.
pub fn use_dialog() -> DiagnosticsDialog {
    expect_context()
}

/// The dialog, while it is open.
pub fn dialog() -> AnyView {
    let diagnosis = use_dialog();
    let shown = move || {
        let id = diagnosis.open_for.get()?;
        Some(lazy_part(move || content::load_view(diagnosis, id)))
    };
    shown.erase()
}
