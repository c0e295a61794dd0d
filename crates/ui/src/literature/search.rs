//! The tab *Search*: a query box, the streams, and the results.

use leptos::{ev, html, prelude::*};

use super::{entry::article_entry, state::LiteratureState, streams, texts};
use crate::{
    browser,
    components::icons,
    runtime::{effect::effect, erase::Erase, when::When},
    state::remote::Remote,
};
use parlor_protocol::{
    ApiError,
    literature::{ArticleSearchResults, ArticleSort, LITERATURE_PATH, LiteratureLocation, LiteratureTab},
    number_format::group_digits,
};

/// The query box, for focus changes.
pub const QUERY_INPUT: &str = "#literature-query";

pub fn search_tab(state: LiteratureState) -> AnyView {
    let off = Memo::new(move |_| state.search_problem());
    let body = move || match off.get() {
        Some(reason) => search_unavailable(reason),
        None => view! {
            <SearchBox state/>
            {streams::stream_list(state)}
            {move || results(state)}
        }
        .erase(),
    };
    body.erase()
}

/// The notice in place of everything that needs PubMed.
fn search_unavailable(reason: String) -> AnyView {
    let saved = LiteratureLocation {
        tab: LiteratureTab::Saved,
        ..LiteratureLocation::default()
    };
    view! {
        <section class="literature-empty" role="status">
            <h2>{texts::NO_PUBMED}</h2>
            <p>{reason} {texts::SAVED_STAYS}</p>
            <a class="button" href=saved.to_url()>{texts::SHOW_SAVED}</a>
        </section>
    }
    .erase()
}

/// A plain form without scripts; with them, it changes the URL.
#[component]
fn SearchBox(state: LiteratureState) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let order = NodeRef::<html::Select>::new();
    let location = state.location;
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let (Some(input), Some(order)) = (input.get_untracked(), order.get_untracked()) else {
            return;
        };
        let here = location.get_untracked();
        let sort = if order.value() == "date" {
            ArticleSort::Date
        } else {
            ArticleSort::Relevance
        };
        let to = LiteratureLocation {
            query: input.value().trim().to_owned(),
            sort,
            ..LiteratureLocation::default()
        };
        // Another query does not belong to the open stream.
        let stream = here.stream.filter(|_| here.query == to.query);
        let to = LiteratureLocation { stream, ..to };
        if to == here {
            state.search_again();
        } else {
            state.go_to(&to);
        }
    };
    let by_date = move || location.with(|location| location.sort == ArticleSort::Date);
    let query = Memo::new(move |_| location.with(|location| location.query.clone()));
    effect(move || {
        // The URL may change without the box: back and forward, a stream, a suggestion.
        let query = query.get();
        if let Some(input) = input.get() {
            input.set_value(&query);
        }
    });
    effect(move || {
        let value = if by_date() { "date" } else { "relevance" };
        if let Some(order) = order.get() {
            order.set_value(value);
        }
    });
    let can_keep = move || query.with(|query| !query.is_empty()) && state.open_stream().is_none();
    view! {
        <form class="search-box" role="search" method="get" action=LITERATURE_PATH on:submit=submit>
            <input
                node_ref=input
                type="search"
                id="literature-query"
                name="q"
                aria-label=texts::SEARCH_PUBMED
                placeholder=texts::QUERY_EXAMPLE
                autocomplete="off"
                dir="auto"
                value=query.get_untracked()
            />
            <select node_ref=order name="sort" aria-label=texts::ORDER>
                <option value="relevance" selected=!untrack(by_date)>{texts::BEST_MATCH}</option>
                <option value="date" selected=untrack(by_date)>{texts::NEWEST}</option>
            </select>
            <button type="submit" class="button button-primary">{icons::search()} {texts::SEARCH}</button>
            <When when=can_keep>
                <button
                    type="button"
                    class="button needs-script"
                    on:click=move |_| streams::edit_new_stream(state)
                >
                    {icons::plus()} {texts::SAVE_AS_STREAM}
                </button>
            </When>
        </form>
    }
}

