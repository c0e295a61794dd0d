//! An article, with its abstract and the user's note.

use leptos::prelude::*;

use super::{
    entry::{citation_line, save_button},
    note::note,
    search::load_error,
    state::LiteratureState,
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
};

pub fn article_view(state: LiteratureState, pmid: String) -> AnyView {
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
                let pmid = pmid.clone();
                load_error(texts::ARTICLE_FAILED, error, move || {
                    state.open_article(Some(pmid.clone()));
                })
            }
        })
    };
    let back = move || {
        let list = LiteratureLocation {
            article: None,
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
    } = full;
    let abstract_ = match problem {
        Some(problem) => {
            view! { <p class="article-missing">{texts::ABSTRACT_FAILED} {problem.clone()}</p> }.erase()
        }
        None if abstract_text.is_empty() => {
            view! { <p class="article-missing">{texts::NO_ABSTRACT}</p> }.erase()
        }
        None => {
            let paragraphs: Vec<_> = abstract_text
                .iter()
                .map(|text| view! { <p dir="auto">{text.clone()}</p> })
                .collect();
            view! { <div class="article-abstract">{paragraphs}</div> }.erase()
        }
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
