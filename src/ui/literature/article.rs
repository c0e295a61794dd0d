//! An article, with its abstract and what the person has written about it.

use leptos::prelude::*;

use super::{
    desk::{Desk, Loaded},
    entry::{about, save},
    note::note,
    search::failed,
};
use crate::{
    protocol::{
        ErrorCode,
        literature::{Address, Article, FullArticle, doi_address},
    },
    ui::{REL, browser, erase::Erase, icons},
};

pub fn article(desk: Desk, pmid: String) -> AnyView {
    let body = move || {
        desk.article.with(|article| match article {
            Loaded::Nothing | Loaded::Loading => {
                view! { <p class="notice-waiting" role="status">"Loading the article…"</p> }.erase()
            }
            Loaded::Ready(article) => whole(desk, article),
            Loaded::Failed(error) => {
                if error.code == ErrorCode::NotFound {
                    browser::not_found();
                }
                let pmid = pmid.clone();
                failed("The article could not be loaded", error, move || {
                    desk.open_article(Some(pmid.clone()));
                })
            }
        })
    };
    let back = move || {
        let list = Address {
            article: None,
            ..desk.address.get()
        };
        list.path()
    };
    view! {
        <a class="button button-quiet article-back" href=back>{icons::previous()} "Back to the list"</a>
        {body}
    }
    .erase()
}

fn whole(desk: Desk, full: &FullArticle) -> AnyView {
    let FullArticle {
        article,
        summary,
        problem,
    } = full;
    let abstract_ = match problem {
        Some(problem) => {
            view! { <p class="article-missing">"The abstract can’t be had just now. " {problem.clone()}</p> }
                .erase()
        }
        None if summary.is_empty() => {
            view! { <p class="article-missing">"PubMed has no abstract of it."</p> }.erase()
        }
        None => {
            let paragraphs: Vec<_> = summary
                .iter()
                .map(|text| view! { <p dir="auto">{text.clone()}</p> })
                .collect();
            view! { <div class="article-abstract">{paragraphs}</div> }.erase()
        }
    };
    view! {
        <article class="article">
            <h2 dir="auto">{article.title.clone()}</h2>
            {about(article)}
            <div class="article-actions">
                {save(desk, article)}
                {links(article)}
            </div>
            <h3>"Abstract"</h3>
            {abstract_}
            {note(desk, article.pmid.clone())}
        </article>
    }
    .erase()
}

/// Where else it is.
fn links(article: &Article) -> AnyView {
    let pubmed = ["https://pubmed.ncbi.nlm.nih.gov/", &article.pmid, "/"].concat();
    let doi = article.doi.as_deref().and_then(doi_address).map(|href| {
        view! { <a class="button" href=href target="_blank" rel=REL>"DOI"</a> }
    });
    view! {
        <a class="button" href=pubmed target="_blank" rel=REL>"PubMed"</a>
        {doi}
    }
    .erase()
}
