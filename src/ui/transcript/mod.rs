//! A conversation on the screen.

mod answer;
mod footer;
mod problem;
mod scroll;
mod thinking;

use leptos::{html, prelude::*};

use self::{answer::Answer, footer::CopyButton, scroll::Follower};
use super::{
    browser,
    each::Each,
    erase::Erase,
    icons,
    live::{ConversationView, Phase, Row, UserRow, use_live},
    not_found::nothing_here,
    place::Place,
    when::When,
};
use crate::protocol::Timestamp;

/// A conversation, or why it is not there.
#[component]
pub fn Conversation(view: ConversationView) -> impl IntoView {
    let live = use_live();
    let phase = view.phase.clone();
    move || match phase.get() {
        Phase::Ready => view! { <Transcript view=view.clone()/> }.erase(),
        Phase::Loading => loading(),
        Phase::Missing => {
            browser::not_found();
            nothing_here("This conversation is not here.")
        }
        Phase::Failed(message) => {
            let place = Place::Conversation(view.id);
            view! {
                <div class="notice" role="alert">
                    <h2>"This conversation could not be loaded"</h2>
                    <p>{message}</p>
                    <button type="button" class="button" on:click=move |_| live.visit(place)>"Try again"</button>
                </div>
            }
            .erase()
        }
    }
}

/// Shown only to those who wait for long.
fn loading() -> AnyView {
    view! { <div class="notice notice-waiting" role="status">"Loading the conversation…"</div> }.erase()
}

#[component]
fn Transcript(view: ConversationView) -> impl IntoView {
    let scroller = NodeRef::<html::Div>::new();
    let content = NodeRef::<html::Div>::new();
    let follower = Follower::new(scroller);
    let watch = StoredValue::new(None);
    Effect::new(move |_| {
        if let Some(content) = content.get() {
            follower.to_end();
            watch.set_value(Some(browser::on_resize(&content, move || follower.grown())));
        }
    });
    let ConversationView {
        id,
        rows,
        running,
        waiting,
        ..
    } = view;
    // A message of one's own is always looked at.
    let sent = waiting.clone();
    Effect::new(move |_| {
        if sent.get() {
            follower.stick();
        }
    });
    let (busy, started) = (running.clone(), running);
    view! {
        <div node_ref=scroller class="transcript" tabindex="0" aria-label="Messages" role="region"
            on:scroll=move |_| follower.scrolled()>
            <div
                node_ref=content
                class="messages"
                role="log"
                aria-live="polite"
                aria-busy=move || busy.get().is_some().to_string()
            >
                <Each of=move || rows.get() key=Row::id let:row>
                    {match row {
                        Row::User(row) => view! { <Question row/> }.erase(),
                        Row::Answer(row) => view! { <Answer conversation_id=id row/> }.erase(),
                    }}
                </Each>
                {move || (waiting.get() && started.get().is_none()).then(|| answer::activity("Sending…".into()))}
            </div>
        </div>
        <When when=move || !follower.at_end()>
            <button type="button" class="jump" on:click=move |_| follower.stick()>
                {icons::down()} "Jump to latest"
            </button>
        </When>
    }
}

/// What the person wrote.
#[component]
fn Question(row: UserRow) -> impl IntoView {
    let UserRow {
        text,
        created_at,
        pending,
        ..
    } = row;
    let copied = text.clone();
    view! {
        <article class="message question" class:pending=move || pending.get() aria-label="You">
            <h2 class="visually-hidden">"You"</h2>
            <div class="question-text">{text.to_string()}</div>
            <footer class="message-foot">
                <Time at=created_at/>
                <CopyButton text=move || copied.to_string()/>
            </footer>
        </article>
    }
}

/// A time: first as the server writes it, then as the person does.
#[component]
fn Time(at: Timestamp) -> impl IntoView {
    let clock = use_live().clock;
    view! { <time datetime=at.rfc3339()>{move || clock.get().time(at)}</time> }
}
