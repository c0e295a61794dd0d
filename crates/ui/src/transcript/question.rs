//! A message of the user, its versions, and its edit.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{footer::SiblingSwitch, question_text::question_text, texts};
use crate::{
    browser,
    components::{copy::CopyButton, edit_field::EditField, icon_button::IconButton, icons, time::Time},
    files::message_files,
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
    },
    schedules::BegunSchedule,
    state::{UserRow, use_conversations, use_navigation, use_next_message, use_run_intents},
};
use parlor_protocol::{ConversationId, FRESH_SESSION, Interaction, MessageId, schedule::ScheduleLocation};

/// The length from which a message of the user is folded, in estimated lines. About a screen.
const MAX_UNFOLDED_LINES: usize = 25;

/// The estimated length of a line, in bytes.
const LINE_BYTES: usize = 70;

/// Returns true if a text is longer than about a screen.
fn is_long(text: &str) -> bool {
    let lines = text.lines().map(|line| line.len() / LINE_BYTES + 1);
    lines.sum::<usize>() > MAX_UNFOLDED_LINES
}

/// The user's message.
#[component]
pub fn UserMessage(
    /// `None` while the conversation is not loaded: the message can't be edited.
    conversation_id: Option<ConversationId>,
    row: UserRow,
) -> impl IntoView {
    let UserRow {
        id,
        text,
        files,
        interaction,
        created_at,
        is_pending,
        siblings,
        is_damaged,
    } = row;
    let copied = text.clone();
    let is_editing = RwSignal::new(false);
    let is_editable = !is_damaged && !matches!(interaction, Interaction::ActionExecuted { .. });
    let content = {
        let text = text.clone();
        move || match conversation_id.filter(|_| is_editing.get()) {
            Some(conversation_id) => {
                let text = text.clone();
                lazy_part(move || editor(conversation_id, id, text.clone(), is_editing))
            }
            None => folded_text(id, &text),
        }
    };
    let actions = conversation_id.map(|conversation_id| {
        let edit = is_editable.then(|| edit_button(conversation_id, is_editing));
        view! {
            {edit}
            {branch_button(id, text.clone())}
            {repeat_button(text.clone())}
            {delete_button(conversation_id, id)}
            <SiblingSwitch conversation_id id siblings names=[texts::VERSIONS, texts::PREVIOUS_VERSION, texts::NEXT_VERSION]/>
        }
        .erase()
    });
    let shown_files = {
        let is_pending = is_pending.clone();
        move || files.with(|files| message_files(files, is_pending.clone()))
    };
    view! {
        <article id=id.to_string() class="message question" class:damaged=is_damaged class:pending=move || is_pending.get() aria-label=texts::YOU>
            <h2 class="visually-hidden">{texts::YOU}</h2>
            {shown_files}
            {content}
            <footer class="message-foot">
                {interaction_label(interaction)}
                <Time at=created_at/>
                <CopyButton name=texts::COPY text=move || copied.to_string()/>
                {actions}
            </footer>
        </article>
    }
}

/// The text. A long one is folded, but there as a whole, so that searching the page finds it.
fn folded_text(id: MessageId, text: &Arc<str>) -> AnyView {
    let folded = RwSignal::new(is_long(text));
    let fold = folded.get_untracked().then(|| {
        view! {
            <button
                type="button"
                class="button button-quiet needs-script"
                aria-expanded=move || (!folded.get()).to_string()
                on:click=move |_| folded.update(|folded| *folded = !*folded)
            >
                {move || if folded.get() { texts::SHOW_MORE } else { texts::SHOW_LESS }}
            </button>
        }
        .erase()
    });
    view! {
        <div class="question-text" class:question-folded=folded dir="auto">{question_text(id, text)}</div>
        {fold}
    }
    .erase()
}

/// The button that copies what leads up to the message into a new conversation, with its text as the draft.
fn branch_button(message: MessageId, text: Arc<str>) -> AnyView {
    let conversations = use_conversations();
    let press = move || conversations.branch(message, Some(text.clone()));
    IconButton::new(texts::BRANCH, icons::branch(), press)
        .title(texts::BRANCH_TITLE)
        .view()
}

