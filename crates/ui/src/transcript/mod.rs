//! A conversation on the screen.

pub mod actions;
mod activity;
mod answer;
mod answer_menu;
mod buttons;
mod edit_image;
mod footer;
mod found;
mod gallery;
mod older;
mod opened;
mod parts;
mod problem;
mod problem_texts;
mod question;
mod question_text;
mod quote;
mod scroll;
mod sections;
mod suggestions;
mod texts;
mod tool;
mod trace;
mod unrecorded;

pub use self::{
    suggestions::{load_sources, load_suggestions},
    tool::{load_image, load_tool},
};

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use self::{
    answer::Answer, footer::SiblingStep, found::Found, gallery::Gallery, older::OlderMessages,
    question::UserMessage, scroll::EndFollower,
};
use super::{
    browser, state::ConversationPhase, state::ConversationView, state::PendingSend, state::Row,
    state::use_conversations, state::use_lifecycle, state::use_run_intents,
};
use crate::{
    components::{icons, not_found::not_found_notice},
    runtime::{
        each::Each,
        effect::effect,
        erase::Erase,
        lazy::{LazySlot, LazyView, LoadError},
        shared_view::is_read_only,
        when::When,
    },
    state::{drafts, route::Route},
};
use parlor_protocol::{ConversationId, MessageId, RunStatus};

/// Shows a conversation, or the reason why it is not shown.
pub fn conversation(view: ConversationView) -> AnyView {
    let slot = LazySlot::new();
    let shown = view.clone();
    slot.load(move || load_view(shown.clone()));
    slot.view(move || sent_messages(&view))
}

/// The user's messages until the code is loaded. Without a connection that may take long, and they must not seem lost.
fn sent_messages(view: &ConversationView) -> AnyView {
    let (rows, pending_send) = (view.rows.clone(), view.pending_send.clone());
    let message = |row| match row {
        Row::User(row) => view! {
            <article class="message question" aria-label=texts::YOU>
                <div class="question-text" dir="auto">{row.text.to_string()}</div>
            </article>
        }
        .erase(),
        Row::Answer(_) | Row::Unrecorded(_) => ().into_any(),
    };
    let status = move || match pending_send.get() {
        PendingSend::WaitingForConnection => texts::WAITING_FOR_CONNECTION,
        PendingSend::Requested => texts::SENDING,
        PendingSend::Nothing => texts::LOADING_CONVERSATION,
    };
    view! {
        <div class="transcript">
            <div class="messages">
                <Each of=move || rows.get() key=Row::id children=message/>
                <div class="notice notice-waiting" role="status">{status}</div>
            </div>
        </div>
    }
    .erase()
}

/// Loads the view's code on first use. It is in the file of conversations, which each page loads (`ui::markdown`'s loader): a new
/// chat is shown without it.
#[wasm_split(conversation, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view(view: ConversationView) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        view! { <Conversation view=view.clone()/> }.erase()
    }))
}

#[component]
pub fn Conversation(view: ConversationView) -> impl IntoView {
    let conversations = use_conversations();
    let phase = view.phase.clone();
    move || match phase.get() {
        ConversationPhase::Ready => view! { <Transcript view=view.clone()/> }.erase(),
        ConversationPhase::Loading => loading(&view),
        ConversationPhase::Missing => {
            browser::set_not_found();
            drafts::move_to_new_chat(Route::Conversation(view.id));
            not_found_notice(texts::NOT_FOUND)
        }
        ConversationPhase::Failed(message) => {
            let route = Route::Conversation(view.id);
            view! {
                <div class="notice" role="alert">
                    <h2>{texts::LOADING_FAILED}</h2>
                    <p>{message}</p>
                    <button type="button" class="button" on:click=move |_| conversations.load_route(route)>{texts::TRY_AGAIN}</button>
                </div>
            }
            .erase()
        }
    }
}

/// The loading notice, shown only after a delay; a message being sent is shown at once.
fn loading(view: &ConversationView) -> AnyView {
    let rows = view.rows.clone();
    let question = |row| match row {
        Row::User(row) => view! { <UserMessage conversation_id=None row/> }.erase(),
        Row::Answer(_) | Row::Unrecorded(_) => ().into_any(),
    };
    view! {
        <div class="loading">
            <div class="notice notice-waiting" role="status">{texts::LOADING_CONVERSATION}</div>
            <div class="messages">
                <Each of=move || rows.get() key=Row::id children=question/>
            </div>
        </div>
    }
    .erase()
}

