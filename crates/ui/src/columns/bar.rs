//! The actions above a grid with columns, and the progress of the job that fills them.

use leptos::prelude::*;

use super::{ColumnsState, OpenDialog, texts};
use crate::{
    browser,
    components::{icons, job_progress::job_progress},
    fields::{amount_field, read_amount},
    runtime::erase::Erase,
    state::remote::Remote,
};
use parlor_protocol::RunStatus;

pub fn bar(state: ColumnsState) -> AnyView {
    let count = Memo::new(move |_| state.with_view(|view| (view.columns.len(), view.limit)));
    let add = move || {
        let is_possible = count.get().is_some_and(|(count, limit)| count < limit);
        is_possible.then(|| {
            view! {
                <button type="button" class="button" on:click=move |_| state.dialog.set(Some(OpenDialog::Column(None)))>
                    {icons::plus()} {texts::ADD}
                </button>
            }
        })
    };
    let is_running = state.is_running;
    let fill = move || {
        let is_possible = count.get().is_some_and(|(count, _)| count > 0) && !is_running.get();
        is_possible.then(|| {
            view! {
                <button type="button" class="button button-primary" on:click=move |_| state.dialog.set(Some(OpenDialog::Fill))>
                    {icons::play()} {texts::FILL}
                </button>
            }
        })
    };
    let failure = move || {
        state.view.with(|view| match view {
            Remote::Failed(error) => Some(view! {
                <div class="notice" role="alert">
                    <h3>{texts::LOAD_FAILED}</h3>
                    <p>{error.message.clone()}</p>
                    <button type="button" class="button" on:click=move |_| state.load()>{texts::TRY_AGAIN}</button>
                </div>
            }),
            _ => None,
        })
    };
    let help = move || {
        let is_empty = count.get().is_some_and(|(count, _)| count == 0);
        is_empty.then(|| view! { <p class="stream-help">{texts::EMPTY_HELP}</p> })
    };
    let status = Memo::new(move |_| state.job.with(|job| job.as_ref().map(|job| job.status)));
    let progress = move || match status.get() {
        Some(RunStatus::Running) => running(state),
        Some(RunStatus::Complete) | None => ().into_any(),
        Some(status) => paused(state, status),
    };
    view! {
        <div id=bar_id(state) class="columns-bar needs-script" tabindex="-1">{add} {fill}</div>
        {help}
        {failure}
        {progress}
    }
    .erase()
}

fn bar_id(state: ColumnsState) -> String {
    [state.id, "-bar"].concat()
}

fn bar_selector(state: ColumnsState) -> String {
    ["#", &bar_id(state)].concat()
}

fn running(state: ColumnsState) -> AnyView {
    let numbers = Memo::new(move |_| state.job.with(|job| job.as_ref().map(|job| job.progress)));
    job_progress(texts::FILLING, numbers, move || {
        if let Some(job) = state.job.get_untracked() {
            state.stop(job.id);
            // The button is removed.
            browser::focus_selector(&bar_selector(state));
        }
    })
}

/// A job that waits, was stopped or has failed.
fn paused(state: ColumnsState, status: RunStatus) -> AnyView {
    let error = state
        .job
        .with_untracked(|job| job.as_ref().and_then(|job| job.error.clone()));
    let is_at_limit = error.as_ref().is_some_and(|error| error.code == "cost_limit");
    let reason = error.map(|error| view! { <p dir="auto">{error.message} " " {error.hint}</p> });
    let limit = RwSignal::new(String::new());
    let field = is_at_limit.then(|| amount_field(("columns-new-limit", texts::NEW_LIMIT, ""), limit));
    let go_on = move |_| match (read_amount(&limit.get_untracked()), state.job.get_untracked()) {
        (Ok(limit), Some(job)) => {
            state.go_on(job.id, limit);
            // The button is removed.
            browser::focus_selector(&bar_selector(state));
        }
        (Err(()), _) => state.toasts.show(texts::NO_AMOUNT),
        (Ok(_), None) => {}
    };
    view! {
        <section class="report-progress stream-form">
            <div role="status">
                <p>{texts::paused_title(status)}</p>
                {reason}
            </div>
            {field}
            <button type="button" class="button needs-script" on:click=go_on>{texts::CONTINUE}</button>
        </section>
    }
    .erase()
}
