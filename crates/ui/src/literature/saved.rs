//! The tab *Saved*: the saved articles, with a filter.

use leptos::{prelude::*, web_sys};

use super::{entry::article_entry, search::load_error, state::LiteratureState, table::saved_table, texts};
use crate::{
    browser,
    components::icons,
    runtime::{each::Each, erase::Erase},
    state::remote::Remote,
};
use parlor_protocol::{
    literature::{LITERATURE_PATH, LiteratureLocation, SavedArticle},
    number_format::group_digits,
};

/// The number of articles shown at first.
const MAX_INITIAL_ARTICLES: usize = 50;

pub fn saved_tab(state: LiteratureState) -> AnyView {
    let tab_state = Memo::new(move |_| {
        state.library.signal.with(|library| match library.remote() {
            Remote::Ready(library) => u8::from(library.articles.is_empty()),
            Remote::Failed(_) => 2,
            _ => 3,
        })
    });
    let body = move || match tab_state.get() {
        0 => saved_list(state),
        1 => saved_help(state),
        2 => state
            .library
            .signal
            .with_untracked(|library| match library.remote() {
                Remote::Failed(error) => load_error(texts::SAVED_FAILED, error, move || {
                    state.library.load();
                }),
                _ => ().into_any(),
            }),
        _ => view! { <p class="notice-waiting" role="status">{texts::LOADING}</p> }.erase(),
    };
    body.erase()
}

fn saved_help(state: LiteratureState) -> AnyView {
    if let Some(reason) = state.search_problem() {
        return view! {
            <section class="literature-empty">
                <h2>{texts::NOTHING_SAVED}</h2>
                <p>{reason}</p>
            </section>
        }
        .erase();
    }
    view! {
        <section class="literature-empty">
            <h2>{texts::NOTHING_SAVED}</h2>
            <p>
                {texts::NOTHING_SAVED_HINT}
            </p>
            <a class="button" href=LITERATURE_PATH>{texts::SEARCH_PUBMED}</a>
        </section>
    }
    .erase()
}

fn saved_list(state: LiteratureState) -> AnyView {
    let words = Memo::new(move |_| state.location.with(|location| location.query.clone()));
    let all = RwSignal::new(false);
    let matching = Memo::new(move |_| {
        state.with_library(|library| {
            let matching = library
                .articles
                .iter()
                .filter(|saved| words.with(|words| saved.matches(words)));
            matching.cloned().collect::<Vec<SavedArticle>>()
        })
    });
    let shown = move || {
        let limit = if all.get() {
            usize::MAX
        } else {
            MAX_INITIAL_ARTICLES
        };
        matching.with(|matching| matching.iter().take(limit).cloned().collect::<Vec<_>>())
    };
    // In the URL, so that the chat's context includes it, and a reload keeps it.
    let filter = move |event: web_sys::Event| {
        let mut location = state.location.get_untracked();
        location.query = event_target_value(&event);
        state.navigation.set_url(location.to_url(), true);
    };
    let count = move || {
        let total = state.with_library(|library| library.articles.len());
        let found = matching.with(Vec::len);
        match found {
            found if found == total => texts::number_saved(&group_digits(total as u64)),
            found => texts::some_saved(&group_digits(found as u64), &group_digits(total as u64)),
        }
    };
    let more = move || {
        (!all.get() && matching.with(Vec::len) > MAX_INITIAL_ARTICLES).then(|| {
            view! { <button type="button" class="button needs-script" on:click=move |_| {
                all.set(true);
                // The button is removed.
                browser::focus_selector("#literature");
            }>{texts::SHOW_ALL}</button> }
        })
    };
    let is_table = Memo::new(move |_| state.location.with(|location| location.is_table));
    let as_other = move || {
        let location = state.location.get();
        let other = LiteratureLocation {
            is_table: !location.is_table,
            ..location
        };
        let label = match is_table.get() {
            true => texts::AS_LIST,
            false => texts::AS_TABLE,
        };
        view! { <a class="button button-quiet" href=other.to_url()>{icons::panel()} {label}</a> }
    };
    let key = |saved: &SavedArticle| saved.article.pmid.parse::<u64>().unwrap_or_default();
    let body = move || match is_table.get() {
        true => saved_table(state, words),
        false => view! {
            <p class="literature-count" role="status">{count}</p>
            <ol class="entries">
                <Each of=shown key=key let:saved>
                    {article_entry(state, &saved.article, true)}
                </Each>
            </ol>
            {more}
        }
        .erase(),
    };
    view! {
        <form class="search-box" role="search" method="get" on:submit=|event| event.prevent_default()>
            <input
                type="search"
                name="q"
                aria-label=texts::FIND_SAVED
                placeholder=texts::FIND_SAVED
                autocomplete="off"
                dir="auto"
                value=words.get_untracked()
                prop:value=move || words.get()
                on:input=filter
            />
        </form>
        <h2 class="visually-hidden">{texts::SAVED_ARTICLES}</h2>
        <div class="columns-bar">{as_other}</div>
        {body}
    }
    .erase()
}
