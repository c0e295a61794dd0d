//! A quotation of what is selected in a message: a button at the selection puts it into the message box.

use leptos::{html, prelude::*};

use super::texts;
use crate::{
    browser,
    commands::{Shortcut, use_commands},
    components::icons,
    runtime::{effect::effect, erase::Erase},
};

/// The texts that can be quoted.
const QUOTABLE: &str = ".prose, .question-text";

/// The button, while something is selected. A shortcut does the same. It follows the selection when the messages have
/// `scrolled`.
pub fn quote_button(scrolled: Trigger) -> AnyView {
    let selected = RwSignal::new(false);
    let button = NodeRef::<html::Button>::new();
    let watch = StoredValue::new(None);
    effect(move || {
        let changed = move || selected.set(browser::has_selection(QUOTABLE));
        watch.set_value(Some(browser::on_selection_change(changed)));
    });
    use_commands().on_shortcut(Shortcut::Quote, move |_| {
        let is_selected = selected.get_untracked();
        if is_selected {
            quote(selected);
        }
        is_selected
    });
    effect(move || {
        scrolled.track();
        if let (Some(button), true) = (button.get(), selected.get()) {
            browser::place_at_selection(&button, ".transcript");
        }
    });
    let is_selected = Memo::new(move |_| selected.get());
    let view = move || {
        is_selected.get().then(|| {
            view! {
                <button
                    node_ref=button
                    type="button"
                    class="quote-button"
                    aria-keyshortcuts=Shortcut::Quote.aria()
                    title=Shortcut::Quote.title(texts::QUOTE_TITLE)
                    // The selection stays.
                    on:pointerdown=|event| event.prevent_default()
                    on:click=move |_| quote(selected)
                >
                    {icons::quote()} {texts::QUOTE}
                </button>
            }
            .erase()
        })
    };
    view.erase()
}

fn quote(selected: RwSignal<bool>) {
    if let Some(text) = browser::selected_text(QUOTABLE) {
        selected.set(false);
        browser::append_to_field("#message", &quotation(&text));
    }
}

/// A text as a quotation in Markdown, with an empty line after it.
fn quotation(text: &str) -> String {
    let lines = text.trim().lines().map(str::trim_end);
    let lines = lines.map(|line| {
        if line.is_empty() {
            ">".into()
        } else {
            ["> ", line].concat()
        }
    });
    let mut quotation = lines.collect::<Vec<_>>().join("\n");
    quotation.push_str("\n\n");
    quotation
}

#[cfg(test)]
mod tests {
    use super::quotation;

    #[test]
    fn every_line_is_quoted() {
        assert_eq!(quotation(" a\n\nb  \n"), "> a\n>\n> b\n\n");
    }
}