#[component]
fn Transcript(view: ConversationView) -> impl IntoView {
    let conversations = use_conversations();
    let scroller = NodeRef::<html::Div>::new();
    let content = NodeRef::<html::Div>::new();
    let follower = EndFollower::new(scroller);
    let watch = StoredValue::new(None);
    let id = view.id;
    let is_read_only = is_read_only();
    let near_start = move || {
        if !is_read_only && follower.is_near_start() {
            conversations.load_older_near_start(id);
        }
    };
    let found = Found::new(&view, follower);
    provide_context(found);
    // The server's page may have been on the screen for a while.
    let new = use_lifecycle().is_hydrated();
    effect(move || {
        let (Some(scroller), Some(content)) = (scroller.get(), content.get()) else {
            return;
        };
        if new {
            follower.scroll_to_end();
        } else {
            follower.keep_initial_position();
        }
        let resized = move || {
            follower.on_resize();
            found.show_again();
            near_start();
        };
        watch.set_value(Some([
            browser::on_resize(&content, resized),
            // The composer may have grown, or an on-screen keyboard opened.
            browser::on_resize(&scroller, resized),
        ]));
    });
    let older = view.clone();
    let ConversationView {
        rows,
        active_run,
        pending_send,
        failed_syncs,
        ..
    } = view;
    // The user's own new message is always scrolled into view.
    let sent = pending_send.clone();
    effect(move || {
        if sent.get() != PendingSend::Nothing {
            found.leave();
            follower.follow_end();
        }
    });
    let started = active_run.clone();
    let is_empty = {
        let (rows, pending_send) = (rows.clone(), pending_send.clone());
        Memo::new(move |_| rows.with(Vec::is_empty) && pending_send.get() == PendingSend::Nothing)
    };
    let announcement = announce_progress(rows.clone(), active_run);
    provide_context(SiblingStep::default());
    let gallery = Gallery::new();
    let scrolled = Trigger::new();
    view! {
        <div node_ref=scroller class="transcript" tabindex="0" aria-label=texts::MESSAGES role="region"
            on:wheel=move |_| found.leave()
            on:pointerdown=move |_| found.leave()
            on:keydown=move |_| found.leave()
            on:scroll=move |_| {
                follower.on_scroll();
                scrolled.notify();
                near_start();
            }>
            <div
                node_ref=content
                class="messages"
                role="log"
                aria-live="off"
                on:click=move |event| {
                    browser::select_block_with_formula(&event);
                    gallery.on_click(&event);
                }
            >
                <OlderMessages view=older/>
                <When when=move || is_empty.get()>
                    <div class="notice" role="status">
                        <h2>{texts::EMPTY_TITLE}</h2>
                        <p>{texts::EMPTY_HINT}</p>
                    </div>
                </When>
                <Each of=move || rows.get() key=Row::id let:row>
                    {match row {
                        Row::User(row) => view! { <UserMessage conversation_id=(!is_read_only).then_some(id) row/> }.erase(),
                        Row::Answer(row) => view! { <Answer conversation_id=id row/> }.erase(),
                        Row::Unrecorded(row) => unrecorded::unrecorded_messages(row),
                    }}
                </Each>
                {move || match pending_send.get() {
                    PendingSend::Requested if started.with(Option::is_none) => Some(activity::activity(texts::SENDING.into(), true)),
                    PendingSend::WaitingForConnection => Some(waiting_message(id)),
                    PendingSend::Requested | PendingSend::Nothing => None,
                }}
                {move || (failed_syncs.get() > 0).then(|| activity::activity(texts::MAY_BE_MORE.into(), true))}
            </div>
        </div>
        <p class="visually-hidden" role="status">{announcement}</p>
        {(!is_read_only).then(|| quote::quote_button(scrolled))}
        {gallery.view()}
        {(!is_read_only).then(|| found::found_steps(id))}
        <When when=move || !follower.is_at_end()>
            <button type="button" class="jump" on:click=move |_| {
                found.leave();
                follower.follow_end();
                browser::focus_selector(".transcript");
            }>
                {icons::down()} {texts::JUMP_TO_LATEST}
            </button>
        </When>
    }
}

/// Announces progress to screen readers: the start and the end of an answer, not its growing text.
fn announce_progress(
    rows: ArcRwSignal<Vec<Row>>,
    running: ArcRwSignal<Option<MessageId>>,
) -> impl Fn() -> &'static str + Send + 'static {
    let announcement = Memo::new(move |before: Option<&(bool, &'static str)>| {
        let was_running = before.is_some_and(|(running, _)| *running);
        let words = match running.get() {
            Some(_) => texts::ANSWERING,
            None if was_running => rows.with_untracked(|rows| match rows.last() {
                Some(Row::Answer(row)) => row.run.with_untracked(|run| match run.status {
                    RunStatus::Complete => texts::ANSWER_COMPLETE,
                    RunStatus::Stopped => texts::ANSWER_STOPPED,
                    // The problem box is an alert of its own.
                    _ => "",
                }),
                _ => "",
            }),
            None => before.map_or("", |(_, words)| words),
        };
        (running.with(Option::is_some), words)
    });
    move || announcement.with(|(_, words)| *words)
}

/// The notice for a message that waits for the connection. It is sent automatically, unless the user withdraws it.
fn waiting_message(id: ConversationId) -> AnyView {
    let run_intents = use_run_intents();
    view! {
        <div class="held">
            <span role="status">{texts::WAITING_FOR_CONNECTION}</span>
            <button type="button" class="button button-quiet" on:click=move |_| run_intents.withdraw_message(id)>
                {icons::pencil()} {texts::EDIT_MESSAGE}
            </button>
        </div>
    }
    .erase()
}
