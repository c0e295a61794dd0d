//! An article, with its abstract and what the person has written about it.

use leptos::prelude::*;

use super::{
    desk::{Desk, Loaded},
    entry::{about, save},
    search::failed,
};
use crate::{
    api::{ErrorCode, rpc},
    protocol::literature::{Address, Article, FullArticle, doi_address},
    ui::{REL, browser, erase::Erase, icons, when::When},
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

/// What the person has written about it, once it is saved. What is not saved yet this browser keeps, as it does with messages.
fn note(desk: Desk, pmid: String) -> AnyView {
    let of = pmid.clone();
    let note = Memo::new(move |_| desk.with_library(|library| Some(library.saved(&of)?.note.clone())));
    let key = ["parlor-note:", &pmid].concat();
    let text = RwSignal::new(note.get_untracked().unwrap_or_default());
    // What is saved is another one than when somebody began to write here.
    let overtaken = RwSignal::new(None::<String>);
    let begun = key.clone();
    Effect::new(move |before: Option<Option<String>>| {
        let now = note.get();
        let saved = now.clone().unwrap_or_default();
        let Some(before) = before else {
            if let Some(begun) = browser::stored(&begun) {
                text.set(begun);
            }
            return now;
        };
        let written = text.get_untracked();
        if written.trim() == saved {
            browser::store(&begun, None);
            overtaken.set(None);
        } else if written.trim() == before.unwrap_or_default() {
            text.set(saved);
        } else {
            overtaken.set(Some(saved));
        }
        now
    });
    let kept = key.clone();
    let written = move |event: leptos::ev::Event| {
        let value = event_target_value(&event);
        let differs = note.with_untracked(|note| note.as_deref() != Some(value.trim()));
        browser::store(&kept, differs.then_some(value.as_str()));
        text.set(value);
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let written = text.get_untracked();
        if note.with_untracked(|note| note.as_deref() != Some(written.trim())) {
            let told = rpc::note_article(pmid.clone(), written);
            let key = key.clone();
            desk.tell(told, move |desk| {
                browser::store(&key, None);
                overtaken.try_set(None);
                desk.live.toasts.say("The note is saved.");
            });
        }
    };
    let other = move || {
        overtaken.get().map(|saved| {
            let meanwhile = match saved.as_str() {
                "" => "It was emptied elsewhere meanwhile.".to_owned(),
                saved => ["Meanwhile it was changed elsewhere to: “", saved, "”"].concat(),
            };
            view! { <p class="article-missing" role="status" dir="auto">{meanwhile} " Saving replaces that."</p> }
        })
    };
    view! {
        <When when=move || note.with(Option::is_some)>
            <form class="article-note needs-script" on:submit=submit.clone()>
                <label for="article-note">"Your note"</label>
                <textarea
                    id="article-note"
                    rows="3"
                    dir="auto"
                    prop:value=move || text.get()
                    on:input=written.clone()
                ></textarea>
                {other}
                <button type="submit" class="button">"Save the note"</button>
            </form>
        </When>
    }
    .erase()
}
