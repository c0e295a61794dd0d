//! An article: in a list, and what is said of it everywhere.

use leptos::prelude::*;

use super::desk::Desk;
use crate::{
    protocol::literature::{Address, Article},
    ui::{erase::Erase, icons},
};

/// How many authors are named.
const AUTHORS: usize = 6;

/// An article in a list, whose title opens it, with what the person has written about it if that is wanted.
pub fn entry(desk: Desk, article: &Article, noted: bool) -> AnyView {
    let pmid = article.pmid.clone();
    let href = move || {
        let address = desk.address.get();
        let open = Address {
            article: Some(pmid.clone()),
            ..address
        };
        open.path()
    };
    let note = noted.then(|| note(desk, article.pmid.clone()));
    view! {
        <li class="entry" data-pmid=article.pmid.clone()>
            <div class="entry-about">
                <h3 dir="auto"><a href=href>{article.title.clone()}</a></h3>
                {about(article)}
                {note}
            </div>
            {save(desk, article)}
        </li>
    }
    .erase()
}

/// What the person has written about it.
fn note(desk: Desk, pmid: String) -> AnyView {
    let note = Memo::new(move |_| desk.with_library(|library| Some(library.saved(&pmid)?.note.clone())));
    let view = move || {
        let note = note.get().filter(|note| !note.is_empty());
        note.map(|note| view! { <p class="entry-note" dir="auto">{note}</p> })
    };
    view.erase()
}

/// Who wrote it, and where it stands.
pub fn about(article: &Article) -> AnyView {
    let mut authors = article.authors[..article.authors.len().min(AUTHORS)].join(", ");
    if article.authors.len() > AUTHORS {
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
pub fn save(desk: Desk, article: &Article) -> AnyView {
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
            on:click=move |_| desk.toggle(&article)
        >
            {face}
        </button>
    }
    .erase()
}
