//! The messages that wait for the end of the run, above the message box. Their code is loaded with the first one; until then they are
//! shown without their buttons.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::texts;
use crate::{
    browser,
    components::{edit_field::EditField, icon_button::IconButton, icons, toast::use_toasts},
    runtime::{
        each::Each,
        erase::Erase,
        lazy::{LazySlot, LazyView, LoadError},
        lazy_part::LazyPart,
    },
    state::{
        ConversationView, PendingSend, QueueRow, QueueView, route::Route, use_conversations, use_outbox,
        use_run_intents,
    },
};
use parlor_protocol::{ConversationId, MessageId, intent::QueueChange};

/// The queue of the conversation on the screen, if messages wait.
#[component]
pub fn Queue() -> impl IntoView {
    let conversations = use_conversations();
    let waiting = Memo::new(move |_| {
        let view = conversations.current_view()?;
        let is_empty = view.queue.with(|queue| queue.messages.is_empty());
        (!is_empty).then_some(view.id)
    });
    move || {
        let id = waiting.get()?;
        let slot = LazySlot::new();
        slot.load(move || load_view(id));
        Some(slot.view(move || plain_messages(&conversations.view(id))))
    }
}

/// The messages without their buttons: until the code is loaded, which needs the connection that they may wait for.
fn plain_messages(view: &ConversationView) -> AnyView {
    let queue = view.queue.clone();
    let items = move || {
        let item = |row: &QueueRow| {
            let text = row.text.clone();
            view! { <li class="queue-item"><div class="queue-text" dir="auto">{text}</div></li> }.erase()
        };
        queue.with(|queue| queue.messages.iter().map(item).collect::<Vec<_>>())
    };
    view! {
        <section class="queue" aria-label=texts::QUEUED_MESSAGES>
            <ol class="queue-list">{items}</ol>
        </section>
    }
    .erase()
}

/// Loads the code of the queued messages on first use.
#[wasm_split(queue, wasm_split_path = leptos::wasm_split, fallible, preload(load_queue))]
pub fn load_view(id: ConversationId) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <QueuedMessages id/> }.erase()))
}

#[component]
fn QueuedMessages(id: ConversationId) -> impl IntoView {
    let conversations = use_conversations();
    let view = conversations.view(id);
    let queue = view.queue.clone();
    let ids = {
        let queue = queue.clone();
        Memo::new(move |_| queue.with(|queue| queue.messages.iter().map(|row| row.id).collect::<Vec<_>>()))
    };
    let editing = RwSignal::new(None);
    view! {
        <section class="queue" aria-label=texts::QUEUED_MESSAGES data-lazy=LazyPart::Queue.name()>
            <QueueHead view/>
            <ol class="queue-list">
                <Each of=move || ids.get() key=|message: &MessageId| *message let:message>
                    <QueuedMessage id message queue=queue.clone() editing/>
                </Each>
            </ol>
        </section>
    }
}

/// The line that says when the messages will be sent.
#[component]
fn QueueHead(view: ConversationView) -> impl IntoView {
    let conversations = use_conversations();
    let (id, queue) = (view.id, view.queue.clone());
    let held = Memo::new(move |_| queue.with(|queue| queue.held));
    let busy = Memo::new(move |_| view.is_busy());
    let release = move |_| {
        conversations.change_queue(id, QueueChange::Release);
        browser::focus_after_removal();
    };
    let text = move || match (held.get(), busy.get()) {
        (false, _) => texts::SENT_WHEN_DONE,
        (true, false) => texts::HELD_AFTER_END,
        (true, true) => texts::HELD,
    };
    let label = move || {
        if busy.get() {
            texts::SEND_NEXT
        } else {
            texts::SEND_NOW
        }
    };
    view! {
        <div class="queue-head">
            <span role="status">{text}</span>
            {move || held.get().then(|| view! {
                <button type="button" class="button needs-script" on:click=release>{label}</button>
            }.erase())}
        </div>
    }
}

#[component]
fn QueuedMessage(
    id: ConversationId,
    message: MessageId,
    queue: ArcRwSignal<QueueView>,
    /// The message that the user edits.
    editing: RwSignal<Option<MessageId>>,
) -> impl IntoView {
    let row = {
        let queue = queue.clone();
        Memo::new(move |_| queue.with(|queue| queue.messages.iter().find(|row| row.id == message).cloned()))
    };
    let text = move || row.with(|row| row.as_ref().map(|row| row.text.clone()).unwrap_or_default());
    let file_names = move || {
        let names = row.with(|row| {
            let files = row.iter().flat_map(|row| &row.files);
            files.map(|file| file.name.clone()).collect::<Vec<_>>()
        });
        (!names.is_empty())
            .then(|| view! { <div class="queue-files">{icons::page()} {names.join(", ")}</div> }.erase())
    };
    let pending = Memo::new(move |_| row.with(|row| row.as_ref().map(|row| row.pending_send)));
    let shown = move || match (editing.get() == Some(message), pending.get()) {
        (true, Some(PendingSend::Nothing)) => {
            let has_files = row.with_untracked(|row| row.as_ref().is_some_and(|row| !row.files.is_empty()));
            view! { <QueuedEdit id message text=untrack(text) has_files editing/> }.erase()
        }
        (_, pending) => view! {
            <div class="queue-text" dir="auto">
                {text}
                {file_names}
            </div>
            <div class="queue-actions needs-script">
                {match pending {
                    None => ().into_any(),
                    Some(PendingSend::Nothing) => actions(id, message, queue.clone(), editing),
                    Some(PendingSend::Requested) => texts::SENDING.into_any(),
                    Some(PendingSend::WaitingForConnection) => withdraw_button(id, message),
                }}
            </div>
        }
        .erase(),
    };
    view! { <li class="queue-item" id=item_id(message)>{shown}</li> }
}

