//! Asking before a conversation is deleted.

use leptos::{html, prelude::*};

use super::{browser, live::use_live};
use crate::protocol::ConversationId;

/// Which conversation the person is being asked about.
#[derive(Clone, Copy)]
pub struct Deletion {
    asked: RwSignal<Option<(ConversationId, String)>>,
}

impl Deletion {
    /// Nobody is asked.
    pub fn new() -> Self {
        Self {
            asked: RwSignal::new(None),
        }
    }

    /// Asks about a conversation.
    pub fn ask(self, id: ConversationId, title: String) {
        self.asked.set(Some((id, title)));
    }
}

/// The question. The browser puts the focus back to where it was when the dialog closes.
#[component]
pub fn DeleteDialog() -> impl IntoView {
    let live = use_live();
    let asked = expect_context::<Deletion>().asked;
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let (Some(dialog), true) = (dialog.get(), asked.with(Option::is_some)) {
            browser::show_modal(&dialog);
        }
    });
    let title =
        move || asked.with(|asked| asked.as_ref().map(|(_, title)| title.clone()).unwrap_or_default());
    let confirm = move |_| {
        if let Some((id, _)) = asked.get_untracked() {
            live.delete(id);
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class="dialog"
            aria-labelledby="delete-title"
            on:close=move |_| asked.set(None)
        >
            <form method="dialog">
                <h2 id="delete-title">"Delete this conversation?"</h2>
                <p>
                    <strong>{title}</strong>
                    " and all of its messages will be gone for good."
                </p>
                <div class="dialog-actions">
                    <button class="button" autofocus>"Cancel"</button>
                    <button class="button button-danger" on:click=confirm>"Delete"</button>
                </div>
            </form>
        </dialog>
    }
}
