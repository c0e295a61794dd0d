//! How an answer was made: a dialog over the page.
//!
//! Here is what every page needs: the button below an answer, and where the dialog comes to be. The dialog has its code in a
//! file of its own ([`content`]), which is loaded when it is first opened.

mod content;

use leptos::prelude::*;

use super::state::Live;
use crate::protocol::MessageId;
use crate::ui::{components::icons, runtime::erase::Erase, runtime::lazy::lazy_part};

/// What opens the dialog, for what gives the focus back.
const BUTTON: &str = "diagnostics-button";

/// Which answer somebody wants to know about.
#[derive(Clone, Copy)]
pub struct DiagnosticsDialog {
    open_for: RwSignal<Option<MessageId>>,
    live: Live,
}

impl DiagnosticsDialog {
    /// Nobody asks. Who goes elsewhere does not ask any more.
    pub fn new(live: Live) -> Self {
        let asked = RwSignal::new(None);
        Effect::new(move |_| {
            live.chat_route.track();
            asked.set(None);
        });
        Self {
            open_for: asked,
            live,
        }
    }
}

/// Asks about an answer.
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

/// The dialog, while somebody asks.
pub fn dialog() -> AnyView {
    let diagnosis = expect_context::<DiagnosticsDialog>();
    let shown = move || {
        let id = diagnosis.open_for.get()?;
        Some(lazy_part(move || content::code(diagnosis, id)))
    };
    shown.erase()
}
