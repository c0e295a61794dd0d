//! A message as a field.

use leptos::{ev, html, prelude::*};

use super::texts;
use crate::browser;
use crate::runtime::effect::effect;

/// A message as a field: Enter saves it, Escape does not.
#[component]
pub fn EditField(
    name: &'static str,
    /// The name of the button that saves.
    save_label: &'static str,
    text: String,
    /// Called with each change of the text.
    on_input: impl Fn(String) + 'static,
    on_save: impl Fn(String) + Clone + 'static,
    on_cancel: impl Fn() + Clone + 'static,
) -> impl IntoView {
    let area = NodeRef::<html::Textarea>::new();
    effect(move || {
        if let Some(area) = area.get() {
            browser::focus(&area);
            // The renderer sets the text after this effect.
            browser::on_next_frame(move || browser::fit_height(&area));
        }
    });
    let on_input = move |_| {
        if let Some(area) = area.get_untracked() {
            on_input(area.value());
            browser::fit_height(&area);
        }
    };
    let save = move || {
        if let Some(area) = area.get_untracked() {
            on_save(area.value());
        }
    };
    let (save_on_key, cancel_on_key) = (save.clone(), on_cancel.clone());
    let on_key = move |event: ev::KeyboardEvent| {
        if browser::is_composing(&event) {
            return;
        }
        match event.key().as_str() {
            "Enter" if !event.shift_key() && browser::has_hardware_keyboard() => {
                event.prevent_default();
                save_on_key();
            }
            "Escape" => {
                // Escape must not stop the answer.
                event.prevent_default();
                cancel_on_key();
            }
            _ => {}
        }
    };
    view! {
        <div class="edit-field">
            <textarea
                node_ref=area
                rows="1"
                dir="auto"
                aria-label=name
                prop:value=text
                on:input=on_input
                on:keydown=on_key
            ></textarea>
            <button type="button" class="button button-quiet" on:click=move |_| on_cancel()>{texts::CANCEL}</button>
            <button type="button" class="button button-primary" on:click=move |_| save()>{save_label}</button>
        </div>
    }
}
