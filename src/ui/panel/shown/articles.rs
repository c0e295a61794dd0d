//! Articles of journals.

use leptos::prelude::*;

use super::{beginning, link, nothing};
use crate::{
    protocol::panel::{Article, Articles, Labelled},
    ui::erase::Erase,
};

/// How many are shown at first.
const FIRST: usize = 50;

/// What was found.
pub fn list(found: &Articles) -> AnyView {
    let list = |articles: &[Article]| {
        let articles: Vec<_> = articles.iter().map(entry).collect();
        view! { <ol class="panel-list">{articles}</ol> }.erase()
    };
    let articles = if found.articles.is_empty() {
        nothing("No articles were found.")
    } else {
        beginning(found.articles.clone(), FIRST, list)
    };
    view! {
        <p class="panel-about" dir="auto">{found.query.clone()}</p>
        <p class="panel-count">{found.count.clone()}</p>
        {articles}
    }
    .erase()
}

fn entry(article: &Article) -> AnyView {
    let summary = (!article.summary.is_empty()).then(|| {
        view! {
            <details>
                <summary>"Abstract"</summary>
                {paragraphs(article)}
            </details>
        }
    });
    view! {
        <li>
            {head(article)}
            {summary}
        </li>
    }
    .erase()
}

/// One article, with all there is of it.
pub fn article(article: &Article) -> AnyView {
    view! {
        <div class="panel-article">
            {head(article)}
            {paragraphs(article)}
        </div>
    }
    .erase()
}

fn head(article: &Article) -> AnyView {
    let ids: Vec<_> = article
        .ids
        .iter()
        .map(|Labelled { text, url }| link(text, url.as_deref()))
        .collect();
    let line = |class, text: &str| {
        (!text.is_empty()).then(|| view! { <p class=class dir="auto">{text.to_owned()}</p> })
    };
    view! {
        <h3 dir="auto">{link(&article.title, article.url.as_deref())}</h3>
        {line("panel-by", &article.authors)}
        {line("panel-meta", &article.published)}
        {(!ids.is_empty()).then(|| view! { <p class="panel-ids">{ids}</p> })}
    }
    .erase()
}

fn paragraphs(article: &Article) -> AnyView {
    let paragraphs = article.summary.iter();
    let paragraphs: Vec<_> = paragraphs
        .map(|text| view! { <p dir="auto">{text.clone()}</p> })
        .collect();
    view! { <div class="panel-abstract">{paragraphs}</div> }.erase()
}