fn results(state: LiteratureState) -> AnyView {
    state.results.with(|found| match found {
        Remote::NotRequested => search_help(),
        Remote::Loading => view! { <p class="notice-waiting" role="status">{texts::SEARCHING}</p> }.erase(),
        Remote::Ready(found) if found.articles.is_empty() => nothing_found(found),
        Remote::Ready(found) => result_list(state, found),
        Remote::Failed(error) => load_error(texts::SEARCH_FAILED, error, move || state.search_again()),
    })
}

fn search_help() -> AnyView {
    let example = |query: &'static str| {
        let location = LiteratureLocation {
            query: query.into(),
            ..LiteratureLocation::default()
        };
        view! { <li><a href=location.to_url()><code>{query}</code></a></li> }
    };
    let examples = [
        "sleep deprivation memory",
        "asthma[mesh] AND randomized controlled trial[pt]",
        "crispr[ti] AND 2024:2025[pdat]",
    ];
    view! {
        <section class="literature-empty">
            <h2>{texts::HELP_TITLE}</h2>
            <p>
                {texts::HELP}
            </p>
            <ul>{examples.map(example).collect_view()}</ul>
        </section>
    }
    .erase()
}

fn nothing_found(found: &ArticleSearchResults) -> AnyView {
    if found.total > 0 {
        let (before, after) = texts::none_on_page(&group_digits(found.total));
        return view! {
            <section class="literature-empty" role="status">
                <h2>{texts::EMPTY_PAGE}</h2>
                <p>{before} <span dir="auto">{found.query.clone()}</span> {after}</p>
            </section>
        }
        .erase();
    }
    let (before, after) = texts::NO_ARTICLES;
    view! {
        <section class="literature-empty" role="status">
            <h2>{texts::NOTHING_FOUND}</h2>
            <p>{before} <span dir="auto">{found.query.clone()}</span> {after}</p>
        </section>
    }
    .erase()
}

/// A load error, with a button to retry.
pub fn load_error(what: &'static str, error: &ApiError, again: impl Fn() + 'static) -> AnyView {
    view! {
        <section class="literature-empty" role="alert">
            <h2>{what}</h2>
            <p>{error.message.clone()}</p>
            <button type="button" class="button" on:click=move |_| again()>{texts::TRY_AGAIN}</button>
        </section>
    }
    .erase()
}

fn result_list(state: LiteratureState, found: &ArticleSearchResults) -> AnyView {
    let entries: Vec<_> = found
        .articles
        .iter()
        .map(|article| article_entry(state, article, false))
        .collect();
    let total = group_digits(found.total);
    let count = match found.pages > 1 {
        true => {
            let (page, pages) = (group_digits(found.page as u64), group_digits(found.pages as u64));
            texts::articles_on_page(&total, &page, &pages)
        }
        false => texts::articles(&total),
    };
    view! {
        <h2 class="visually-hidden">{texts::RESULTS}</h2>
        <p class="literature-count" role="status">{count}</p>
        <ol class="entries">{entries}</ol>
        {pager(state, found.page, found.pages)}
    }
    .erase()
}

/// The links to other pages of results.
fn pager(state: LiteratureState, page: usize, pages: usize) -> AnyView {
    let link = |to: usize, name: &'static str| {
        let there = (1..=pages).contains(&to);
        there.then(|| {
            let location = LiteratureLocation {
                page: to,
                ..state.location.get_untracked()
            };
            let press = move |_| browser::focus_selector(QUERY_INPUT);
            view! { <a class="button" href=location.to_url() on:click=press>{name}</a> }
        })
    };
    (pages > 1)
        .then(|| {
            view! {
                <nav class="pager" aria-label=texts::PAGES>
                    {link(page - 1, texts::PREVIOUS_PAGE)}
                    {link(page + 1, texts::NEXT_PAGE)}
                </nav>
            }
        })
        .erase()
}
