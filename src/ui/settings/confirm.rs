//! Asking before something is gone for good.

use leptos::{html, prelude::*};

use crate::ui::{browser, erase::Erase};

/// What the person is asked.
#[derive(Clone)]
pub struct Question {
    pub title: String,
    pub text: &'static str,
    /// What is pressed to do it.
    pub button: &'static str,
    pub act: Callback<()>,
    /// Where one goes on when it is done: what was pressed may be gone by then.
    pub next: &'static str,
}

/// The one question that can be on the screen.
#[derive(Clone, Copy)]
pub struct Confirm {
    asked: RwSignal<Option<Question>>,
}

impl Confirm {
    /// Nobody is asked.
    pub fn new() -> Self {
        Self {
            asked: RwSignal::new(None),
        }
    }

    pub fn ask(self, question: Question) {
        self.asked.set(Some(question));
    }

    /// The question on the screen. The browser puts the focus back to where it was when it is closed.
    pub fn dialog(self) -> AnyView {
        let asked = self.asked;
        let dialog = NodeRef::<html::Dialog>::new();
        Effect::new(move |_| {
            if let (Some(dialog), true) = (dialog.get(), asked.with(Option::is_some)) {
                browser::show_modal(&dialog);
            }
        });
        let next = StoredValue::new(None::<&'static str>);
        let confirm = move |_| {
            if let Some(question) = asked.get_untracked() {
                next.set_value(Some(question.next));
                question.act.run(());
            }
        };
        let closed = move |_| {
            asked.set(None);
            if let Some(next) = next.try_update_value(Option::take).flatten() {
                browser::focus_selector(next);
            }
        };
        let title = move || asked.with(|asked| asked.as_ref().map(|question| question.title.clone()));
        let text = move || asked.with(|asked| asked.as_ref().map(|question| question.text));
        let button = move || asked.with(|asked| asked.as_ref().map(|question| question.button));
        view! {
            <dialog node_ref=dialog class="dialog" aria-labelledby="confirm-title" on:close=closed>
                <form method="dialog">
                    <h2 id="confirm-title">{title}</h2>
                    <p>{text}</p>
                    <div class="dialog-actions">
                        <button class="button" autofocus>"Cancel"</button>
                        <button class="button button-danger" on:click=confirm>{button}</button>
                    </div>
                </form>
            </dialog>
        }
        .erase()
    }
}
