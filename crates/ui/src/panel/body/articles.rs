//! Journal articles, which can be opened and saved on the page *Literature*.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{empty_notice, expandable_list, link};
use crate::{
    api::literature as rpc,
    browser,
    components::{
        icons,
        toast::{Toasts, use_toasts},
    },
    panel::texts,
    panel::use_panel,
    runtime::erase::Erase,
    state::{Connection, use_connection, use_navigation},
};
use parlor_protocol::{
    ErrorCode,
    literature::LITERATURE_PATH,
    panel::{ArticleListView, ArticleView, LinkedText},
};

/// The number of articles shown at first.
const MAX_INITIAL_ARTICLES: usize = 50;

/// A list of articles.
pub fn article_list(found: &ArticleListView) -> AnyView {
    let list = |articles: &[ArticleView]| {
        let articles: Vec<_> = articles.iter().map(entry).collect();
        view! { <ol class="panel-list">{articles}</ol> }.erase()
    };
    let articles = if found.articles.is_empty() {
        empty_notice(texts::NO_ARTICLES)
    } else {
        expandable_list(found.articles.clone(), MAX_INITIAL_ARTICLES, list)
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

fn entry(article: &ArticleView) -> AnyView {
    let summary = (!article.abstract_text.is_empty()).then(|| {
        view! {
            <details>
                <summary>{texts::ABSTRACT}</summary>
                {paragraphs(&article.abstract_text)}
            </details>
        }
    });
    view! {
        <li>
            {article_head(article)}
            {summary}
        </li>
    }
    .erase()
}

/// One article with all its details.
pub fn article(article: &ArticleView) -> AnyView {
    let full_text = (!article.full_text.is_empty()).then(|| {
        view! {
            <h4>{texts::FULL_TEXT}</h4>
            {paragraphs(&article.full_text)}
        }
    });
    view! {
        <div class="panel-article">
            {article_head(article)}
            {paragraphs(&article.abstract_text)}
            {full_text}
        </div>
    }
    .erase()
}

fn article_head(article: &ArticleView) -> AnyView {
    let ids: Vec<_> = article
        .ids
        .iter()
        .map(|LinkedText { text, url }| link(text, url.as_deref()))
        .collect();
    let line = |class, text: &str| {
        (!text.is_empty()).then(|| view! { <p class=class dir="auto">{text.to_owned()}</p> })
    };
    view! {
        {article.is_retracted.then(|| view! { <p class="panel-retracted">{icons::alert()} {texts::RETRACTED}</p> })}
        <h3 dir="auto">{link(&article.title, article.url.as_deref())}</h3>
        {line("panel-by", &article.authors)}
        {line("panel-meta", &article.published)}
        {(!ids.is_empty()).then(|| view! { <p class="panel-ids">{ids}</p> })}
        {article.pmid.as_ref().map(|pmid| article_buttons(article, pmid))}
    }
    .erase()
}

/// The progress of a save.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SaveState {
    Unsaved,
    Saving,
    Saved,
}

/// The buttons that open the article on the page *Literature*, or save it.
fn article_buttons(article: &ArticleView, pmid: &str) -> AnyView {
    let (panel, navigation) = (use_panel(), use_navigation());
    let (connection, toasts) = (use_connection(), use_toasts());
    let url = [LITERATURE_PATH, "/articles/", pmid].concat();
    let leave = move |event: ev::MouseEvent| {
        if !browser::is_plain_click(&event) {
            return;
        }
        let talk = navigation.chat_route().get_untracked();
        // After the link was followed.
        browser::on_next_frame(move || {
            panel.close();
            navigation.carry_over(talk);
        });
    };
    let save_state = RwSignal::new(if article.is_saved {
        SaveState::Saved
    } else {
        SaveState::Unsaved
    });
    let opening = texts::open_article(&article.title);
    let named = article.title.clone();
    let saving = move || match save_state.get() {
        SaveState::Saved => texts::saved_article(&named),
        SaveState::Unsaved | SaveState::Saving => texts::save_article(&named),
    };
    let (pmid, title) = (pmid.to_owned(), article.title.clone());
    let press = move |_| {
        if save_state.get_untracked() == SaveState::Unsaved {
            save((connection, toasts), pmid.clone(), title.clone(), save_state);
        }
    };
    let label = move || match save_state.get() {
        SaveState::Unsaved => view! { {icons::plus()} {texts::SAVE} }.into_any(),
        SaveState::Saving => view! { {texts::SAVING} }.into_any(),
        SaveState::Saved => view! { {icons::check()} {texts::SAVED} }.into_any(),
    };
    view! {
        <p class="panel-actions">
            <a class="button" href=url aria-label=opening on:click=leave>{texts::OPEN_HERE}</a>
            <button
                type="button"
                class="button"
                aria-label=saving
                aria-pressed=move || (save_state.get() == SaveState::Saved).to_string()
                aria-busy=move || (save_state.get() == SaveState::Saving).then_some("true")
                on:click=press
            >
                {label}
            </button>
        </p>
    }
    .erase()
}

fn save(
    (connection, toasts): (Connection, Toasts),
    pmid: String,
    title: String,
    save_state: RwSignal<SaveState>,
) {
    save_state.set(SaveState::Saving);
    spawn_local(async move {
        let saved = connection
            .call(rpc::save_article(pmid, String::new(), None))
            .await;
        // The panel may show something else by now.
        save_state.try_set(if saved.is_ok() {
            SaveState::Saved
        } else {
            SaveState::Unsaved
        });
        if let Err(error) = saved {
            let is_certain = error.code != ErrorCode::Unreachable;
            toasts.show(texts::not_saved(&title, is_certain, &error.message));
        }
    });
}

fn paragraphs(paragraphs: &[String]) -> AnyView {
    let paragraphs: Vec<_> = paragraphs
        .iter()
        .map(|text| view! { <p dir="auto">{text.clone()}</p> })
        .collect();
    view! { <div class="panel-abstract">{paragraphs}</div> }.erase()
}
