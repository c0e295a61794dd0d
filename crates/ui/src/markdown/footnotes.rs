//! Footnotes: the links between references and notes.
//!
//! While a text grows it is not known which reference will be the first of its note, so the links are made at its end.
//! Then the first reference and the first definition of a label get an id each.

use std::sync::Arc;

use leptos::{ev, prelude::*};

use super::{context::RenderContext, texts};
use crate::{
    browser,
    runtime::{erase::Erase, when::When},
};
use parlor_markup::markdown::label_key;

/// A label as a part of an id: letters and digits stay, other characters become their code points.
fn slug(label: &str) -> String {
    let mut slug = String::new();
    for c in label_key(label).chars() {
        if c.is_alphanumeric() {
            slug.push(c);
        } else {
            slug.push_str(&format!("-{:x}", u32::from(c)));
        }
    }
    slug
}

fn note_id(context: &RenderContext, label: &str) -> String {
    format!("{}-note-{}", context.id_prefix, slug(label))
}

fn reference_id(context: &RenderContext, label: &str) -> String {
    format!("{}-ref-{}", context.id_prefix, slug(label))
}

/// The reference to a note.
pub fn reference_link(label: &str, key: u64, context: &RenderContext) -> AnyView {
    let href = format!("#{}", note_id(context, label));
    let id = reference_id(context, label);
    let name = texts::footnote(label);
    let footnotes = context.footnotes.clone();
    let label = label.to_owned();
    let in_key = label_key(&label);
    let id = move || {
        footnotes
            .with(|all| all.references.get(&in_key) == Some(&key))
            .then(|| id.clone())
    };
    view! {
        <sup class="md-reference">
            <a
                href=href.clone()
                id=id
                aria-label=name
                on:click=move |event| jump_to(&event, &href)
            >
                {label}
            </a>
        </sup>
    }
    .erase()
}

/// The note with its text.
pub fn footnote(label: &Arc<str>, key: u64, text: AnyView, context: &RenderContext) -> AnyView {
    let in_key = label_key(label);
    let id = note_id(context, label);
    let back = format!("#{}", reference_id(context, label));
    let name = texts::back_to_footnote(label);
    let footnotes = context.footnotes.clone();
    let first = Memo::new({
        let in_key = in_key.clone();
        move |_| footnotes.with(|all| all.definitions.get(&in_key) == Some(&key))
    });
    let footnotes = context.footnotes.clone();
    let referred = Memo::new(move |_| footnotes.with(|all| all.references.contains_key(&in_key)));
    view! {
        <div class="md-note" role="note" tabindex="-1" id=move || first.get().then(|| id.clone())>
            <span class="md-note-label">{label.to_string()}</span>
            <div class="md-note-text">{text}</div>
            <When when=move || referred.get()>
                {
                    let back = back.clone();
                    view! {
                        <a
                            class="md-note-back"
                            href=back.clone()
                            aria-label=name.clone()
                            on:click=move |event| jump_to(&event, &back)
                        >
                            "↩"
                        </a>
                    }
                }
            </When>
        </div>
    }
    .erase()
}

/// Moves the focus and the page to a fragment. The URL names the fragment, but *Back* leads to the page before the
/// conversation.
fn jump_to(event: &ev::MouseEvent, href: &str) {
    event.prevent_default();
    browser::go_to_fragment(href);
}
