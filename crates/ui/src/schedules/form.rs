//! The form of a schedule.

use leptos::{ev, prelude::*};

use super::{BegunSchedule, fields, list, state::SchedulesState, texts};
use crate::{
    browser,
    components::{icons, not_found::not_found_notice},
    fields::read_amount,
    runtime::erase::Erase,
    state::remote::Remote,
};
use parlor_protocol::{Dollars, Schedule, ScheduleId, Weekday, schedule::ScheduleLocation};

/// The time of a new schedule.
const FIRST_TIME: &str = "08:00";

/// The form that is on the screen.
#[derive(Clone, Copy)]
pub struct FormState {
    pub page: SchedulesState,
    id: ScheduleId,
    is_new: bool,
    pub schedule: RwSignal<Schedule>,
    /// The limits as they are typed, in dollars.
    pub run_limit: RwSignal<String>,
    pub month_limit: RwSignal<String>,
    pub is_saving: RwSignal<bool>,
}

/// The form of a new schedule, with the prompt of a message if it was begun there.
pub fn new_form(page: SchedulesState) -> AnyView {
    let is_off = Memo::new(move |_| page.is_off());
    let view = move || match is_off.get() {
        true => list::off(),
        false => empty_form(page),
    };
    view.erase()
}

fn empty_form(page: SchedulesState) -> AnyView {
    let schedule = Schedule {
        name: String::new(),
        prompt: String::new(),
        stream_id: None,
        model: None,
        tools: Vec::new(),
        days: Weekday::ALL[..5].to_vec(),
        time: FIRST_TIME.into(),
        time_zone: String::new(),
        ends_on: None,
        only_new: false,
        run_limit: None,
        month_limit: None,
        is_paused: false,
    };
    let state = FormState::new(page, ScheduleId::new(), true, schedule);
    // Not before hydration: the server knows neither the zone nor what this device keeps.
    Effect::new(move |before: Option<()>| {
        if before.is_some() {
            return;
        }
        let begun = BegunSchedule::take().unwrap_or_default();
        state.run_limit.set(typed(begun.run_limit));
        state.schedule.update(|schedule| {
            if schedule.time_zone.is_empty() {
                schedule.time_zone = browser::time_zone();
            }
            (schedule.name, schedule.prompt) = (begun.name, begun.prompt);
            (schedule.stream_id, schedule.model) = (begun.stream_id, begun.model);
        });
    });
    form(state)
}

/// Returns a limit as it is typed.
fn typed(limit: Option<Dollars>) -> String {
    limit.map(Dollars::to_text).unwrap_or_default()
}

/// The form of a schedule, once it is loaded.
pub fn edit_form(page: SchedulesState, id: ScheduleId) -> AnyView {
    // What is typed outlives changes of the list.
    let phase = Memo::new(move |_| match page.schedule(id) {
        Some(_) => Some(true),
        None => page
            .list
            .with(|list| matches!(list, Remote::Ready(_) | Remote::Failed(_)).then_some(false)),
    });
    let is_off = Memo::new(move |_| page.is_off());
    let view = move || match phase.get() {
        Some(true) if is_off.get() => list::off(),
        Some(true) => match untrack(|| page.schedule(id)) {
            Some(listed) => form(FormState::new(page, id, false, listed.schedule)),
            None => not_found(),
        },
        Some(false) => match page.list.with_untracked(|list| match list {
            Remote::Failed(error) => Some(error.message.clone()),
            _ => None,
        }) {
            Some(message) => list::failure(page, message),
            None => not_found(),
        },
        None => view! { <p class="notice-waiting" role="status">{texts::LOADING}</p> }.erase(),
    };
    view.erase()
}

fn not_found() -> AnyView {
    browser::set_not_found();
    not_found_notice(texts::NOT_FOUND)
}

impl FormState {
    fn new(page: SchedulesState, id: ScheduleId, is_new: bool, schedule: Schedule) -> Self {
        Self {
            page,
            id,
            is_new,
            run_limit: RwSignal::new(typed(schedule.run_limit)),
            month_limit: RwSignal::new(typed(schedule.month_limit)),
            schedule: RwSignal::new(schedule),
            is_saving: RwSignal::new(false),
        }
    }

    /// Saves the form, and goes back to the list.
    fn save(self) {
        if self.is_saving.get_untracked() {
            return;
        }
        let limits = (
            read_amount(&self.run_limit.get_untracked()),
            read_amount(&self.month_limit.get_untracked()),
        );
        let (Ok(run_limit), Ok(month_limit)) = limits else {
            return self.page.toasts.show(texts::NO_AMOUNT);
        };
        let schedule = Schedule {
            run_limit,
            month_limit,
            ..self.schedule.get_untracked()
        };
        self.is_saving.set(true);
        self.page.save(self.id, schedule, move |is_saved| {
            // The page may be left by now.
            let is_here = self.is_saving.try_set(false).is_none();
            if is_saved {
                self.page.toasts.show(texts::SAVED);
                if is_here {
                    self.page.go_to(ScheduleLocation::List);
                }
            }
        });
    }
}

fn form(state: FormState) -> AnyView {
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        state.save();
    };
    let title = if state.is_new {
        texts::NEW
    } else {
        texts::EDIT_TITLE
    };
    let save_label = move || {
        if state.is_saving.get() {
            texts::SAVING
        } else {
            texts::SAVE
        }
    };
    let list = ScheduleLocation::List.to_url();
    let stream = Memo::new(move |_| state.schedule.with(|schedule| schedule.stream_id));
    let what = move || match stream.get() {
        Some(stream_id) => fields::report(stream_id),
        None => fields::prompt(state),
    };
    let only_new = move || stream.get().is_none().then(|| fields::only_new(state));
    view! {
        <p class="stream-back"><a href=list.clone()>{icons::previous()} {texts::BACK}</a></p>
        <h2>{title}</h2>
        <p class="settings-note without-script">{texts::NEEDS_SCRIPTS}</p>
        <form class="stream-form needs-script" on:submit=submit>
            {what}
            {fields::name(state)}
            {fields::times(state)}
            {fields::model(state)}
            {only_new}
            {fields::limits(state)}
            <div class="schedule-actions">
                <button class="button button-primary" aria-disabled=move || state.is_saving.get().then_some("true")>{save_label}</button>
                <a class="button button-quiet" href=list>{texts::CANCEL}</a>
            </div>
        </form>
    }
    .erase()
}