/// The button that begins a schedule with the text.
fn repeat_button(text: Arc<str>) -> AnyView {
    let navigation = use_navigation();
    let press = move || {
        let begun = BegunSchedule {
            prompt: text.to_string(),
            ..BegunSchedule::default()
        };
        navigation.open_page(begun.keep());
    };
    IconButton::new(texts::REPEAT, icons::clock(), press)
        .title(texts::REPEAT_TITLE)
        .view()
}

fn delete_button(conversation_id: ConversationId, message: MessageId) -> AnyView {
    let conversations = use_conversations();
    let view = conversations.view(conversation_id);
    let busy = Memo::new(move |_| view.is_busy());
    let press = move || {
        if !busy.get_untracked() {
            conversations.delete_message(conversation_id, message);
            browser::focus_after_removal();
        }
    };
    IconButton::new(texts::DELETE, icons::trash(), press)
        .title(texts::DELETE_TITLE)
        .disabled_while(move || busy.get())
        .view()
}

fn edit_button(conversation_id: ConversationId, is_editing: RwSignal<bool>) -> AnyView {
    let view = use_conversations().view(conversation_id);
    let busy = Memo::new(move |_| view.is_busy());
    let press = move || is_editing.set(!busy.get_untracked());
    IconButton::new(texts::EDIT, icons::pencil(), press)
        .disabled_while(move || busy.get())
        .view()
}

#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn editor(
    conversation_id: ConversationId,
    message: MessageId,
    text: Arc<str>,
    is_editing: RwSignal<bool>,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let text = text.to_string();
        view! { <Editor conversation_id message text is_editing/> }.erase()
    }))
}

/// The text as a field: Enter sends another version, Escape keeps this one. If the user leaves the conversation, the
/// text is kept for the next edit.
#[component]
fn Editor(
    conversation_id: ConversationId,
    message: MessageId,
    text: String,
    is_editing: RwSignal<bool>,
) -> impl IntoView {
    let (run_intents, next_message) = (use_run_intents(), use_next_message());
    let begun = next_message.edit(message).unwrap_or_else(|| text.clone());
    let end = move || {
        next_message.set_edit(message, None);
        is_editing.set(false);
    };
    let close = move || {
        end();
        browser::on_next_frame(move || {
            browser::focus_selector(
                &[
                    "[id='",
                    &message.to_string(),
                    "'] [aria-label='",
                    texts::EDIT,
                    "']",
                ]
                .concat(),
            );
        });
    };
    let send = move |typed: String| {
        let typed = typed.trim();
        if typed.is_empty() || typed == text.trim() {
            close();
        } else if run_intents.send_version(conversation_id, message, typed.to_owned()) {
            end();
            browser::focus_selector("#message");
        }
    };
    view! {
        <EditField
            name=texts::EDIT_MESSAGE
            save_label=texts::SEND
            text=begun
            on_input=move |text| next_message.set_edit(message, Some(text))
            on_save=send
            on_cancel=close
        />
    }
}

/// The label of a message that was not typed. A selected reply reads as if the user had written it, but a button may
/// do more than its text says.
fn interaction_label(interaction: Interaction) -> Option<AnyView> {
    let words = match interaction {
        Interaction::ActionExecuted { action, .. } => match &*action {
            FRESH_SESSION => texts::button_pressed(texts::FRESH_SESSION),
            _ => texts::button_pressed(&action),
        },
        Interaction::Scheduled(scheduled) => {
            let url = ScheduleLocation::Edit(scheduled.schedule_id).to_url();
            let words = texts::sent_by_schedule(scheduled.missed);
            return Some(view! { <a class="how-said" href=url>{words}</a> }.erase());
        }
        Interaction::TextInput | Interaction::ValueSelected => return None,
    };
    Some(view! { <span class="how-said">{words}</span> }.erase())
}

#[cfg(test)]
mod tests {
    use super::is_long;

    #[test]
    fn estimates_the_lines_of_a_text() {
        assert!(!is_long("A question"));
        assert!(!is_long(&"A line\n".repeat(25)));
        assert!(is_long(&"A line\n".repeat(26)));
        assert!(!is_long(&"a".repeat(25 * 70 - 1)));
        assert!(is_long(&"a".repeat(25 * 70)));
    }
}