fn focus_button(message: MessageId, name: &'static str) {
    browser::focus_selector(&["#", &item_id(message), " [aria-label='", name, "']"].concat());
}

fn item_id(message: MessageId) -> String {
    ["queued-", &message.to_string()].concat()
}

fn withdraw_button(id: ConversationId, message: MessageId) -> AnyView {
    let run_intents = use_run_intents();
    view! {
        {texts::WAITING_FOR_CONNECTION}
        <button type="button" class="button button-quiet" on:click=move |_| run_intents.withdraw_queued(id, message)>
            {icons::pencil()} {texts::EDIT_MESSAGE}
        </button>
    }
    .erase()
}

/// The buttons of a message that the server has.
fn actions(
    id: ConversationId,
    message: MessageId,
    queue: ArcRwSignal<QueueView>,
    editing: RwSignal<Option<MessageId>>,
) -> AnyView {
    let conversations = use_conversations();
    // The index among the messages that the server has, and their number.
    let place = {
        let queue = queue.clone();
        Memo::new(move |_| {
            queue.with(|queue| {
                let is_stored = |row: &&QueueRow| row.pending_send == PendingSend::Nothing;
                let mut stored = queue.messages.iter().filter(is_stored);
                (
                    stored
                        .clone()
                        .position(|row| row.id == message)
                        .unwrap_or_default(),
                    stored.by_ref().count(),
                )
            })
        })
    };
    let move_to = move |index: usize| {
        let before = queue.with_untracked(|queue| queue.messages.get(index).map(|row| row.id));
        conversations.change_queue(
            id,
            QueueChange::Move {
                message_id: message,
                before,
            },
        );
    };
    let button = |name: &'static str,
                  icon: AnyView,
                  is_off: Box<dyn Fn() -> bool + Send>,
                  press: Box<dyn Fn() + Send>| {
        IconButton::new(name, icon, press).disabled_while(is_off).view()
    };
    let (up, down) = (move_to.clone(), move_to);
    vec![
        button(
            texts::MOVE_UP,
            icons::send(),
            Box::new(move || place.get().0 == 0),
            Box::new(move || {
                if let Some(index) = place.get_untracked().0.checked_sub(1) {
                    up(index);
                }
            }),
        ),
        button(
            texts::MOVE_DOWN,
            icons::down(),
            Box::new(move || place.get().0 + 1 >= place.get().1),
            Box::new(move || {
                let (index, count) = place.get_untracked();
                if index + 1 < count {
                    down(index + 2);
                }
            }),
        ),
        button(
            texts::EDIT,
            icons::pencil(),
            Box::new(|| false),
            Box::new(move || editing.set(Some(message))),
        ),
        button(
            texts::REMOVE,
            icons::trash(),
            Box::new(|| false),
            Box::new(move || {
                conversations.change_queue(id, QueueChange::Remove { message_id: message });
                browser::focus_after_removal();
            }),
        ),
    ]
    .into_any()
}

/// The text as a field. If the message is sent meanwhile, the text becomes a draft.
#[component]
fn QueuedEdit(
    id: ConversationId,
    message: MessageId,
    text: String,
    /// True if the message has files, so that it needs no text.
    has_files: bool,
    editing: RwSignal<Option<MessageId>>,
) -> impl IntoView {
    let (conversations, outbox, toasts) = (use_conversations(), use_outbox(), use_toasts());
    // The text as long as it differs from the stored one.
    let unsaved = ArcStoredValue::new(None::<String>);
    let lost = unsaved.clone();
    on_cleanup(move || {
        if let Some(text) = lost.get_value() {
            outbox.return_text(Route::Conversation(id), &text);
            toasts.show(texts::CHANGE_NOT_SAVED);
        }
    });
    let close = move || {
        editing.set(None);
        browser::on_next_frame(move || {
            focus_button(message, texts::EDIT);
        });
    };
    let (typed, saved, dropped) = (unsaved.clone(), unsaved.clone(), unsaved);
    let before = text.clone();
    let on_input = move |text: String| typed.set_value((text != before).then_some(text));
    let on_save = move |text: String| {
        let has_changed = saved.try_update_value(Option::take).flatten().is_some();
        if has_changed && (has_files || !text.trim().is_empty()) {
            let message_id = message;
            conversations.change_queue(id, QueueChange::Edit { message_id, text });
        }
        close();
    };
    let on_cancel = move || {
        dropped.set_value(None);
        close();
    };
    view! { <EditField name=texts::QUEUED_MESSAGE save_label=texts::SAVE text on_input on_save on_cancel/> }
}
