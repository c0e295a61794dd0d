//! An article: in a list, and what is said of it everywhere.

use leptos::prelude::*;

use super::state::LiteratureState;
use crate::{
    protocol::literature::Article,
    protocol::literature::LiteratureLocation,
    ui::{components::icons, runtime::erase::Erase},
};

/// How many authors are named.
const MAX_LISTED_AUTHORS: usize = 6;

/// An article in a list, whose title opens it, with what the person has written about it if that is wanted.
pub fn article_entry(desk: LiteratureState, article: &Article, noted: bool) -> AnyView {
    let pmid = article.pmid.clone();
    let href = move || {
        let address = desk.address.get();
        let open = LiteratureLocation {
            article: Some(pmid.clone()),
            ..address
        };
        open.to_address()
    };
    let note = noted.then(|| note_preview(desk, article.pmid.clone()));
    view! {
        <li class="entry" data-pmid=article.pmid.clone()>
            <div class="entry-about">
                <h3 dir="auto"><a href=href>{article.title.clone()}</a></h3>
                {citation_line(article)}
                {note}
            </div>
            {save_button(desk, article)}
        </li>
    }
    .erase()
}

/// What the person has written about it.
fn note_preview(desk: LiteratureState, pmid: String) -> AnyView {
    let note =
        Memo::new(move |_| desk.with_library(|library| Some(library.saved_article(&pmid)?.note.clone())));
    let view = move || {
        let note = note.get().filter(|note| !note.is_empty());
        note.map(|note| view! { <p class="entry-note" dir="auto">{note}</p> })
    };
    view.erase()
}

/// Who wrote it, and where it stands.
pub fn citation_line(article: &Article) -> AnyView {
    let mut authors = article.authors[..article.authors.len().min(MAX_LISTED_AUTHORS)].join(", ");
    if article.authors.len() > MAX_LISTED_AUTHORS {
        authors.push_str(" et al.");
    }
    let published = [&article.journal, " · ", &article.published].concat();
    let published = published.trim_matches([' ', '·']).to_owned();
    let by = (!authors.is_empty()).then(|| view! { <p class="entry-by" dir="auto">{authors}</p> });
    view! {
        {by}
        <p class="entry-meta" dir="auto">{published} " · PMID " {article.pmid.clone()}</p>
    }
    .erase()
}

/// Keeps it, or keeps it no more: one button, so that the focus stays where it is.
pub fn save_button(desk: LiteratureState, article: &Article) -> AnyView {
    let pmid = article.pmid.clone();
    let saved = Memo::new(move |_| desk.is_saved(&pmid));
    let name = ["Save “", &article.title, "”"].concat();
    let article = article.clone();
    let pmid = article.pmid.clone();
    let saving = Memo::new(move |_| desk.saving.with(|saving| saving.contains(&pmid)));
    let face = move || {
        if saving.get() {
            view! { "Saving…" }.into_any()
        } else if saved.get() {
            view! { {icons::check()} "Saved" }.into_any()
        } else {
            view! { {icons::plus()} "Save" }.into_any()
        }
    };
    view! {
        <button
            type="button"
            class="button entry-save needs-script"
            aria-label=name
            aria-pressed=move || saved.get().to_string()
            aria-busy=move || saving.get().then_some("true")
            on:click=move |_| desk.toggle_saved(&article)
        >
            {face}
        </button>
    }
    .erase()
}
