//! Confirmation before something is deleted for good.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::texts;
use crate::{
    browser,
    runtime::{effect::effect, erase::Erase},
};

/// A request for confirmation.
#[derive(Clone)]
pub struct ConfirmRequest {
    pub title: String,
    pub text: String,
    /// The label of the confirming button.
    pub button_label: &'static str,
    /// Performs the action. By then the focus is back where it was, perhaps on an element that is about to be removed.
    /// Not a `Callback`, which would be disposed with its owner: another tab may remove the owner while the dialog is
    /// open.
    pub on_confirm: Arc<dyn Fn() + Send + Sync>,
}

/// The confirmation dialog of a part of the page.
#[derive(Clone, Copy)]
pub struct Confirm {
    request: RwSignal<Option<ConfirmRequest>>,
}

impl Confirm {
    /// Creates the state of a dialog without a request.
    pub fn new() -> Self {
        Self {
            request: RwSignal::new(None),
        }
    }

    pub fn ask(self, question: ConfirmRequest) {
        self.request.set(Some(question));
    }

    /// The dialog. When it closes, the browser restores the focus.
    pub fn dialog(self) -> AnyView {
        let asked = self.request;
        let dialog = use_modal(move || asked.with(Option::is_some));
        let confirmed = StoredValue::new(false);
        let closed = move |_| {
            let question = asked.get_untracked();
            asked.set(None);
            if let (true, Some(question)) = (confirmed.get_value(), question) {
                confirmed.set_value(false);
                (question.on_confirm)();
            }
        };
        let title = move || asked.with(|asked| asked.as_ref().map(|question| question.title.clone()));
        let text = move || asked.with(|asked| asked.as_ref().map(|question| question.text.clone()));
        let button = move || asked.with(|asked| asked.as_ref().map(|question| question.button_label));
        view! {
            <dialog node_ref=dialog class="dialog" aria-label=title on:close=closed>
                <form method="dialog">
                    <h2 dir="auto">{title}</h2>
                    <p dir="auto">{text}</p>
                    <div class="dialog-actions">
                        <button class="button" autofocus>{texts::CANCEL}</button>
                        <button class="button button-danger" on:click=move |_| confirmed.set_value(true)>
                            {button}
                        </button>
                    </div>
                </form>
            </dialog>
        }
        .erase()
    }
}

/// Creates the reference of a `<dialog>`, which opens as a modal one when `is_asked` becomes true.
/// `close_dialog` closes it.
pub fn use_modal(is_asked: impl Fn() -> bool + 'static) -> NodeRef<html::Dialog> {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        if let (Some(dialog), true) = (dialog.get(), is_asked()) {
            browser::show_modal(&dialog);
        }
    });
    dialog
}

/// Closes a dialog. It may be removed already, with the view that contains it, when the server's response is late.
pub fn close_dialog(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.try_get_untracked().flatten() {
        dialog.close();
    }
}
