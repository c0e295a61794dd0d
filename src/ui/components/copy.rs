//! A button that copies.

use leptos::prelude::*;

use crate::ui::{browser, components::icons, components::toast::Toasts};

/// How long the button says that something was copied.
const COPIED_NOTICE_MS: f64 = 2000.0;

/// Puts a text on the clipboard and says so, to the eye and to the ear.
#[component]
pub fn CopyButton(name: &'static str, text: impl Fn() -> String + 'static) -> impl IntoView {
    let toasts = use_context::<Toasts>();
    // Counted, so that the end of an earlier "Copied" does not end a later one.
    let copied = RwSignal::new(0_u32);
    let copy = move |_| {
        browser::copy_text(text(), move |done| {
            if !done {
                if let Some(toasts) = toasts {
                    toasts.show("This browser does not let the page copy. Select the text instead.");
                }
                return;
            }
            // The button may be gone by the time the clipboard answers.
            let Some(count) = copied.try_update(|count| {
                *count += 1;
                *count
            }) else {
                return;
            };
            browser::set_timeout(COPIED_NOTICE_MS, move || {
                if copied.try_get_untracked() == Some(count) {
                    copied.set(0);
                }
            })
            .detach();
        });
    };
    let done = move || copied.get() > 0;
    let name = move || if done() { "Copied" } else { name };
    view! {
        <button type="button" class="icon-button needs-script" aria-label=name title=name on:click=copy>
            {move || if done() { icons::check() } else { icons::copy() }}
        </button>
        <span class="visually-hidden" role="status">{move || done().then_some("Copied")}</span>
    }
}
