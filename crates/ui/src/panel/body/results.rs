//! Web search results.

use leptos::prelude::*;

use super::{empty_notice, expandable_list, link};
use crate::{panel::texts, runtime::erase::Erase};
use parlor_protocol::panel::{WebResult, WebResults};

/// The number of results shown at first.
const MAX_INITIAL_RESULTS: usize = 50;

/// A list of results.
pub fn results(found: &WebResults) -> AnyView {
    let list = |results: &[WebResult]| {
        let results: Vec<_> = results.iter().map(entry).collect();
        view! { <ol class="panel-list">{results}</ol> }.erase()
    };
    let results = if found.results.is_empty() {
        empty_notice(texts::NOTHING_FOUND)
    } else {
        expandable_list(found.results.clone(), MAX_INITIAL_RESULTS, list)
    };
    view! {
        <p class="panel-about" dir="auto">{found.query.clone()}</p>
        {results}
    }
    .erase()
}

fn entry(result: &WebResult) -> AnyView {
    let snippet = (!result.snippet.is_empty()).then(|| view! { <p dir="auto">{result.snippet.clone()}</p> });
    view! {
        <li>
            <h3 dir="auto">{link(&result.title, result.url.as_deref())}</h3>
            <p class="panel-meta">{result.host.clone()}</p>
            {snippet}
        </li>
    }
    .erase()
}
