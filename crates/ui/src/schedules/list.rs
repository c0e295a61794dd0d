//! The list of all schedules.

use leptos::prelude::*;

use super::{state::SchedulesState, texts};
use crate::{
    components::{icon_button::IconButton, icons, time::Time},
    runtime::erase::Erase,
    state::{remote::Remote, route::Route, use_conversation_list},
};
use parlor_protocol::{
    ListedSchedule, RunStatus, ScheduledRun, report::OpenReport, schedule::ScheduleLocation,
};

pub fn schedule_list(state: SchedulesState) -> AnyView {
    let body = move || {
        state.list.with(|list| match list {
            Remote::Ready(list) if list.schedules.is_empty() => match list.limit {
                0 => off(),
                _ => empty(),
            },
            Remote::Ready(list) => {
                let is_off = list.limit == 0;
                let entries: Vec<_> = list
                    .schedules
                    .iter()
                    .map(|listed| entry(state, listed.clone(), is_off))
                    .collect();
                view! {
                    {is_off.then(off)}
                    <ul class="entries">{entries}</ul>
                }
                .erase()
            }
            Remote::Failed(error) => failure(state, error.message.clone()),
            _ => view! { <p class="notice-waiting" role="status">{texts::LOADING}</p> }.erase(),
        })
    };
    let is_off = Memo::new(move |_| state.is_off());
    let new = move || {
        let url = ScheduleLocation::New.to_url();
        (!is_off.get()).then(|| {
            view! { <a class="button button-primary" href=url>{icons::plus()} {texts::NEW}</a> }.erase()
        })
    };
    view! {
        <div class="streams-head">
            <p class="streams-lead">{texts::LEAD}</p>
            {new}
        </div>
        {body}
    }
    .erase()
}

/// The notice that schedules are switched off.
pub fn off() -> AnyView {
    view! {
        <section class="literature-empty">
            <h2>{texts::OFF}</h2>
            <p>{texts::OFF_HELP}</p>
        </section>
    }
    .erase()
}

fn empty() -> AnyView {
    view! {
        <section class="literature-empty">
            <h2>{texts::EMPTY}</h2>
            <p>{texts::EMPTY_HELP}</p>
        </section>
    }
    .erase()
}

/// The failure to load the schedules.
pub fn failure(state: SchedulesState, message: String) -> AnyView {
    view! {
        <section class="literature-empty" role="alert">
            <h2>{texts::LOAD_FAILED}</h2>
            <p>{message}</p>
            <button type="button" class="button" on:click=move |_| state.load()>{texts::TRY_AGAIN}</button>
        </section>
    }
    .erase()
}

fn entry(state: SchedulesState, listed: ListedSchedule, is_off: bool) -> AnyView {
    let name = listed.schedule.shown_name();
    let is_paused = listed.schedule.is_paused;
    let edit = ScheduleLocation::Edit(listed.id).to_url();
    let notice = listed
        .notice
        .clone()
        .map(|notice| view! { <p class="schedule-notice" dir="auto">{notice}</p> }.erase());
    view! {
        <li class="entry" class:schedule-paused=is_paused>
            <div class="entry-about">
                <h2 dir="auto"><a href=edit>{name.clone()}</a></h2>
                <p class="entry-by">{texts::times(&listed.schedule)}</p>
                <p class="entry-meta schedule-facts">
                    {next(&listed)}
                    {listed.last.map(|run| last(state, run))}
                    {cost(&listed)}
                </p>
                {notice}
            </div>
            {buttons(state, listed, &name, is_off)}
        </li>
    }
    .erase()
}

fn next(listed: &ListedSchedule) -> AnyView {
    match listed.next_at {
        Some(at) => view! { <span>{texts::NEXT} " " <Time at/></span> }.erase(),
        None if listed.schedule.is_paused => {
            view! { <span class="schedule-state">{texts::PAUSED}</span> }.erase()
        }
        None => view! { <span class="schedule-state">{texts::ENDED}</span> }.erase(),
    }
}

/// The last answer, with its state as the list of conversations has it.
fn last(page: SchedulesState, run: ScheduledRun) -> AnyView {
    let conversations = use_conversation_list();
    let row = move || {
        conversations.with_rows(|rows| {
            let row = rows.iter().find(|row| Some(row.id) == run.conversation_id)?;
            Some((row.is_running.clone(), row.is_waiting.clone()))
        })
    };
    let state = move || match (row(), run.status) {
        (Some((_, waiting)), _) if waiting.get() => texts::WAITS,
        (Some((running, _)), _) if running.get() => texts::RUNNING,
        (None, Some(RunStatus::Waiting)) => texts::WAITS,
        (None, Some(RunStatus::Running)) => texts::RUNNING,
        (_, Some(RunStatus::Failed | RunStatus::Interrupted)) => texts::FAILED,
        _ => "",
    };
    // The cost and the state of an ended answer: no change of the schedule announces them.
    Effect::new(move |before: Option<bool>| {
        let is_running = row().is_some_and(|(running, _)| running.get());
        if before == Some(true) && !is_running {
            page.load();
        }
        is_running
    });
    let at = run.started_at;
    let conversation = run.conversation_id.map(|id| Route::Conversation(id).path());
    let report = run.report_id.map(|id| OpenReport::summary(id).to_url());
    let time = match conversation.or(report) {
        Some(url) => view! { <a href=url><Time at/></a> }.erase(),
        None => view! { <Time at/> }.erase(),
    };
    view! { <span>{texts::LAST} " " {time} " " <span class="schedule-state">{state}</span></span> }.erase()
}

fn cost(listed: &ListedSchedule) -> Option<AnyView> {
    let limit = listed.schedule.month_limit;
    (listed.month_cost.0 > 0 || limit.is_some())
        .then(|| view! { <span>{texts::cost(listed.month_cost, limit)}</span> }.erase())
}

/// The buttons of a schedule. While schedules are switched off, it can only be deleted.
fn buttons(state: SchedulesState, listed: ListedSchedule, name: &str, is_off: bool) -> AnyView {
    let (id, is_paused) = (listed.id, listed.schedule.is_paused);
    let pausing = listed.clone();
    let pause = move || state.set_paused(&pausing, !is_paused);
    let pause = match is_paused {
        true => IconButton::new(texts::resume(name), icons::retry(), pause).title(texts::RESUME),
        false => IconButton::new(texts::pause(name), icons::pause(), pause).title(texts::PAUSE),
    };
    let run = IconButton::new(texts::run(name), icons::play(), move || state.run(id)).title(texts::RUN);
    let delete = IconButton::new(texts::delete(name), icons::trash(), move || {
        state.delete(listed.clone())
    });
    view! {
        <div class="schedule-buttons">
            {(!is_off).then(|| run.view())}
            {(!is_off).then(|| pause.view())}
            {delete.title(texts::DELETE).view()}
        </div>
    }
    .erase()
}
