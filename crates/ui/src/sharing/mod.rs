//! Sharing of conversations by their owner: a dialog over the page.
//!
//! This module has what every page needs: the marks at shared conversations, and the frame of the dialog. The dialog's code is
//! in a file of its own ([`content`]), which is loaded when it is first opened. What readers see is in `layout::shared_page`.

mod content;
mod texts;

use leptos::prelude::*;

use crate::{
    components::icons,
    runtime::{bidi::isolated, erase::Erase, lazy::lazy_part},
    state::{use_navigation, use_shares},
};
use parlor_protocol::ConversationId;

/// The conversation whose shares are shown, and the selector of the button that opened the dialog.
#[derive(Clone, Copy)]
pub struct ShareDialog {
    open_for: RwSignal<Option<(ConversationId, String)>>,
}

impl ShareDialog {
    /// A closed dialog. Navigating away closes it too.
    pub fn new() -> Self {
        let open_for = RwSignal::new(None);
        use_navigation().clear_when_leaving(open_for);
        Self { open_for }
    }

    /// Opens the dialog for a conversation. When it is closed, the element that the selector finds gets the focus.
    pub fn open(self, id: ConversationId, focus_after: String) {
        self.open_for.set(Some((id, focus_after)));
    }
}

/// The mark of a shared conversation in the list, which opens the dialog.
pub fn shared_mark(id: ConversationId, title: ArcRwSignal<String>) -> AnyView {
    let shares = use_shares();
    let is_shared = Memo::new(move |_| shares.audience(id).is_some());
    let name = move |audience: Option<String>| {
        let title = title.get();
        let title = isolated(&title);
        texts::shared_mark(&audience.unwrap_or_default(), &title)
    };
    let mark = move || {
        let button_id = ["share-", &id.to_string()].concat();
        // The menu of the row has the same, and the list is one stop of Tab.
        button(
            id,
            button_id,
            "icon-button share-button",
            Some("-1"),
            name.clone(),
        )
    };
    (move || is_shared.get().then(&mark)).erase()
}

/// The button in the header of the shown conversation.
pub fn header_button(id: ConversationId) -> AnyView {
    button(
        id,
        "share".into(),
        "icon-button share-button needs-script",
        None,
        |audience| audience.unwrap_or_else(|| texts::SHARE.into()),
    )
}

fn button(
    id: ConversationId,
    button_id: String,
    class: &'static str,
    tabindex: Option<&'static str>,
    name: impl Fn(Option<String>) -> String + Send + Sync + Clone + 'static,
) -> AnyView {
    let dialog = expect_context::<ShareDialog>();
    let shares = use_shares();
    let audience = Memo::new(move |_| shares.audience(id));
    let title = name.clone();
    let selector = ["[id='", &button_id, "']"].concat();
    view! {
        <button
            type="button"
            id=button_id
            class=class
            tabindex=tabindex
            class:is-shared=move || audience.with(Option::is_some)
            aria-label=move || name(audience.get())
            title=move || title(audience.get())
            aria-haspopup="dialog"
            on:click=move |_| dialog.open(id, selector.clone())
        >
            {icons::people()}
        </button>
    }
    .erase()
}

/// The dialog, while it is open.
pub fn dialog() -> AnyView {
    let dialog = expect_context::<ShareDialog>();
    let shown = move || {
        let (id, button) = dialog.open_for.get()?;
        Some(lazy_part(move || content::load_view(dialog, id, button.clone())))
    };
    shown.erase()
}
