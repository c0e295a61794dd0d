//! An article, with its abstract and the user's note.

use leptos::prelude::*;

use super::{
    entry::save_button,
    note::note,
    search::load_error,
    state::{LiteratureState, article_request},
    texts,
};
use crate::{
    browser,
    components::{
        citation::{citation_line, external_links},
        icons,
        passage::marked_text,
    },
    runtime::erase::Erase,
    state::remote::Remote,
};
use parlor_protocol::{
    ErrorCode,
    literature::{ArticleWithAbstract, LiteratureLocation},
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
        None => {
            let quote = Memo::new(move |_| state.location.with(|location| location.quote.clone()));
            marked_text(
                quote,
                abstract_text.clone(),
                (texts::FULL_TEXT, full_text.clone()),
            )
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
