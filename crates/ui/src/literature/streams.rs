//! Research streams: saved queries, each with a name and instructions for the assistant.

use leptos::prelude::*;

use super::{state::LiteratureState, texts};
use crate::{components::icons, runtime::erase::Erase, streams::begin_new_stream};
use parlor_protocol::{
    ResearchStreamId,
    draft::FieldChange,
    literature::{EditStreamLocation, LiteratureLocation, ResearchStream},
};

/// Opens a new stream with the query on the screen.
pub fn edit_new_stream(state: LiteratureState) {
    let query = state.location.with_untracked(|location| location.query.clone());
    let url = begin_new_stream(&[FieldChange::new("query", texts::QUERY, query.clone(), &query)]);
    state.navigation.set_url(url, false);
}

fn stream_location(stream: &ResearchStream) -> LiteratureLocation {
    LiteratureLocation {
        query: stream.query.clone(),
        stream: Some(stream.id),
        ..LiteratureLocation::default()
    }
}

/// All streams, as links that run their queries, and the details of the open one.
pub fn stream_list(state: LiteratureState) -> AnyView {
    let all = Memo::new(move |_| state.with_library(|library| library.streams.clone()));
    let open = Memo::new(move |_| state.open_stream());
    let here = move |id: ResearchStreamId| open.with(|open| open.as_ref().is_some_and(|open| open.id == id));
    let link = move |stream: ResearchStream| {
        let (id, href) = (stream.id, stream_location(&stream).to_url());
        view! {
            <li>
                <a href=href dir="auto" aria-current=move || here(id).then_some("true")>
                    {stream.name}
                </a>
            </li>
        }
    };
    let list = move || {
        (!all.with(Vec::is_empty)).then(|| {
            let links: Vec<_> = all.get().into_iter().map(link).collect();
            view! {
                <nav class="streams" aria-label=texts::STREAMS>
                    <ul>{links}</ul>
                </nav>
            }
        })
    };
    let about = move || open.get().map(stream_details);
    view! {
        {list}
        {about}
    }
    .erase()
}

/// The open stream.
fn stream_details(stream: ResearchStream) -> AnyView {
    let edit = EditStreamLocation {
        stream_id: Some(stream.id),
    }
    .to_url();
    let instructions = match stream.instructions.as_str() {
        "" => texts::NO_INSTRUCTIONS.to_owned(),
        text => text.to_owned(),
    };
    view! {
        <section class="stream" aria-label=texts::OPEN_STREAM>
            <div>
                <h2 dir="auto">{stream.name}</h2>
                <p dir="auto">{instructions}</p>
            </div>
            <a class="button" href=edit>{icons::pencil()} {texts::EDIT_STREAM}</a>
        </section>
    }
    .erase()
}
