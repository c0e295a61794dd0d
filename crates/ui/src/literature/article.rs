//! An article, with its abstract and the user's note.

use std::ops::Range;

use leptos::prelude::*;

use super::{
    entry::{citation_line, save_button},
    note::note,
    search::load_error,
    state::{LiteratureState, article_request},
    texts,
};
use crate::{
    browser,
    components::{icons, link::EXTERNAL_LINK_REL},
    runtime::erase::Erase,
    state::remote::Remote,
};
use parlor_protocol::{
    ErrorCode,
    literature::{Article, ArticleWithAbstract, LiteratureLocation, doi_url},
    passage::find_passage,
};

pub fn article_view(state: LiteratureState) -> AnyView {
    let body = move || {
        state.article.with(|article| match article {
            Remote::NotRequested | Remote::Loading => {
                view! { <p class="notice-waiting" role="status">{texts::LOADING_ARTICLE}</p> }.erase()
            }
            Remote::Ready(article) => full_article(state, article),
            Remote::Failed(error) => {
                if error.code == ErrorCode::NotFound {
                    browser::set_not_found();
                }
                load_error(texts::ARTICLE_FAILED, error, move || {
                    let asked = state.location.with_untracked(article_request);
                    state.open_article(asked);
                })
            }
        })
    };
    let back = move || {
        let list = LiteratureLocation {
            article: None,
            quote: String::new(),
            ..state.location.get()
        };
        list.to_url()
    };
    view! {
        <a class="button button-quiet article-back" href=back>{icons::previous()} {texts::BACK_TO_LIST}</a>
        {body}
    }
    .erase()
}

fn full_article(state: LiteratureState, full: &ArticleWithAbstract) -> AnyView {
    let ArticleWithAbstract {
        article,
        abstract_text,
        problem,
        full_text,
    } = full;
    let abstract_ = match problem {
        Some(problem) => {
            view! { <p class="article-missing">{texts::ABSTRACT_FAILED} {problem.clone()}</p> }.erase()
        }
        None if abstract_text.is_empty() => {
            view! { <p class="article-missing">{texts::NO_ABSTRACT}</p> }.erase()
        }
        None => marked_text(state, abstract_text.clone(), full_text.clone()),
    };
    view! {
        <article class="article">
            <h2 dir="auto">{article.title.clone()}</h2>
            {citation_line(article)}
            <div class="article-actions">
                {save_button(state, article)}
                {external_links(article)}
            </div>
            <h3>{texts::ABSTRACT}</h3>
            {abstract_}
            {note(state, article.pmid.clone())}
        </article>
    }
    .erase()
}

/// The paragraphs of a text, with the passage marked that the URL quotes.
fn marked_text(state: LiteratureState, abstract_text: Vec<String>, full_text: Vec<String>) -> AnyView {
    let abstract_length = abstract_text.len();
    let paragraphs: Vec<String> = abstract_text.into_iter().chain(full_text).collect();
    let quote = Memo::new(move |_| state.location.with(|location| location.quote.clone()));
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
        let full_text = marked.split_off(abstract_length);
        let full_text = (!full_text.is_empty()).then(|| {
            view! {
                <h3>{texts::FULL_TEXT}</h3>
                <div class="article-abstract">{full_text}</div>
            }
        });
        view! {
            {missing}
            <div class="article-abstract">{marked}</div>
            {full_text}
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

/// Links to the article on other sites.
fn external_links(article: &Article) -> AnyView {
    let pubmed = ["https://pubmed.ncbi.nlm.nih.gov/", &article.pmid, "/"].concat();
    let doi = article.doi.as_deref().and_then(doi_url).map(|href| {
        view! { <a class="button" href=href target="_blank" rel=EXTERNAL_LINK_REL>{texts::DOI}</a> }
    });
    view! {
        <a class="button" href=pubmed target="_blank" rel=EXTERNAL_LINK_REL>{texts::PUBMED}</a>
        {doi}
    }
    .erase()
}
