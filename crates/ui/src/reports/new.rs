//! The form of a new report.

use leptos::{ev, prelude::*};

use super::{
    list::{failure, waiting},
    state::ReportsState,
    texts,
};
use crate::{
    components::icons,
    fields::{amount_field, model_field, read_amount},
    runtime::erase::Erase,
    schedules::BegunSchedule,
    state::remote::Remote,
};
use parlor_protocol::{
    JobId, ResearchStreamId,
    literature::{EditStreamLocation, ResearchStream},
    report::ReportLocation,
};

/// The form, once the streams are loaded.
pub fn new_form(state: ReportsState, stream: Option<ResearchStreamId>) -> AnyView {
    // What is typed outlives changes of the list.
    let is_loaded = Memo::new(move |_| {
        state.list.with(|list| match list.remote() {
            Remote::Ready(_) => Some(true),
            Remote::Failed(_) => Some(false),
            _ => None,
        })
    });
    let body = move || match is_loaded.get() {
        Some(true) => {
            let (streams, problem) = state.list.with_untracked(|list| {
                let list = list.get();
                (
                    list.map(|list| list.streams.clone()).unwrap_or_default(),
                    list.and_then(|list| list.no_search.clone()),
                )
            });
            match problem {
                Some(problem) => view! {
                    <section class="literature-empty"><h2>{texts::NO_PUBMED}</h2><p>{problem}</p></section>
                }
                .erase(),
                None if streams.is_empty() => no_streams(),
                None => form(state, streams, stream),
            }
        }
        Some(false) => state.list.with_untracked(|list| match list.remote() {
            Remote::Failed(error) => failure(texts::LIST_FAILED, error, move || state.load()),
            _ => waiting(),
        }),
        None => waiting(),
    };
    let list = ReportLocation::List.to_url();
    view! {
        <p class="stream-back"><a href=list>{icons::previous()} {texts::BACK}</a></p>
        <h2>{texts::NEW}</h2>
        {body}
    }
    .erase()
}

fn no_streams() -> AnyView {
    let new = EditStreamLocation { stream_id: None }.to_url();
    view! {
        <section class="literature-empty">
            <h2>{texts::NO_STREAMS}</h2>
            <p>{texts::NO_STREAMS_HELP}</p>
            <a class="button button-primary" href=new>{icons::plus()} {texts::NEW_STREAM}</a>
        </section>
    }
    .erase()
}

fn form(state: ReportsState, streams: Vec<ResearchStream>, wanted: Option<ResearchStreamId>) -> AnyView {
    let known = wanted.filter(|id| streams.iter().any(|stream| stream.id == *id));
    let missing = (wanted.is_some() && known.is_none())
        .then(|| view! { <p class="settings-note" role="status">{texts::STREAM_GONE}</p> });
    let stream = RwSignal::new(known.or(streams.first().map(|stream| stream.id)));
    let model = RwSignal::new(None::<String>);
    let limit = RwSignal::new(String::new());
    let is_sending = RwSignal::new(false);
    // One id for the form: a request whose answer was lost starts nothing twice.
    let id = JobId::new();
    let options = streams.into_iter().map(|offered| {
        let id = offered.id;
        let is_chosen = move || stream.get() == Some(id);
        view! { <option value=id.to_string() selected=is_chosen>{offered.name}</option> }.erase()
    });
    let options: Vec<_> = options.collect();
    let choose = move |event: ev::Event| stream.set(event_target_value(&event).parse().ok());
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let Some(stream) = stream.get_untracked().filter(|_| !is_sending.get_untracked()) else {
            return;
        };
        let Ok(limit) = read_amount(&limit.get_untracked()) else {
            return state.toasts.show(texts::NO_AMOUNT);
        };
        is_sending.set(true);
        state.make((id, stream), model.get_untracked(), limit, move || {
            // The page may be left by now.
            is_sending.try_set(false);
        });
    };
    let repeat = move |_| {
        let chosen = stream.get_untracked();
        let chosen = state.list.with_untracked(|list| {
            let streams = &list.get()?.streams;
            streams.iter().find(|stream| Some(stream.id) == chosen).cloned()
        });
        let Some(chosen) = chosen else { return };
        let Ok(run_limit) = read_amount(&limit.get_untracked()) else {
            return state.toasts.show(texts::NO_AMOUNT);
        };
        let begun = BegunSchedule {
            name: chosen.name,
            stream_id: Some(chosen.id),
            model: model.get_untracked(),
            run_limit,
            ..BegunSchedule::default()
        };
        state.navigation.set_url(begun.keep(), false);
    };
    let label = move || match is_sending.get() {
        true => texts::STARTING,
        false => texts::START,
    };
    let chosen_model = Memo::new(move |_| model.get());
    view! {
        <p class="streams-lead">{texts::NEW_HELP}</p>
        {missing}
        <p class="settings-note without-script">{texts::NEEDS_SCRIPTS}</p>
        <form class="stream-form needs-script" on:submit=submit>
            <div class="stream-field">
                <label for="report-stream">{texts::STREAM}</label>
                <select id="report-stream" on:change=choose>{options}</select>
            </div>
            {model_field(("report-model", texts::MODEL, texts::DEFAULT_MODEL), chosen_model, move |id| model.set(id))}
            {amount_field(("report-limit", texts::LIMIT, texts::NO_LIMIT), limit)}
            <p class="stream-help">{texts::LIMIT_HELP}</p>
            <div class="schedule-actions">
                <button class="button button-primary" aria-disabled=move || is_sending.get().then_some("true")>{label}</button>
                <button type="button" class="button" on:click=repeat>{icons::clock()} {texts::REPEAT}</button>
                <a class="button button-quiet" href=ReportLocation::List.to_url()>{texts::CANCEL}</a>
            </div>
        </form>
    }
    .erase()
}
