//! The form of a stream: its texts, with the number of articles that the query finds, its schema and its categories.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{form::FormState, items, list::stream_links, state::StreamsState, texts};
use crate::{
    api::literature as rpc,
    browser,
    components::icons,
    runtime::{effect::effect, erase::Erase, when::When},
    state::tray::{TrayPage, use_tray},
};
use parlor_protocol::{
    ResearchStreamId,
    literature::{ArticleSort, STREAMS_PAGE, StreamDraft},
    number_format::group_digits,
};

/// The wait after the last change of the query, in milliseconds, before its articles are counted.
const COUNT_DELAY_MS: f64 = 700.0;

pub fn stream_form(page: StreamsState, stream_id: Option<ResearchStreamId>) -> AnyView {
    let state = FormState::new(page, stream_id);
    use_tray().set_tray_page(TrayPage {
        context: Callback::new(move |()| state.context()),
        about: texts::ABOUT_EDIT,
        suggested_questions: Callback::new(|()| texts::EDIT_QUESTIONS.map(str::to_owned).to_vec()),
        placeholder: Callback::new(|()| None),
    });
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        state.save();
    };
    // What is saved is what they use.
    let links = move || {
        let id = stream_id.filter(|_| !state.is_changed())?;
        Some(
            state
                .saved
                .with(|saved| stream_links(id, &saved.stream.name, &saved.stream.query)),
        )
    };
    let title = if stream_id.is_some() {
        texts::EDIT_TITLE
    } else {
        texts::NEW_STREAM
    };
    view! {
        <div id="edit_stream" class="literature-page" tabindex="-1">
            <p class="stream-back"><a href=STREAMS_PAGE.path>{icons::previous()} {texts::BACK}</a></p>
            <div class="streams-head">
                <h2>{title}</h2>
                {links}
            </div>
            <p class="settings-note without-script">{texts::NEEDS_SCRIPTS}</p>
            <form class="stream-form needs-script" on:submit=submit>
                {text_field(state, "stream-name", texts::NAME, "", 0, |draft| &draft.name, |draft| &mut draft.name)}
                {text_field(
                    state,
                    "stream-purpose",
                    texts::PURPOSE,
                    texts::PURPOSE_PLACEHOLDER,
                    2,
                    |draft| &draft.purpose,
                    |draft| &mut draft.purpose,
                )}
                {text_field(state, "stream-query", texts::QUERY, "", 3, |draft| &draft.query, |draft| &mut draft.query)}
                {query_count(state)}
                {text_field(
                    state,
                    "stream-instructions",
                    texts::INSTRUCTIONS,
                    texts::INSTRUCTIONS_PLACEHOLDER,
                    4,
                    |draft| &draft.instructions,
                    |draft| &mut draft.instructions,
                )}
                {items::schema(state)}
                {items::categories(state)}
                {actions(state)}
            </form>
        </div>
    }
    .erase()
}

/// A labelled text of the form: an input, or with `rows` a larger box.
fn text_field(
    state: FormState,
    id: &'static str,
    label: &'static str,
    placeholder: &'static str,
    rows: u32,
    get: fn(&StreamDraft) -> &String,
    get_mut: fn(&mut StreamDraft) -> &mut String,
) -> AnyView {
    let value = move || state.form.with(|form| get(&form.stream).clone());
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.change(|form| *get_mut(&mut form.stream) = text);
    };
    let field = if rows == 0 {
        view! {
            <input id=id required dir="auto" autocomplete="off" value=untrack(value) prop:value=value on:input=input/>
        }
        .erase()
    } else {
        view! {
            <textarea id=id rows=rows dir="auto" placeholder=placeholder prop:value=value on:input=input></textarea>
        }
        .erase()
    };
    view! {
        <div class="stream-field">
            <label for=id>{label}</label>
            {field}
        </div>
    }
    .erase()
}

/// The number of articles that the query finds, counted when it rests.
fn query_count(state: FormState) -> AnyView {
    let count = RwSignal::new(String::new());
    let query = Memo::new(move |_| state.form.with(|form| form.stream.query.trim().to_owned()));
    effect(move || {
        let wanted = query.get();
        if wanted.is_empty() {
            return count.set(String::new());
        }
        count.set(texts::COUNTING.into());
        spawn_local(async move {
            browser::sleep(COUNT_DELAY_MS).await;
            let is_current = || query.try_get_untracked().is_some_and(|now| now == wanted);
            if !is_current() {
                return;
            }
            let search = rpc::search_articles(wanted.clone(), ArticleSort::Relevance, 1);
            let found = state.page.connection.call_upstream(search).await;
            if is_current() {
                count.try_set(match found {
                    Ok(found) => texts::articles(&group_digits(found.total), found.total == 1),
                    Err(error) => error.message,
                });
            }
        });
    });
    view! { <p class="stream-count" role="status">{move || count.get()}</p> }.erase()
}

/// Saving, discarding and deleting.
fn actions(state: FormState) -> AnyView {
    let is_changed = Memo::new(move |_| state.is_changed());
    let is_sure = RwSignal::new(false);
    let delete = move |_| {
        if !is_sure.get_untracked() {
            return is_sure.set(true);
        }
        if let Some(id) = state.stream_id {
            let page = state.page;
            let shown_url = move || untrack(|| page.navigation.with_url(String::clone));
            let url = shown_url();
            spawn_local(async move {
                match page.connection.call(rpc::delete_stream(id)).await {
                    Ok(()) => {
                        page.toasts.show(texts::DELETED);
                        state.forget();
                        // The form may be gone already, with its stream; the user may have left the page.
                        if shown_url() == url {
                            page.navigation.set_url(STREAMS_PAGE.path.into(), true);
                        }
                    }
                    Err(error) => page.toasts.show(error.message),
                }
            });
        }
    };
    let delete_word = move || {
        if is_sure.get() {
            texts::DELETE_PERMANENTLY
        } else {
            texts::DELETE
        }
    };
    let save_word = move || {
        if state.is_saving.get() {
            texts::SAVING
        } else {
            texts::SAVE
        }
    };
    let note = move || {
        if state.is_outdated.get() {
            texts::CHANGED_ELSEWHERE
        } else if is_changed.get() {
            texts::UNSAVED
        } else {
            ""
        }
    };
    let delete_button = state.stream_id.is_some().then(|| {
        view! {
            <button type="button" class="button button-danger stream-delete" on:click=delete>{delete_word}</button>
        }
    });
    view! {
        <div class="stream-actions needs-script">
            {delete_button}
            <p class="stream-note" role="status">{note}</p>
            <When when=move || is_changed.get()>
                <button type="button" class="button" on:click=move |_| state.discard()>{texts::DISCARD}</button>
            </When>
            <button type="submit" class="button button-primary">{save_word}</button>
        </div>
    }
    .erase()
}
