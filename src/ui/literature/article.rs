//! An article, with its abstract and what the person has written about it.

use leptos::{html, prelude::*};

use super::{
    desk::{Desk, Loaded},
    entry::{about, save},
    search::failed,
};
use crate::{
    api::{ErrorCode, rpc},
    protocol::literature::{Address, Article, FullArticle},
    ui::{erase::Erase, icons, when::When},
};

/// What links of others get.
const REL: &str = "noopener noreferrer nofollow";

pub fn article(desk: Desk, pmid: String) -> AnyView {
    let body = move || {
        desk.article.with(|article| match article {
            Loaded::Nothing | Loaded::Loading => {
                view! { <p class="notice-waiting" role="status">"Loading the article…"</p> }.erase()
            }
            Loaded::Ready(article) => whole(desk, article),
            Loaded::Failed(error) => {
                if error.code == ErrorCode::NotFound {
                    crate::ui::browser::not_found();
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
    let doi = article.doi.as_ref().map(|doi| {
        let href = ["https://doi.org/", doi].concat();
        view! { <a class="button" href=href target="_blank" rel=REL>"DOI"</a> }
    });
    view! {
        <a class="button" href=pubmed target="_blank" rel=REL>"PubMed"</a>
        {doi}
    }
    .erase()
}

/// What the person has written about it, once it is saved.
fn note(desk: Desk, pmid: String) -> AnyView {
    let of = pmid.clone();
    let note = Memo::new(move |_| desk.with_library(|library| Some(library.saved(&of)?.note.clone())));
    let area = NodeRef::<html::Textarea>::new();
    let keep = move || {
        let Some(area) = area.get_untracked() else { return };
        let written = area.value();
        if note.with_untracked(|note| note.as_deref() != Some(written.trim())) {
            let told = rpc::note_article(pmid.clone(), written);
            desk.tell(told, |desk| desk.live.toasts.say("The note is saved."));
        }
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        keep();
    };
    view! {
        <When when=move || note.with(Option::is_some)>
            <form class="article-note needs-script" on:submit=submit.clone()>
                <label for="article-note">"Your note"</label>
                <textarea
                    node_ref=area
                    id="article-note"
                    rows="3"
                    maxlength="4000"
                    dir="auto"
                    prop:value=move || note.get().unwrap_or_default()
                ></textarea>
                <button type="submit" class="button">"Save the note"</button>
            </form>
        </When>
    }
    .erase()
}
