//! A report: its state while it is being made, its tabs, and its actions.

use leptos::prelude::*;

use super::{
    article, articles,
    list::{failure, waiting},
    state::ReportsState,
    summary, texts,
};
use crate::{
    browser,
    components::{
        icon_button::IconButton, icons, job_progress::job_progress, menu::Menu, not_found::not_found_notice,
        time::Time,
    },
    fields::{amount_field, read_amount},
    runtime::erase::Erase,
    state::remote::Remote,
};
use parlor_protocol::{
    ErrorCode, JobId, RunStatus,
    job::Job,
    number_format::group_digits,
    report::{OpenReport, ReportLocation, ReportTab, ReportView},
};

/// The formats of the export: the name on the wire and the name in the menu.
const FORMATS: [(&str, &str); 5] = [
    ("markdown", texts::MARKDOWN),
    ("html", texts::HTML),
    ("csv", texts::CSV),
    ("bibtex", texts::BIBTEX),
    ("ris", texts::RIS),
];

/// The state of the open report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Loading,
    NotFound,
    Failed,
    /// It has no result.
    Unfinished,
    Complete,
}

pub fn report(state: ReportsState, id: JobId) -> AnyView {
    let phase = Memo::new(move |_| {
        state.report.with(|report| match report {
            Remote::Ready(view) if view.job.id != id => Phase::Loading,
            Remote::Ready(view) if view.report.is_some() => Phase::Complete,
            Remote::Ready(_) => Phase::Unfinished,
            Remote::Failed(error) if error.code == ErrorCode::NotFound => Phase::NotFound,
            Remote::Failed(_) => Phase::Failed,
            _ => Phase::Loading,
        })
    });
    let body = move || match phase.get() {
        Phase::Loading => waiting(),
        Phase::NotFound => {
            browser::set_not_found();
            not_found_notice(texts::NOT_FOUND)
        }
        Phase::Failed => state.report.with_untracked(|report| match report {
            Remote::Failed(error) => failure(texts::REPORT_FAILED, error, move || state.load_report_again()),
            _ => waiting(),
        }),
        Phase::Unfinished => view! { {head(state, id)} {progress(state, id)} }.erase(),
        Phase::Complete => {
            let view = state.report.with_untracked(|report| match report {
                Remote::Ready(view) => Some(view.clone()),
                _ => None,
            });
            view.map_or_else(waiting, |view| {
                let view = StoredValue::new(view);
                view! { {head(state, id)} {tabs(state, id, view)} }.erase()
            })
        }
    };
    let list = ReportLocation::List.to_url();
    view! {
        <p class="stream-back"><a href=list>{icons::previous()} {texts::BACK}</a></p>
        {body}
    }
    .erase()
}

/// Returns the cost of a report so far, if there is one.
pub fn cost(job: &Job) -> Option<String> {
    (job.totals.cost.0 > 0 || job.cost_limit.is_some()).then(|| {
        let cost = job.totals.cost.to_short_label();
        match job.cost_limit {
            Some(limit) => texts::cost_of(&cost, &limit.to_short_label()),
            None => cost,
        }
    })
}

/// The title, the facts and the actions.
fn head(state: ReportsState, id: JobId) -> AnyView {
    let job = Memo::new(move |_| state.job(id));
    let title = move || job.with(|job| job.as_ref().map(|job| job.title.clone()));
    let facts = move || {
        job.with(|job| {
            let job = job.as_ref()?;
            let cost = cost(job).map(|cost| view! { <span>{cost}</span> });
            Some(view! { <span><Time at=job.created_at/></span> <span>{job.model.clone()}</span> {cost} })
        })
    };
    let is_complete =
        Memo::new(move |_| job.with(|job| job.as_ref().is_some_and(|job| job.status == RunStatus::Complete)));
    let stream = Memo::new(move |_| {
        state.report.with(|report| match report {
            Remote::Ready(view) => Some(view.stream_id),
            _ => None,
        })
    });
    let again = move || {
        let url = ReportLocation::New(stream.get()).to_url();
        is_complete
            .get()
            .then(|| view! { <a class="button" href=url>{icons::retry()} {texts::AGAIN}</a> }.erase())
    };
    let export = move || is_complete.get().then(|| export_menu(id));
    let delete = IconButton::new(texts::DELETE, icons::trash(), move || {
        if let Some(job) = job.get_untracked() {
            state.delete(&job);
        }
    });
    view! {
        <header class="report-head">
            <div class="entry-about">
                <h2 dir="auto">{title}</h2>
                <p class="entry-meta schedule-facts">{facts}</p>
            </div>
            <div class="report-actions">{export} {again} {delete.view()}</div>
        </header>
    }
    .erase()
}

