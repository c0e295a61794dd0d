//! The tab *Saved*: what is kept, and finding something in it.

use leptos::{prelude::*, web_sys};

use super::{
    desk::{Desk, Loaded},
    entry::entry,
    search::failed,
};
use crate::{
    protocol::literature::{PATH, SavedArticle},
    ui::{each::Each, erase::Erase},
};

/// How many are shown at first.
const FIRST: usize = 50;

pub fn saved(desk: Desk) -> AnyView {
    let state = Memo::new(move |_| {
        desk.library.with(|library| match library {
            Loaded::Ready(library) => u8::from(library.articles.is_empty()),
            Loaded::Failed(_) => 2,
            _ => 3,
        })
    });
    let body = move || match state.get() {
        0 => kept(desk),
        1 => teaching(desk),
        2 => desk.library.with_untracked(|library| match library {
            Loaded::Failed(error) => failed("What you have saved could not be loaded", error, move || {
                desk.library.set(Loaded::Loading);
                desk.load_library();
            }),
            _ => ().into_any(),
        }),
        _ => view! { <p class="notice-waiting" role="status">"Loading…"</p> }.erase(),
    };
    body.erase()
}

fn teaching(desk: Desk) -> AnyView {
    if let Some(why) = desk.no_search() {
        return view! {
            <section class="literature-empty">
                <h2>"Nothing is saved yet"</h2>
                <p>{why}</p>
            </section>
        }
        .erase();
    }
    view! {
        <section class="literature-empty">
            <h2>"Nothing is saved yet"</h2>
            <p>
                "Articles that you save in a search are listed here, with your notes. The assistant can save one too, if you allow it."
            </p>
            <a class="button" href=PATH>"Search PubMed"</a>
        </section>
    }
    .erase()
}

fn kept(desk: Desk) -> AnyView {
    let words = Memo::new(move |_| desk.address.with(|address| address.query.clone()));
    let all = RwSignal::new(false);
    let matching = Memo::new(move |_| {
        desk.with_library(|library| {
            let matching = library
                .articles
                .iter()
                .filter(|saved| words.with(|words| saved.has(words)));
            matching.cloned().collect::<Vec<SavedArticle>>()
        })
    });
    let shown = move || {
        let limit = if all.get() { usize::MAX } else { FIRST };
        matching.with(|matching| matching.iter().take(limit).cloned().collect::<Vec<_>>())
    };
    // In the address, so that those who ask are told of it, and it is there again after a reload.
    let filter = move |event: web_sys::Event| {
        let mut address = desk.address.get_untracked();
        address.query = event_target_value(&event);
        desk.live.turn_to(address.path(), true);
    };
    let count = move || {
        let total = desk.with_library(|library| library.articles.len());
        let found = matching.with(Vec::len);
        match found {
            found if found == total => [&total.to_string(), " saved"].concat(),
            found => [&found.to_string(), " of ", &total.to_string(), " saved"].concat(),
        }
    };
    let more = move || {
        (!all.get() && matching.with(Vec::len) > FIRST).then(|| {
            view! { <button type="button" class="button" on:click=move |_| all.set(true)>"Show all"</button> }
        })
    };
    let key = |saved: &SavedArticle| saved.article.pmid.parse::<u64>().unwrap_or_default();
    view! {
        <form class="search-box" role="search" method="get" on:submit=|event| event.prevent_default()>
            <input
                type="search"
                name="q"
                aria-label="Find in what you saved"
                placeholder="Find in what you saved"
                autocomplete="off"
                dir="auto"
                value=words.get_untracked()
                prop:value=move || words.get()
                on:input=filter
            />
        </form>
        <h2 class="visually-hidden">"Saved articles"</h2>
        <p class="literature-count" role="status">{count}</p>
        <ol class="entries">
            <Each of=shown key=key let:saved>
                {entry(desk, &saved.article, true)}
            </Each>
        </ol>
        {more}
    }
    .erase()
}
