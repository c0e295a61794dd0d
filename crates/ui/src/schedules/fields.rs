//! The fields of the form of a schedule.

use leptos::{ev, prelude::*};

use super::{form::FormState, texts};
use crate::{
    fields::{amount_field, model_field},
    runtime::erase::Erase,
};
use parlor_protocol::{ResearchStreamId, Schedule, Weekday, literature::EditStreamLocation};

pub fn prompt(state: FormState) -> AnyView {
    let value = move || state.schedule.with(|schedule| schedule.prompt.clone());
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.schedule.update(|schedule| schedule.prompt = text);
    };
    view! {
        <div class="stream-field">
            <label for="schedule-prompt">{texts::PROMPT}</label>
            <textarea
                id="schedule-prompt"
                rows="4"
                required
                dir="auto"
                placeholder=texts::PROMPT_PLACEHOLDER
                prop:value=value
                on:input=input
            ></textarea>
        </div>
    }
    .erase()
}

/// The report that is made in place of a prompt.
pub fn report(stream_id: ResearchStreamId) -> AnyView {
    let stream = EditStreamLocation {
        stream_id: Some(stream_id),
    };
    view! {
        <p class="stream-field">
            <span>{texts::REPORT_OF} " " <a href=stream.to_url()>{texts::SHOW_STREAM}</a></span>
        </p>
    }
    .erase()
}

pub fn name(state: FormState) -> AnyView {
    let placeholder = move || state.schedule.with(Schedule::shown_name);
    text_field(
        state,
        ("schedule-name", "text", texts::NAME),
        |schedule| schedule.name.clone(),
        |schedule, text| schedule.name = text,
        placeholder,
    )
}

/// Days, time, time zone and end.
pub fn times(state: FormState) -> AnyView {
    let days: Vec<_> = Weekday::ALL.into_iter().map(|day| day_box(state, day)).collect();
    view! {
        <fieldset class="stream-items">
            <legend>{texts::DAYS}</legend>
            <div class="schedule-day-boxes">{days}</div>
        </fieldset>
        <div class="schedule-row">
            {text_field(
                state,
                ("schedule-time", "time", texts::TIME),
                |schedule| schedule.time.clone(),
                |schedule, text| schedule.time = text,
                String::new,
            )}
            {text_field(
                state,
                ("schedule-zone", "text", texts::TIME_ZONE),
                |schedule| schedule.time_zone.clone(),
                |schedule, text| schedule.time_zone = text,
                || texts::TIME_ZONE_EXAMPLE.to_owned(),
            )}
            {text_field(
                state,
                ("schedule-end", "date", texts::ENDS_ON),
                |schedule| schedule.ends_on.clone().unwrap_or_default(),
                |schedule, text| schedule.ends_on = Some(text).filter(|text| !text.is_empty()),
                String::new,
            )}
        </div>
    }
    .erase()
}

fn day_box(state: FormState, day: Weekday) -> AnyView {
    let is_on = move || state.schedule.with(|schedule| schedule.days.contains(&day));
    let toggle = move |_| {
        state
            .schedule
            .update(|schedule| match schedule.days.contains(&day) {
                true => schedule.days.retain(|chosen| *chosen != day),
                false => schedule.days.push(day),
            });
    };
    view! {
        <label class="schedule-day">
            <input type="checkbox" prop:checked=is_on on:change=toggle/>
            <span>{day.name()}</span>
        </label>
    }
    .erase()
}

/// The model: that of the list, or the default one of the time.
pub fn model(state: FormState) -> AnyView {
    let chosen = Memo::new(move |_| state.schedule.with(|schedule| schedule.model.clone()));
    let choose = move |id| state.schedule.update(|schedule| schedule.model = id);
    model_field(
        ("schedule-model", texts::MODEL, texts::DEFAULT_MODEL),
        chosen,
        choose,
    )
}

pub fn only_new(state: FormState) -> AnyView {
    let is_on = move || state.schedule.with(|schedule| schedule.only_new);
    let toggle = move |_| {
        state
            .schedule
            .update(|schedule| schedule.only_new = !schedule.only_new)
    };
    view! {
        <button type="button" class="switch-row" role="switch" aria-checked=move || is_on().to_string() on:click=toggle>
            <span class="switch-text">{texts::ONLY_NEW}</span>
            <span class="switch" aria-hidden="true"></span>
        </button>
    }
    .erase()
}

/// The limits of the cost.
pub fn limits(state: FormState) -> AnyView {
    let stream = Memo::new(move |_| state.schedule.with(|schedule| schedule.stream_id.is_some()));
    let run_limit = move || {
        let label = match stream.get() {
            true => texts::REPORT_LIMIT,
            false => texts::RUN_LIMIT,
        };
        amount_field(("schedule-run-limit", label, texts::NO_LIMIT), state.run_limit)
    };
    view! {
        <div class="schedule-row">
            {run_limit}
            {amount_field(("schedule-month-limit", texts::MONTH_LIMIT, texts::NO_LIMIT), state.month_limit)}
        </div>
        <p class="stream-help">{texts::LIMITS_HELP}</p>
    }
    .erase()
}

/// A labelled input of the schedule: its id, type and label.
fn text_field(
    state: FormState,
    (id, kind, label): (&'static str, &'static str, &'static str),
    get: fn(&Schedule) -> String,
    set: fn(&mut Schedule, String),
    placeholder: impl Fn() -> String + Send + Sync + 'static,
) -> AnyView {
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.schedule.update(|schedule| set(schedule, text));
    };
    view! {
        <div class="stream-field">
            <label for=id>{label}</label>
            <input
                id=id
                type=kind
                dir="auto"
                autocomplete="off"
                placeholder=placeholder
                prop:value=move || state.schedule.with(get)
                on:input=input
            />
        </div>
    }
    .erase()
}
