//! A text of paragraphs in which a quoted passage is marked.

use std::ops::Range;

use leptos::prelude::*;

use super::texts;
use crate::{browser, runtime::erase::Erase};
use parlor_protocol::passage::find_passage;

/// The paragraphs of a text, and after them those of another part under a heading, with the passage marked that the quote names.
pub fn marked_text(
    quote: Memo<String>,
    first: Vec<String>,
    (heading, second): (&'static str, Vec<String>),
) -> AnyView {
    let first_length = first.len();
    let paragraphs: Vec<String> = first.into_iter().chain(second).collect();
    let shown = move || {
        let quote = quote.get();
        let parts = find_passage(&paragraphs, &quote);
        let missing = (!quote.is_empty() && parts.is_empty()).then(|| {
            view! { <p class="article-missing" role="status">{texts::PASSAGE_NOT_FOUND}</p> }
        });
        let marked = paragraphs.iter().enumerate().map(|(index, text)| {
            let part = parts.iter().find(|(paragraph, _)| *paragraph == index);
            match part.and_then(|(_, range)| split_at_mark(text, range)) {
                Some((before, mark, after)) => {
                    let is_first = parts.first().is_some_and(|(first, _)| *first == index);
                    view! { <p dir="auto">{before} {passage_mark(mark, is_first)} {after}</p> }.erase()
                }
                None => view! { <p dir="auto">{text.clone()}</p> }.erase(),
            }
        });
        let mut marked: Vec<_> = marked.collect();
        let second = marked.split_off(first_length);
        let second = (!second.is_empty()).then(|| {
            view! {
                <h3>{heading}</h3>
                <div class="article-abstract">{second}</div>
            }
        });
        view! {
            {missing}
            <div class="article-abstract">{marked}</div>
            {second}
        }
    };
    shown.erase()
}

fn split_at_mark(text: &str, range: &Range<usize>) -> Option<(String, String, String)> {
    let part = |range: Range<usize>| text.get(range).map(str::to_owned);
    Some((
        part(0..range.start)?,
        part(range.clone())?,
        part(range.end..text.len())?,
    ))
}

/// A marked part of the passage. The first one is scrolled into view.
fn passage_mark(text: String, is_first: bool) -> AnyView {
    if is_first {
        browser::on_next_frame(|| browser::scroll_to_selector(".article-abstract mark"));
    }
    view! { <mark>{text}</mark> }.erase()
}
