//! The tab *Search*: a query box, the streams, and the results.

use leptos::{ev, html, prelude::*};

use super::{entry::article_entry, state::LiteratureState, streams};
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
            <h2>"PubMed can’t be searched here"</h2>
            <p>{reason} " What you have saved is still here."</p>
            <a class="button" href=saved.to_url()>"Show what you have saved"</a>
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
                aria-label="Search PubMed"
                placeholder="Search PubMed, such as asthma[mesh] AND 2024[pdat]"
                autocomplete="off"
                dir="auto"
                value=query.get_untracked()
            />
            <select node_ref=order name="sort" aria-label="Order">
                <option value="relevance" selected=!untrack(by_date)>"Best match"</option>
                <option value="date" selected=untrack(by_date)>"Newest"</option>
            </select>
            <button type="submit" class="button button-primary">{icons::search()} "Search"</button>
            <When when=can_keep>
                <button
                    type="button"
                    class="button button-quiet needs-script"
                    on:click=move |_| streams::edit_new_stream(state)
                >
                    {icons::plus()} "Save as a stream"
                </button>
            </When>
        </form>
    }
}

fn results(state: LiteratureState) -> AnyView {
    state.results.with(|found| match found {
        Remote::NotRequested => search_help(),
        Remote::Loading => view! { <p class="notice-waiting" role="status">"Searching PubMed…"</p> }.erase(),
        Remote::Ready(found) if found.articles.is_empty() => nothing_found(found),
        Remote::Ready(found) => result_list(state, found),
        Remote::Failed(error) => load_error("The search did not work", error, move || state.search_again()),
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
            <h2>"Find articles, and keep those that matter"</h2>
            <p>
                "Search in plain words or in PubMed’s syntax. Save a query as a stream to come back to it. The assistant next to this page sees what you see."
            </p>
            <ul>{examples.map(example).collect_view()}</ul>
        </section>
    }
    .erase()
}

fn nothing_found(found: &ArticleSearchResults) -> AnyView {
    if found.total > 0 {
        let total = group_digits(found.total);
        return view! {
            <section class="literature-empty" role="status">
                <h2>"Nothing can be shown on this page"</h2>
                <p>"PubMed has " {total} " articles for “" <span dir="auto">{found.query.clone()}</span> "”, but gave none for this page. Go back to the first page, or search again."</p>
            </section>
        }
        .erase();
    }
    view! {
        <section class="literature-empty" role="status">
            <h2>"Nothing was found"</h2>
            <p>"PubMed has no articles for “" <span dir="auto">{found.query.clone()}</span> "”. Try other or fewer words."</p>
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
            <button type="button" class="button" on:click=move |_| again()>"Try again"</button>
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
    let mut count = group_digits(found.total);
    count.push_str(if found.total == 1 { " article" } else { " articles" });
    if found.pages > 1 {
        let page = [
            " · page ",
            &group_digits(found.page as u64),
            " of ",
            &group_digits(found.pages as u64),
        ]
        .concat();
        count.push_str(&page);
    }
    view! {
        <h2 class="visually-hidden">"Results"</h2>
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
                <nav class="pager" aria-label="Pages">
                    {link(page - 1, "Previous page")}
                    {link(page + 1, "Next page")}
                </nav>
            }
        })
        .erase()
}
