//! An article in a list, and the parts shared by all views of articles.

use leptos::prelude::*;

use super::{state::LiteratureState, texts};
use crate::{
    components::{citation::citation_line, icons},
    runtime::erase::Erase,
};
use parlor_protocol::literature::{Article, LiteratureLocation};

/// An article in a list. Its title opens it; with `noted` it includes the user's note.
pub fn article_entry(state: LiteratureState, article: &Article, noted: bool) -> AnyView {
    let pmid = article.pmid.clone();
    let href = move || {
        let location = state.location.get();
        let open = LiteratureLocation {
            article: Some(pmid.clone()),
            quote: String::new(),
            ..location
        };
        open.to_url()
    };
    let note = noted.then(|| note_preview(state, article.pmid.clone()));
    view! {
        <li class="entry" data-pmid=article.pmid.clone()>
            <div class="entry-about">
                <h3 dir="auto"><a href=href>{article.title.clone()}</a></h3>
                {citation_line(article)}
                {note}
            </div>
            {save_button(state, article)}
        </li>
    }
    .erase()
}

/// The user's note.
fn note_preview(state: LiteratureState, pmid: String) -> AnyView {
    let note =
        Memo::new(move |_| state.with_library(|library| Some(library.saved_article(&pmid)?.note.clone())));
    let view = move || {
        let note = note.get().filter(|note| !note.is_empty());
        note.map(|note| view! { <p class="entry-note" dir="auto">{note}</p> })
    };
    view.erase()
}

/// Saves the article, or removes it: one button, so that the focus stays.
pub fn save_button(state: LiteratureState, article: &Article) -> AnyView {
    let pmid = article.pmid.clone();
    let saved = Memo::new(move |_| state.is_saved(&pmid));
    let title = article.title.clone();
    let name = move || match saved.get() {
        true => texts::saved_article(&title),
        false => texts::save_article(&title),
    };
    let article = article.clone();
    let pmid = article.pmid.clone();
    let saving = Memo::new(move |_| state.saving.with(|saving| saving.contains(&pmid)));
    let label = move || {
        if saving.get() {
            view! { {texts::SAVING} }.into_any()
        } else if saved.get() {
            view! { {icons::check()} {texts::SAVED} }.into_any()
        } else {
            view! { {icons::plus()} {texts::SAVE} }.into_any()
        }
    };
    view! {
        <button
            type="button"
            class="button entry-save needs-script"
            aria-label=name
            aria-pressed=move || saved.get().to_string()
            aria-busy=move || saving.get().then_some("true")
            on:click=move |_| state.toggle_saved(&article)
        >
            {label}
        </button>
    }
    .erase()
}
