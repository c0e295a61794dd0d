//! Research streams: saved queries, each with a name and instructions for the assistant.

use leptos::{ev, html, prelude::*};

use super::{search::QUERY_INPUT, state::LiteratureState};
use crate::{
    api::literature as rpc,
    browser,
    components::{confirm, icons},
    runtime::{effect::effect, erase::Erase},
};
use parlor_protocol::{
    ResearchStreamId,
    literature::{LiteratureLocation, ResearchStream},
};

/// Opens the editor for a new stream with the query on the screen.
pub fn edit_new_stream(state: LiteratureState) {
    let query = state.location.with_untracked(|location| location.query.clone());
    let stream = ResearchStream {
        id: ResearchStreamId::new(),
        name: String::new(),
        query,
        instructions: String::new(),
    };
    state.edited_stream.set(Some((stream, true)));
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
                <nav class="streams" aria-label="Streams">
                    <ul>{links}</ul>
                </nav>
            }
        })
    };
    let about = move || open.get().map(|stream| stream_details(state, stream));
    view! {
        {list}
        {about}
    }
    .erase()
}

/// The open stream.
fn stream_details(state: LiteratureState, stream: ResearchStream) -> AnyView {
    let edited = stream.clone();
    let instructions = match stream.instructions.as_str() {
        "" => "The assistant has no instructions for it.".to_owned(),
        text => text.to_owned(),
    };
    view! {
        <section class="stream" aria-label="Open stream">
            <div>
                <h2 dir="auto">{stream.name}</h2>
                <p dir="auto">{instructions}</p>
            </div>
            <button
                type="button"
                class="button needs-script"
                on:click=move |_| state.edited_stream.set(Some((edited.clone(), false)))
            >
                {icons::pencil()} "Edit the stream"
            </button>
        </section>
    }
    .erase()
}

/// The editor of a stream.
pub fn stream_dialog(state: LiteratureState) -> AnyView {
    let dialog = NodeRef::<html::Dialog>::new();
    let name = NodeRef::<html::Input>::new();
    let query = NodeRef::<html::Input>::new();
    let instructions = NodeRef::<html::Textarea>::new();
    let sure = RwSignal::new(false);
    effect(move || {
        let written = state.edited_stream.get();
        let (Some((stream, _)), Some(dialog)) = (written, dialog.get()) else {
            return;
        };
        if let (Some(name), Some(query), Some(area)) = (name.get(), query.get(), instructions.get()) {
            name.set_value(&stream.name);
            query.set_value(&stream.query);
            area.set_value(&stream.instructions);
        }
        sure.set(false);
        browser::show_modal(&dialog);
    });
    let close = move || confirm::close_dialog(dialog);
    let keep = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let Some((mut stream, is_new)) = state.edited_stream.get_untracked() else {
            return;
        };
        if let (Some(name), Some(query), Some(area)) = (
            name.get_untracked(),
            query.get_untracked(),
            instructions.get_untracked(),
        ) {
            stream.name = name.value().trim().to_owned();
            stream.query = query.value().trim().to_owned();
            stream.instructions = area.value();
        }
        if stream.name.is_empty() || stream.query.is_empty() {
            return;
        }
        let to = stream_location(&stream);
        state.send(rpc::save_stream(stream), move |state| {
            close();
            state.toasts.show(if is_new {
                "The stream is saved."
            } else {
                "The stream is changed."
            });
            state.go_to(&to);
        });
    };
    let delete = move |_| {
        if !sure.get_untracked() {
            return sure.set(true);
        }
        if let Some((stream, _)) = state.edited_stream.get_untracked() {
            state.send(rpc::delete_stream(stream.id), move |state| {
                close();
                state
                    .toasts
                    .show("The stream is deleted. What you have saved stays.");
                // The stream is no longer open; its query stays.
                let mut location = state.location.get_untracked();
                location.stream = None;
                state.navigation.set_url(location.to_url(), true);
                browser::focus_selector(QUERY_INPUT);
            });
        }
    };
    let is_new = move || {
        state
            .edited_stream
            .with(|written| matches!(written, Some((_, true))))
    };
    let heading = move || {
        if is_new() {
            "Save as a stream"
        } else {
            "Edit the stream"
        }
    };
    let delete_word = move || {
        if sure.get() {
            "Delete permanently"
        } else {
            "Delete"
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class="dialog stream-dialog"
            aria-labelledby="stream-title"
            on:close=move |_| state.edited_stream.set(None)
        >
            <form on:submit=keep>
                <h2 id="stream-title">{heading}</h2>
                <label for="stream-name">"Name"</label>
                <input node_ref=name id="stream-name" required dir="auto" autocomplete="off"/>
                <label for="stream-query">"Query"</label>
                <input node_ref=query id="stream-query" required dir="auto" autocomplete="off"/>
                <label for="stream-instructions">"Instructions for the assistant"</label>
                <textarea
                    node_ref=instructions
                    id="stream-instructions"
                    rows="4"
                    dir="auto"
                    placeholder="Such as: prefer randomised trials, and name the sample size."
                ></textarea>
                <div class="dialog-actions">
                    {move || (!is_new()).then(|| view! {
                        <button type="button" class="button button-danger stream-delete" on:click=delete>
                            {delete_word}
                        </button>
                    })}
                    <button type="button" class="button" on:click=move |_| close()>"Cancel"</button>
                    <button type="submit" class="button button-primary">"Keep"</button>
                </div>
            </form>
        </dialog>
    }
    .erase()
}
