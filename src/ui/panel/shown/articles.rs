//! Articles of journals, which can be opened and saved on the page *Literature*.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{beginning, link, nothing};
use crate::{
    api::rpc,
    protocol::{
        ErrorCode,
        literature::PATH,
        panel::{Article, Articles, Labelled},
    },
    ui::{
        browser,
        erase::Erase,
        icons,
        panel::{Panel, use_panel},
        tray::use_tray,
    },
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
    let about = (!found.query.is_empty())
        .then(|| view! { <p class="panel-about" dir="auto">{found.query.clone()}</p> });
    view! {
        {about}
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
        {article.pmid.as_ref().map(|pmid| keep(article, pmid))}
    }
    .erase()
}

/// The progress of a save.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Not,
    Saving,
    Saved,
}

/// Opens the article on the page *Literature*, or saves it.
fn keep(article: &Article, pmid: &str) -> AnyView {
    let (panel, tray) = (use_panel(), use_tray());
    let address = [PATH, "/articles/", pmid].concat();
    let leave = move |event: ev::MouseEvent| {
        if !browser::is_plain_click(&event) {
            return;
        }
        let talk = panel.live.place.get_untracked();
        // After the link was followed.
        browser::next_frame(move || {
            panel.close();
            tray.bring(talk);
        });
    };
    let kept = RwSignal::new(if article.is_saved { Kept::Saved } else { Kept::Not });
    let name = |word: &str| [word, " “", &article.title, "”"].concat();
    let (pmid, title) = (pmid.to_owned(), article.title.clone());
    let press = move |_| {
        if kept.get_untracked() == Kept::Not {
            save(panel, pmid.clone(), title.clone(), kept);
        }
    };
    let face = move || match kept.get() {
        Kept::Not => view! { {icons::plus()} "Save" }.into_any(),
        Kept::Saving => view! { "Saving…" }.into_any(),
        Kept::Saved => view! { {icons::check()} "Saved" }.into_any(),
    };
    view! {
        <p class="panel-actions">
            <a class="button" href=address aria-label=name("Open here:") on:click=leave>"Open here"</a>
            <button
                type="button"
                class="button"
                aria-label=name("Save")
                aria-pressed=move || (kept.get() == Kept::Saved).to_string()
                aria-busy=move || (kept.get() == Kept::Saving).then_some("true")
                on:click=press
            >
                {face}
            </button>
        </p>
    }
    .erase()
}

fn save(panel: Panel, pmid: String, title: String, kept: RwSignal<Kept>) {
    kept.set(Kept::Saving);
    spawn_local(async move {
        let saved = panel.live.ask(rpc::save_article(pmid, String::new(), None)).await;
        // Something else may be shown by now.
        kept.try_set(if saved.is_ok() { Kept::Saved } else { Kept::Not });
        if let Err(error) = saved {
            let what = match error.code {
                ErrorCode::Unreachable => "” may not be saved. ",
                _ => "” was not saved. ",
            };
            panel
                .live
                .toasts
                .say(["“", &title, what, &error.message].concat());
        }
    });
}

fn paragraphs(article: &Article) -> AnyView {
    let paragraphs = article.summary.iter();
    let paragraphs: Vec<_> = paragraphs
        .map(|text| view! { <p dir="auto">{text.clone()}</p> })
        .collect();
    view! { <div class="panel-abstract">{paragraphs}</div> }.erase()
}
