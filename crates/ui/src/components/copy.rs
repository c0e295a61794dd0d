//! A copy button.

use leptos::prelude::*;

use super::texts;
use crate::{
    browser,
    components::{icons, toast::Toasts},
};

/// The time for which the button shows that the text was copied.
const COPIED_NOTICE_MS: f64 = 2000.0;

/// Announces the success or failure of copying a text.
pub fn announce_copy(toasts: Toasts, is_copied: bool) {
    toasts.show(match is_copied {
        true => texts::COPY_DONE,
        false => texts::COPY_BLOCKED,
    });
}

/// Copies a text to the clipboard and announces it, visibly and to screen readers.
#[component]
pub fn CopyButton(
    name: &'static str,
    /// The text next to the icon, if any.
    #[prop(optional, into)]
    label: Option<&'static str>,
    text: impl Fn() -> String + 'static,
) -> impl IntoView {
    let toasts = use_context::<Toasts>();
    // A counter, so that the end of an earlier "Copied" does not end a later one.
    let copied = RwSignal::new(0_u32);
    let is_blocked = RwSignal::new(false);
    let copy = move |_| {
        browser::copy_text(text(), move |done| {
            if !done {
                // A modal dialog covers the toasts, and hides them from screen readers.
                match toasts.filter(|_| !browser::has_focus_in("dialog")) {
                    Some(toasts) => announce_copy(toasts, false),
                    None => drop(is_blocked.try_set(true)),
                }
                return;
            }
            // The button may be removed by the time the clipboard responds.
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
    let name = move || if done() { texts::COPIED } else { name };
    let class = if label.is_some() {
        "button needs-script"
    } else {
        "icon-button needs-script"
    };
    view! {
        <button type="button" class=class aria-label=name title=name on:click=copy>
            {move || if done() { icons::check() } else { icons::copy() }}
            {move || label.map(|label| if done() { texts::COPIED } else { label })}
        </button>
        <span class:visually-hidden=move || !is_blocked.get() role="status">
            {move || match is_blocked.get() {
                true => Some(texts::COPY_BLOCKED),
                false => done().then_some(texts::COPIED),
            }}
        </span>
    }
}
