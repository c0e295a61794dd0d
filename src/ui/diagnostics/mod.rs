//! How an answer was made: a dialog over the page.
//!
//! Here is what every page needs: the button below an answer, and the dialog's frame. What is in it has its code in a file of
//! its own ([`content`]), which is loaded when it is first opened.

mod content;

use leptos::{html, prelude::*};

use super::{browser, erase::Erase, icons, lazy::lazy, live::Live, when::When};
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
#[component]
pub fn DiagnosticsDialog() -> impl IntoView {
    let diagnosis = expect_context::<Diagnosis>();
    view! {
        <When when=move || diagnosis.asked.with(Option::is_some)>{frame(diagnosis)}</When>
    }
}

fn frame(Diagnosis { asked, live }: Diagnosis) -> AnyView {
    let Some(id) = asked.get_untracked() else {
        return ().into_any();
    };
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = dialog.get() {
            browser::show_modal(&dialog);
        }
    });
    let closed = move |_| {
        asked.set(None);
        // The browser would put it there by itself, unless the answer has come to its end meanwhile and has other buttons.
        browser::focus_selector(&["[id='", &id.to_string(), "'] .", BUTTON].concat());
    };
    view! {
        <dialog node_ref=dialog class="dialog diagnostics" aria-labelledby="diagnostics-title" on:close=closed>
            <form method="dialog" class="diagnostics-head">
                <h2 id="diagnostics-title">"Diagnostics"</h2>
                <button class="icon-button" aria-label="Close" title="Close">
                    {icons::close()}
                </button>
            </form>
            {lazy(move || content::code(live, id))}
        </dialog>
    }
    .erase()
}
