//! The list of all reports.

use leptos::prelude::*;

use super::{report, state::ReportsState, texts};
use crate::{
    components::{icon_button::IconButton, icons, time::Time},
    runtime::{each::Each, erase::Erase},
    state::remote::Remote,
};
use parlor_protocol::{
    ApiError, JobId,
    literature::STREAMS_PAGE,
    report::{OpenReport, ReportLocation},
};

/// The state of the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Empty,
    Listed,
    Failed,
    Loading,
}

pub fn report_list(state: ReportsState) -> AnyView {
    let phase = Memo::new(move |_| {
        state.list.with(|list| match list.remote() {
            Remote::Ready(list) if list.reports.is_empty() => Phase::Empty,
            Remote::Ready(_) => Phase::Listed,
            Remote::Failed(_) => Phase::Failed,
            _ => Phase::Loading,
        })
    });
    let body = move || match phase.get() {
        Phase::Empty => empty(state),
        Phase::Listed => entries(state),
        Phase::Failed => {
            let error = state.list.with_untracked(|list| match list.remote() {
                Remote::Failed(error) => Some(error.clone()),
                _ => None,
            });
            error.map_or_else(
                || ().into_any(),
                |error| failure(texts::LIST_FAILED, &error, move || state.load()),
            )
        }
        Phase::Loading => waiting(),
    };
    let new = ReportLocation::New(None).to_url();
    view! {
        <div class="streams-head">
            <p class="streams-lead">{texts::LEAD}</p>
            <a class="button button-primary" href=new>{icons::plus()} {texts::NEW}</a>
        </div>
        {body}
    }
    .erase()
}

/// The state while something is loaded.
pub fn waiting() -> AnyView {
    view! { <p class="notice-waiting" role="status">{texts::LOADING}</p> }.erase()
}

/// A failure to load something.
pub fn failure(what: &'static str, error: &ApiError, again: impl Fn() + 'static) -> AnyView {
    view! {
        <section class="literature-empty" role="alert">
            <h2>{what}</h2>
            <p>{error.message.clone()}</p>
            <button type="button" class="button" on:click=move |_| again()>{texts::TRY_AGAIN}</button>
        </section>
    }
    .erase()
}

fn empty(state: ReportsState) -> AnyView {
    let has_streams = Memo::new(move |_| {
        state
            .list
            .with(|list| list.get().is_some_and(|list| !list.streams.is_empty()))
    });
    let next = move || match has_streams.get() {
        true => view! { <p>{texts::EMPTY_HELP}</p> }.erase(),
        false => view! {
            <p>{texts::NO_STREAMS_HELP}</p>
            <a class="button" href=STREAMS_PAGE.path>{icons::bookmark()} {texts::SHOW_STREAMS}</a>
        }
        .erase(),
    };
    view! {
        <section class="literature-empty">
            <h2>{texts::EMPTY}</h2>
            {next}
        </section>
    }
    .erase()
}

fn entries(state: ReportsState) -> AnyView {
    let ids = move || {
        state.list.with(|list| {
            let reports = list.get().map_or(&[][..], |list| &list.reports);
            reports.iter().map(|job| job.id).collect::<Vec<JobId>>()
        })
    };
    view! {
        <ul class="entries">
            <Each of=ids key=|id: &JobId| *id let:id>{entry(state, id)}</Each>
        </ul>
    }
    .erase()
}

fn entry(state: ReportsState, id: JobId) -> AnyView {
    let job = Memo::new(move |_| state.job(id));
    let Some(first) = job.get_untracked() else {
        return ().into_any();
    };
    let facts = move || {
        job.with(|job| {
            let job = job.as_ref()?;
            Some(view! {
                <p class="entry-meta schedule-facts">
                    <span><Time at=job.created_at/></span>
                    <span class="schedule-state">{texts::state(job)}</span>
                    {report::cost(job).map(|cost| view! { <span>{cost}</span> })}
                </p>
            })
        })
    };
    let name = first.title.clone();
    let url = OpenReport::summary(id).to_url();
    let delete = IconButton::new(texts::delete_name(&name), icons::trash(), move || {
        if let Some(job) = job.get_untracked() {
            state.delete(&job);
        }
    });
    let is_unseen = Memo::new(move |_| job.with(|job| job.as_ref().is_some_and(|job| job.unseen)));
    let news = move || {
        is_unseen.get().then(|| {
            view! { <span class="item-dot item-news"><span class="visually-hidden">{texts::NOT_SEEN}</span></span> }.erase()
        })
    };
    view! {
        <li class="entry">
            <div class="entry-about">
                <h2 dir="auto">{news} <a href=url>{name}</a></h2>
                {facts}
            </div>
            <div class="schedule-buttons">{delete.title(texts::DELETE).view()}</div>
        </li>
    }
    .erase()
}