/// The button and the menu of the files.
fn export_menu(id: JobId) -> AnyView {
    let menu = Menu::new("report-export");
    let links = move || {
        let links = FORMATS.map(|(format, name)| {
            let href = ["/api/jobs/", &id.to_string(), "/export?format=", format].concat();
            view! {
                <a class="menu-item" role="menuitem" tabindex="-1" href=href download="" on:click=move |_| menu.close()>
                    {icons::download()} <span class="menu-name">{name}</span>
                </a>
            }
            .erase()
        });
        menu.items(links.into())
    };
    view! {
        <button type="button" class="button needs-script" aria-haspopup="menu" popovertarget=menu.id()>
            {icons::download()} {texts::EXPORT}
        </button>
        {menu.view(|| texts::EXPORT.to_owned(), links)}
    }
    .erase()
}

/// The progress, or the reason why it does not go on.
fn progress(state: ReportsState, id: JobId) -> AnyView {
    let status = Memo::new(move |_| state.job(id).map(|job| job.status));
    let body = move || match status.get() {
        Some(RunStatus::Running) => running(state, id),
        Some(RunStatus::Complete) | None => waiting(),
        Some(_) => paused(state, id),
    };
    body.erase()
}

fn running(state: ReportsState, id: JobId) -> AnyView {
    let numbers = Memo::new(move |_| state.job(id).map(|job| job.progress));
    job_progress(texts::BEING_MADE, numbers, move || {
        state.stop(id);
        // The button is removed.
        browser::focus_selector("#reports");
    })
}

/// A report that waits, was stopped or has failed.
fn paused(state: ReportsState, id: JobId) -> AnyView {
    let job = Memo::new(move |_| state.job(id));
    let title = move || job.with(|job| job.as_ref().map(texts::paused_title));
    let reason = move || {
        job.with(|job| {
            let error = job.as_ref()?.error.clone()?;
            Some(view! { <p dir="auto">{error.message}</p> <p dir="auto">{error.hint}</p> })
        })
    };
    let limit = RwSignal::new(String::new());
    let at_limit = Memo::new(move |_| {
        job.with(|job| {
            let error = job.as_ref().and_then(|job| job.error.as_ref());
            error.is_some_and(|error| error.code == "cost_limit")
        })
    });
    let field = move || {
        at_limit
            .get()
            .then(|| amount_field(("report-new-limit", texts::NEW_LIMIT, ""), limit))
    };
    let go_on = move |_| match read_amount(&limit.get_untracked()) {
        Ok(limit) => {
            state.go_on(id, limit);
            // The button is removed.
            browser::focus_selector("#reports");
        }
        Err(()) => state.toasts.show(texts::NO_AMOUNT),
    };
    let kept = move || {
        job.with(|job| {
            let progress = job.as_ref()?.progress;
            Some(texts::kept(&group_digits(progress.done as u64)))
        })
    };
    view! {
        <section class="literature-empty stream-form">
            <div role="status">
                <h2>{title}</h2>
                {reason}
                <p class="entry-meta">{kept}</p>
            </div>
            {field}
            <button type="button" class="button button-primary needs-script" on:click=go_on>{texts::CONTINUE}</button>
        </section>
    }
    .erase()
}

/// The tabs of a complete report. They are links: each has a URL.
fn tabs(state: ReportsState, id: JobId, view: StoredValue<ReportView>) -> AnyView {
    let tab = Memo::new(move |_| state.open().map(|open| open.tab).unwrap_or_default());
    let article = Memo::new(move |_| state.open().and_then(|open| open.article));
    let current = move |of| move || (tab.get() == of).then_some("page");
    let count = view.with_value(|view| view.report.as_ref().map_or(0, |report| report.articles.len()));
    // The order and the filter of the list outlive the opening of an article.
    let grid = articles::GridState::new();
    let body = move || match (article.get(), tab.get()) {
        (Some(pmid), _) => article::article_view(state, id, &pmid),
        (None, ReportTab::Summary) => summary::summary_tab(id, view),
        (None, ReportTab::Articles) => articles::articles_tab(id, view, grid),
    };
    view! {
        <nav class="tabs" aria-label=texts::TABS>
            <a href=OpenReport::summary(id).to_url() aria-current=current(ReportTab::Summary)>{texts::SUMMARY}</a>
            <a href=OpenReport::articles(id).to_url() aria-current=current(ReportTab::Articles)>
                {texts::ARTICLES} <span class="tab-count">{group_digits(count as u64)}</span>
            </a>
        </nav>
        {body}
    }
    .erase()
}
