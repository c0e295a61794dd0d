//! The tab *Summary*: the claims with their sources, what is new, the articles by category, and what could not be read.

use leptos::prelude::*;

use super::texts;
use crate::{components::time::Time, runtime::erase::Erase};
use parlor_protocol::{
    JobId, Passage,
    number_format::group_digits,
    report::{Claim, ComparedReport, OpenReport, Report, ReportArticle, ReportView},
};

pub fn summary_tab(id: JobId, view: StoredValue<ReportView>) -> AnyView {
    view.with_value(|view| {
        let Some(report) = &view.report else {
            return ().into_any();
        };
        let compared = view.comparison.as_ref().map(|compared| comparison(id, compared));
        view! {
            <p class="literature-count" dir="auto">{extent(report)}</p>
            {compared}
            {claims(id, report)}
            {categories(id, view, report)}
            {unread(id, report)}
            <p class="report-query entry-meta" dir="auto">{texts::QUERY} " " {report.query.clone()}</p>
        }
        .erase()
    })
}

/// The numbers of articles that were found, looked at and relevant.
fn extent(report: &Report) -> String {
    texts::extent(
        &group_digits(report.found),
        &group_digits(report.articles.len() as u64),
        &group_digits(report.relevant().count() as u64),
    )
}

/// The differences from the report before.
fn comparison(id: JobId, compared: &ComparedReport) -> AnyView {
    let found = &compared.comparison;
    let parts = [
        (found.new.len(), texts::NEW_ARTICLES),
        (found.moved.len(), texts::MOVED_ARTICLES),
        (found.gone.len(), texts::GONE_ARTICLES),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| [&group_digits(*count as u64), *words].concat())
        .collect();
    let said = match parts.is_empty() {
        true => texts::SAME_ARTICLES.to_owned(),
        false => parts.join(" · "),
    };
    let gone = found.gone.iter().map(|gone| {
        let url = OpenReport::article(compared.report_id, &gone.pmid, "").to_url();
        view! { <li><a href=url dir="auto">{gone.title.clone()}</a></li> }.erase()
    });
    let gone: Vec<_> = gone.collect();
    let gone = (!gone.is_empty()).then(|| {
        view! {
            <details>
                <summary>{texts::SHOW_GONE}</summary>
                <ul>{gone}</ul>
            </details>
        }
    });
    let articles = OpenReport::articles(id).to_url();
    let before = OpenReport::summary(compared.report_id).to_url();
    view! {
        <section class="report-comparison" aria-label=texts::COMPARISON>
            <p>
                <a href=articles>{said}</a>
                " "
                <span class="entry-meta">{texts::SINCE} " " <a href=before><Time at=compared.created_at/></a></span>
            </p>
            {gone}
        </section>
    }
    .erase()
}

/// The sentences of the summary, each with the passage that it rests on.
fn claims(id: JobId, report: &Report) -> AnyView {
    let claims: Vec<_> = report
        .summary
        .iter()
        .map(|claim| claim_view(id, report, claim))
        .collect();
    let problem = report
        .summary_problem
        .clone()
        .map(|problem| view! { <p class="article-missing" dir="auto">{problem}</p> });
    let unsupported = (report.unsupported > 0).then(|| {
        let said = texts::unsupported(report.unsupported, &group_digits(report.unsupported as u64));
        view! { <p class="report-unsupported">{said}</p> }
    });
    view! {
        <section class="report-summary">
            <h3 class="visually-hidden">{texts::SUMMARY}</h3>
            <ul class="report-claims">{claims}</ul>
            {problem}
            {unsupported}
        </section>
    }
    .erase()
}

fn claim_view(id: JobId, report: &Report, claim: &Claim) -> AnyView {
    let source = match &claim.passage {
        Passage::Found(found) => {
            let url = OpenReport::article(id, &claim.pmid, &found.text).to_url();
            let label = report
                .article(&claim.pmid)
                .map_or_else(|| claim.pmid.clone(), source_label);
            view! { <a class="report-source" href=url title=found.text.clone() dir="auto">{label}</a> }
                .erase()
        }
        Passage::NotFound { .. } => view! { <span class="report-mark">{texts::NO_SOURCE}</span> }.erase(),
    };
    view! { <li><span dir="auto">{claim.text.clone()}</span> " " {source}</li> }.erase()
}

/// The short citation of an article: "Roe 2024".
fn source_label(article: &ReportArticle) -> String {
    let about = &article.article;
    let author = about.authors.first().and_then(|name| name.split(' ').next());
    let year = about.published.split(' ').next().unwrap_or_default();
    match author {
        Some(author) => [author, " ", year].concat().trim_end().to_owned(),
        None => ["PMID ", &about.pmid].concat(),
    }
}

/// The relevant articles by category, those without one last.
fn categories(id: JobId, view: &ReportView, report: &Report) -> AnyView {
    let groups = report.groups();
    let is_only = groups.len() == 1;
    let sections: Vec<_> = groups
        .into_iter()
        .map(|(name, articles)| {
            let heading = match name {
                Some(name) => name.to_owned(),
                None if is_only => texts::RELEVANT_ARTICLES.to_owned(),
                None => texts::NO_CATEGORY.to_owned(),
            };
            let count = group_digits(articles.len() as u64);
            let rows: Vec<_> = articles.iter().map(|article| row(id, view, article)).collect();
            view! {
                <section class="report-group">
                    <h3 dir="auto">{heading} <span class="tab-count">{count}</span></h3>
                    <ul>{rows}</ul>
                </section>
            }
            .erase()
        })
        .collect();
    sections.into_any()
}

fn row(id: JobId, view: &ReportView, article: &ReportArticle) -> AnyView {
    let about = &article.article;
    let url = OpenReport::article(id, &about.pmid, "").to_url();
    view! {
        <li>
            <a href=url dir="auto">{about.title.clone()}</a>
            {marks(view, article)}
        </li>
    }
    .erase()
}

/// The marks of an article: retracted, new, in another category than before.
pub fn marks(view: &ReportView, article: &ReportArticle) -> AnyView {
    let comparison = view.comparison.as_ref().map(|compared| &compared.comparison);
    let pmid = &article.article.pmid;
    let is_new = comparison.is_some_and(|comparison| comparison.is_new(pmid));
    let moved = comparison.and_then(|comparison| comparison.moved(pmid));
    let retracted = article
        .retracted
        .then(|| view! { <span class="report-mark report-retracted">{texts::RETRACTED}</span> });
    let new = is_new.then(|| view! { <span class="report-mark report-new">{texts::IS_NEW}</span> });
    let moved = moved.map(|moved| {
        let said = texts::moved_from(moved.from.as_deref());
        view! { <span class="report-mark" dir="auto">{said}</span> }
    });
    view! { <span class="report-marks">{retracted} {new} {moved}</span> }.erase()
}

/// The articles that could not be judged, or not be read in full.
fn unread(id: JobId, report: &Report) -> AnyView {
    let rows = report.articles.iter().filter_map(|article| {
        let problem = article.problem.clone()?;
        let about = &article.article;
        let url = OpenReport::article(id, &about.pmid, "").to_url();
        Some(view! {
            <li>
                <a href=url dir="auto">{about.title.clone()}</a>
                <p class="entry-meta" dir="auto">{problem}</p>
            </li>
        })
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return ().into_any();
    }
    let count = group_digits(rows.len() as u64);
    view! {
        <section class="report-group">
            <h3>{texts::NOT_READ} <span class="tab-count">{count}</span></h3>
            <ul>{rows}</ul>
        </section>
    }
    .erase()
}
