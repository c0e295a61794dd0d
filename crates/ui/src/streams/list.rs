//! The list of all streams.

use leptos::prelude::*;

use super::{state::StreamsState, texts};
use crate::{components::icons, runtime::erase::Erase, state::remote::Remote};
use parlor_protocol::{
    ResearchStreamId,
    literature::{EditStreamLocation, LiteratureLocation, ResearchStream},
    report::ReportLocation,
};

pub fn stream_list(state: StreamsState) -> AnyView {
    let new = EditStreamLocation { stream_id: None }.to_url();
    let body = move || match &*state.library.signal.read() {
        library if library.get().is_some_and(|library| library.streams.is_empty()) => view! {
            <section class="literature-empty">
                <h2>{texts::NO_STREAMS}</h2>
                <p>{texts::NO_STREAMS_HELP}</p>
            </section>
        }
        .erase(),
        library => match library.remote() {
            Remote::Ready(_) => entries(state),
            Remote::Failed(error) => failure(state, error.message.clone()),
            _ => view! { <p class="notice-waiting" role="status">{texts::LOADING}</p> }.erase(),
        },
    };
    view! {
        <div id="streams" class="literature-page" tabindex="-1">
            <div class="streams-head">
                <p class="streams-lead">{texts::STREAMS_LEAD}</p>
                <a class="button button-primary" href=new>{icons::plus()} {texts::NEW_STREAM}</a>
            </div>
            {body}
        </div>
    }
    .erase()
}

fn entries(state: StreamsState) -> AnyView {
    let entries = move || {
        state.library.signal.with(|library| {
            let streams = library.get().map_or(&[][..], |library| &library.streams);
            streams.iter().map(entry).collect::<Vec<_>>()
        })
    };
    view! { <ul class="entries">{entries}</ul> }.erase()
}

fn entry(stream: &ResearchStream) -> AnyView {
    let edit = EditStreamLocation {
        stream_id: Some(stream.id),
    };
    let purpose = (!stream.purpose.is_empty()).then(|| {
        view! { <p class="entry-by" dir="auto">{stream.purpose.clone()}</p> }
    });
    view! {
        <li class="entry">
            <div class="entry-about">
                <h2 dir="auto"><a href=edit.to_url()>{stream.name.clone()}</a></h2>
                {purpose}
                <p class="entry-meta" dir="auto">{stream.query.clone()}</p>
            </div>
            {stream_links(stream.id, &stream.name, &stream.query)}
        </li>
    }
    .erase()
}

/// Links to what can be done with a saved stream: its articles, and a report of it.
pub fn stream_links(id: ResearchStreamId, name: &str, query: &str) -> AnyView {
    let search = LiteratureLocation {
        query: query.to_owned(),
        stream: Some(id),
        ..LiteratureLocation::default()
    };
    let search_name = [texts::SEARCH, ": ", name].concat();
    let report = ReportLocation::New(Some(id)).to_url();
    let report_name = [texts::REPORT, ": ", name].concat();
    view! {
        <div class="report-actions">
            <a class="button" href=search.to_url() aria-label=search_name>{icons::search()} {texts::SEARCH}</a>
            <a class="button" href=report aria-label=report_name>{icons::page()} {texts::REPORT}</a>
        </div>
    }
    .erase()
}

/// The failure to load the streams, on both pages.
pub fn failure(state: StreamsState, message: String) -> AnyView {
    view! {
        <section class="literature-empty" role="alert">
            <h2>{texts::LOAD_FAILED}</h2>
            <p>{message}</p>
            <button type="button" class="button" on:click=move |_| state.library.load()>{texts::TRY_AGAIN}</button>
        </section>
    }
    .erase()
}
