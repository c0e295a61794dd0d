//! Asking before a conversation is deleted.

use leptos::{html, prelude::*};

use super::{
    browser,
    live::{Live, use_live},
    sidebar::link_selector,
};
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

/// Where one goes on in the list when a conversation goes: the next one, or the one before, or *New chat*.
fn neighbour(live: Live, id: ConversationId) -> String {
    let neighbour = live.list.with_untracked(|rows| {
        let index = rows.iter().position(|row| row.id == id)?;
        let next = rows.get(index + 1);
        next.or_else(|| rows.get(index.checked_sub(1)?)).map(|row| row.id)
    });
    match neighbour {
        Some(id) => link_selector(id),
        None => "#sidebar .new-chat".into(),
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
    // Once it is closed, the focus would be on a button that goes away.
    let next = StoredValue::new(None::<String>);
    let confirm = move |_| {
        if let Some((id, _)) = asked.get_untracked() {
            next.set_value(Some(neighbour(live, id)));
            live.delete(id);
        }
    };
    let closed = move |_| {
        asked.set(None);
        if let Some(next) = next.try_update_value(Option::take).flatten() {
            browser::focus_selector(&next);
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class="dialog"
            aria-labelledby="delete-title"
            on:close=closed
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
