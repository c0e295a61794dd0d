//! Toasts: short messages that disappear by themselves.

use std::sync::Arc;

use leptos::prelude::*;

use super::texts;
use crate::{
    browser,
    components::{icon_button::IconButton, icons},
    runtime::each::Each,
};

const TOAST_DURATION_MS: f64 = 6000.0;

const AREA_SELECTOR: &str = ".toasts";
const HOVERED_AREA_SELECTOR: &str = ".toasts:hover";

/// One toast.
#[derive(Clone)]
struct Toast {
    number: u64,
    text: String,
    /// Takes back what the toast reports.
    undo: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// The toasts on the screen.
#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    count: StoredValue<u64>,
}

impl Toasts {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self {
            shown: RwSignal::default(),
            count: StoredValue::new(0),
        }
    }

    /// Shows a toast for a while. The same text is not shown twice at a time, unless each can be undone.
    pub fn show(self, text: impl Into<String>) {
        self.add(text.into(), None);
    }

    /// Shows a toast with a button that takes back what it reports.
    pub fn show_with_undo(self, text: impl Into<String>, undo: impl Fn() + Send + Sync + 'static) {
        self.add(text.into(), Some(Arc::new(undo)));
    }

    fn add(self, text: String, undo: Option<Arc<dyn Fn() + Send + Sync>>) {
        self.count.update_value(|count| *count += 1);
        let number = self.count.get_value();
        self.shown.update(|toasts| {
            toasts.retain(|toast| toast.text != text || toast.undo.is_some());
            toasts.push(Toast { number, text, undo });
        });
        self.dismiss_later(number);
    }

    /// Removes a toast later, but not while a user may be about to press something in it.
    fn dismiss_later(self, number: u64) {
        browser::set_timeout(TOAST_DURATION_MS, move || {
            if browser::has_focus_in(AREA_SELECTOR) || browser::exists(HOVERED_AREA_SELECTOR) {
                self.dismiss_later(number);
            } else {
                self.dismiss(number);
            }
        })
        .detach();
    }

    fn dismiss(self, number: u64) {
        self.shown
            .update(|toasts| toasts.retain(|toast| toast.number != number));
    }
}

/// The toasts of the page.
pub fn use_toasts() -> Toasts {
    expect_context()
}

/// The area of the toasts, read out by screen readers when one appears.
#[component]
pub fn ToastArea(toasts: Toasts) -> impl IntoView {
    view! {
        <div class="toasts" role="status" aria-live="polite">
            <Each of=move || toasts.shown.get() key=|toast| toast.number let:toast>
                <div class="toast">
                    <span>{toast.text}</span>
                    {toast.undo.map(|undo| view! {
                        <button
                            type="button"
                            class="button"
                            on:click=move |_| {
                                undo();
                                toasts.dismiss(toast.number);
                                browser::focus_after_removal();
                            }
                        >
                            {texts::UNDO}
                        </button>
                    })}
                    {IconButton::new(texts::DISMISS, icons::close(), move || {
                        toasts.dismiss(toast.number);
                        browser::focus_after_removal();
                    })
                    .view()}
                </div>
            </Each>
        </div>
    }
}
