//! An article of a report: what was read out of it, with the passages, and its text.

use leptos::prelude::*;

use super::{
    list::{failure, waiting},
    state::ReportsState,
    texts,
};
use crate::{
    browser,
    components::{
        citation::{citation_line, external_links},
        icons,
        not_found::not_found_notice,
        passage::marked_text,
    },
    runtime::erase::Erase,
    state::remote::Remote,
};
use parlor_protocol::{
    ErrorCode, JobId, Passage,
    literature::LiteratureLocation,
    passage::find_passage,
    report::{Cell, OpenReport, Relevance, ReportArticle},
};

pub fn article_view(state: ReportsState, id: JobId, pmid: &str) -> AnyView {
    let pmid = pmid.to_owned();
    let body = move || {
        state.article.with(|article| match article {
            Remote::Ready(article) if article.article.pmid == pmid => full_article(state, id, article),
            Remote::Failed(error) if error.code == ErrorCode::NotFound => {
                browser::set_not_found();
                not_found_notice(texts::NO_ARTICLE)
            }
            Remote::Failed(error) => {
                failure(texts::ARTICLE_FAILED, error, move || state.load_article_again())
            }
            _ => waiting(),
        })
    };
    let back = OpenReport::articles(id).to_url();
    view! {
        <a class="button button-quiet article-back" href=back>{icons::previous()} {texts::BACK_TO_ARTICLES}</a>
        {body}
    }
    .erase()
}

fn full_article(state: ReportsState, id: JobId, article: &ReportArticle) -> AnyView {
    let about = &article.article;
    let (relevance, reason) = match &article.relevance {
        Relevance::Relevant { reason } => (texts::RELEVANT, reason.clone()),
        Relevance::NotRelevant { reason } => (texts::NOT_RELEVANT, reason.clone()),
        Relevance::Unknown => (texts::NOT_JUDGED, String::new()),
    };
    let retracted = article
        .retracted
        .then(|| view! { <p class="report-mark report-retracted">{texts::RETRACTED_LONG}</p> });
    let problem = article
        .problem
        .clone()
        .map(|problem| view! { <p class="article-missing" dir="auto">{problem}</p> });
    let category = article.category.clone().map(|category| {
        view! { <dt>{texts::CATEGORY}</dt> <dd dir="auto">{category}</dd> }
    });
    let cells: Vec<_> = article
        .cells
        .iter()
        .map(|cell| cell_view(id, &about.pmid, cell))
        .collect();
    let quote = Memo::new(move |_| state.open().map(|open| open.quote).unwrap_or_default());
    let (whole, abstract_text) = (
        article.text.clone(),
        article.text.get(1..).unwrap_or_default().to_vec(),
    );
    let missing = abstract_text
        .is_empty()
        .then(|| view! { <p class="article-missing">{texts::NO_ABSTRACT}</p> });
    // A passage may be in the title, which is then shown with the text.
    let is_in_title = Memo::new({
        let (whole, abstract_text) = (whole.clone(), abstract_text.clone());
        move |_| {
            quote.with(|quote| {
                find_passage(&abstract_text, quote).is_empty() && !find_passage(&whole, quote).is_empty()
            })
        }
    });
    let text = move || {
        let paragraphs = if is_in_title.get() { &whole } else { &abstract_text };
        marked_text(quote, paragraphs.clone(), ("", Vec::new()))
    };
    let literature = LiteratureLocation {
        article: Some(about.pmid.clone()),
        ..LiteratureLocation::default()
    };
    view! {
        <article class="article">
            <h2 dir="auto">{about.title.clone()}</h2>
            {citation_line(about)}
            {retracted}
            <div class="article-actions">
                <a class="button" href=literature.to_url()>{icons::book()} {texts::SAVE_OR_NOTE}</a>
                {external_links(about)}
            </div>
            <dl class="report-cells">
                <dt>{relevance}</dt>
                <dd dir="auto">{reason}</dd>
                {category}
                {cells}
            </dl>
            {problem}
            <h3>{texts::ABSTRACT}</h3>
            {missing}
            {text}
        </article>
    }
    .erase()
}

/// The answer of the article for a field, with the passage, which the link marks below.
fn cell_view(id: JobId, pmid: &str, cell: &Cell) -> AnyView {
    let value = match cell.value.as_str() {
        "" => view! { <span class="article-missing">{texts::NO_ANSWER}</span> }.erase(),
        value => view! { <span dir="auto">{value.to_owned()}</span> }.erase(),
    };
    let passage = match (&cell.passage, cell.value.is_empty()) {
        (Passage::Found(found), _) => {
            let url = OpenReport::article(id, pmid, &found.text).to_url();
            view! { <a class="report-passage" href=url dir="auto">{texts::quoted(&found.text)}</a> }.erase()
        }
        (Passage::NotFound { .. }, false) => {
            view! { <span class="report-mark">{texts::NO_SOURCE}</span> }.erase()
        }
        (Passage::NotFound { .. }, true) => ().into_any(),
    };
    view! {
        <dt dir="auto">{cell.field.clone()}</dt>
        <dd>{value} {passage}</dd>
    }
    .erase()
}
