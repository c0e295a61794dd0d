//! How an answer was made: a dialog over the page.
//!
//! Here is what every page needs: the button below an answer, and where the dialog comes to be. The dialog has its code in a
//! file of its own ([`content`]), which is loaded when it is first opened.

mod content;

use leptos::prelude::*;

use super::{erase::Erase, icons, lazy::lazy_part, live::Live};
use crate::protocol::MessageId;

/// What opens the dialog, for what gives the focus back.
const BUTTON: &str = "diagnostics-button";

/// Which answer somebody wants to know about.
#[derive(Clone, Copy)]
pub struct Diagnosis {
    asked: RwSignal<Option<MessageId>>,
    live: Live,
}

impl Diagnosis {
    /// Nobody asks. Who goes elsewhere does not ask any more.
    pub fn new(live: Live) -> Self {
        let asked = RwSignal::new(None);
        Effect::new(move |_| {
            live.place.track();
            asked.set(None);
        });
        Self { asked, live }
    }
}

/// Asks about an answer.
pub fn button(id: MessageId) -> AnyView {
    let asked = expect_context::<Diagnosis>().asked;
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
    let diagnosis = expect_context::<Diagnosis>();
    let shown = move || {
        let id = diagnosis.asked.get()?;
        Some(lazy_part(move || content::code(diagnosis, id)))
    };
    shown.erase()
}
