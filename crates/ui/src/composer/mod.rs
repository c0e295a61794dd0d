//! The composer: the message input. A plain form without scripts; with them, one box for all conversations, each with
//! its draft.

mod additions;
mod effort;
mod files;
mod gauge;
mod gauge_figures;
mod model_groups;
mod model_list;
mod model_row;
mod parameters;
mod pastes;
mod picker;
mod queue;
mod texts;
mod thinking;

pub use self::{model_list::ModelDialog, queue::load_queue};

use leptos::{ev, html, prelude::*};

use self::{
    additions::{AddButton, SearchMark},
    effort::EffortButton,
    files::{DropTarget, FileChips},
    gauge::Gauge,
    parameters::ParametersDialog,
    pastes::{PasteChips, Pastes},
    picker::{EndpointProblems, ModelPicker},
    queue::Queue,
    thinking::ThinkingNote,
};
use crate::{
    browser,
    commands::Shortcut,
    components::{icons, toast::use_toasts},
    runtime::{effect::effect, erase::Erase, when::When},
    state::{
        ConversationPhase, drafts, route::Route, snapshot::FormIds, tray::use_tray, use_conversations,
        use_models, use_navigation, use_next_message, use_outbox, use_projects, use_run_intents,
    },
};

/// The questions, of which the last one is edited, and its button.
const LAST_QUESTION: &str = ".messages > .question";
const EDIT_BUTTON: &str = "[aria-label=Edit]";

/// The box, the model, and *Send*, which is *Stop* while a run is active in this conversation.
#[component]
pub fn Composer() -> impl IntoView {
    let (models, run_intents, outbox) = (use_models(), use_run_intents(), use_outbox());
    let (conversations, projects) = (use_conversations(), use_projects());
    let (chat_route, toasts) = (use_navigation().chat_route(), use_toasts());
    let area = NodeRef::<html::Textarea>::new();
    let busy = Memo::new(move |_| conversations.current_view().is_some_and(|view| view.is_busy()));
    let pastes = Pastes::new();
    let files = use_next_message().files;
    bind_draft(area, pastes);
    // The routes whose messages are sent when their files are uploaded.
    let waiting = RwSignal::new(Vec::<Route>::new());
    // True while the parameters dialog is open.
    let is_asking = RwSignal::new(false);

    let send = move || {
        let Some(area) = area.get_untracked() else { return };
        let route = chat_route.get_untracked();
        let text = pastes.append_to(area.value().trim());
        let has_files = untrack(|| files.has_files(route));
        if text.is_empty() && !has_files || !route.is_chat() {
            return;
        }
        if untrack(|| files.is_uploading(route)) {
            return waiting.update(|waiting| {
                if !waiting.contains(&route) {
                    waiting.push(route);
                }
            });
        }
        // The list says why, and offers to retry or to remove it.
        if untrack(|| files.has_failed(route)) {
            return;
        }
        // The message is stored in the outbox before its draft is removed.
        run_intents.send(route, text, models.requested());
        drafts::remove(route);
        pastes.clear(route);
        area.set_value("");
        browser::fit_height(&area);
        browser::focus(&area);
    };
    effect(move || {
        let (uploading, uploaded): (Vec<_>, Vec<_>) = waiting
            .get()
            .into_iter()
            .partition(|route| files.is_uploading(*route));
        if uploaded.is_empty() {
            return;
        }
        waiting.set(uploading);
        for route in uploaded {
            if route == chat_route.get_untracked() {
                send();
            } else {
                toasts.show(texts::KEPT_AS_DRAFT);
            }
        }
    });
    let on_key = move |event: ev::KeyboardEvent| {
        if browser::is_composing(&event) {
            return;
        }
        // On-screen keyboards have no other way to insert a line break.
        if Shortcut::Send.is_pressed(&event) && browser::has_hardware_keyboard() {
            event.prevent_default();
            send();
        } else if Shortcut::EditLast.is_pressed(&event) {
            let route = chat_route.get_untracked();
            let has_draft = !event_target_value(&event).is_empty()
                || untrack(|| !pastes.is_empty() || files.has_files(route));
            if !has_draft && !busy.get_untracked() && browser::press_last(LAST_QUESTION, EDIT_BUTTON) {
                event.prevent_default();
            }
        }
    };
    let on_paste = move |event: ev::ClipboardEvent| {
        let pasted = browser::pasted_files(&event);
        let text = browser::pasted_text(&event);
        // A spreadsheet adds a picture of its cells to their text; a file manager adds the file's name as text.
        let is_text = text.as_deref().is_some_and(|text| {
            let text = text.trim();
            !text.is_empty() && pasted.iter().all(|file| file.name() != text)
        });
        if !pasted.is_empty() && !is_text {
            event.prevent_default();
            let route = chat_route.get_untracked();
            return pasted.into_iter().for_each(|file| files.add(route, file));
        }
        if text.is_some_and(|text| pastes.add(chat_route.get_untracked(), text)) {
            event.prevent_default();
        }
    };
    let on_input = move |_| {
        if let Some(area) = area.get_untracked() {
            let route = chat_route.get_untracked();
            drafts::save(route, &area.value());
            browser::fit_height(&area);
            // A user who writes another message has read the error.
            outbox.dismiss_send_error(route);
        }
    };
    let FormIds {
        intent_id,
        conversation_id,
        message_id,
        begins,
        project_id,
    } = expect_context();
    let placeholder = move || {
        let of_page = use_tray().tray_page().and_then(|page| page.placeholder.run(()));
        of_page.unwrap_or_else(|| texts::PLACEHOLDER.into())
    };
    // Without a conversation, messages have no recipient.
    let is_hidden = move || match conversations.current_view() {
        Some(view) => view.phase.get() == ConversationPhase::Missing,
        None => {
            let route = chat_route.get();
            !route.is_chat() || route.project_id().is_some_and(|id| projects.is_missing(id))
        }
    };
    view! {
        <form
            class="composer"
            class:hidden=is_hidden
            aria-label=texts::NEW_MESSAGE
            method="post"
            action="/send"
            on:submit=move |event| {
                event.prevent_default();
                send();
            }
        >
            <Queue/>
            <SendError/>
            <ThinkingNote/>
            <When when=move || busy.get()>
                <p class="composer-note without-script">
                    {texts::STILL_WRITING}
                </p>
            </When>
            <div class="composer-box">
                // Only for pages without scripts.
                <input type="hidden" name="intent_id" value=intent_id.to_string()/>
                <input type="hidden" name="conversation_id" value=conversation_id.to_string()/>
                <input type="hidden" name="message_id" value=message_id.to_string()/>
                <input type="hidden" name="begins" value=begins.then_some("yes")/>
                <input type="hidden" name="project_id" value=project_id.map(|id| id.to_string())/>
                <PasteChips pastes/>
                <FileChips/>
                <DropTarget/>
                <label class="visually-hidden" for="message">{texts::MESSAGE}</label>
                <textarea
                    node_ref=area
                    id="message"
                    name="message"
                    rows="1"
                    // Sets the direction of right-to-left text from the first letter on.
                    dir="auto"
                    placeholder=placeholder
                    autocomplete="off"
                    required=move || pastes.is_empty() && !files.has_files(chat_route.get())
                    on:paste=on_paste
                    on:keydown=on_key
                    on:input=on_input
                ></textarea>
                <div class="visually-hidden" role="status">
                    {move || waiting
                        .with(|waiting| waiting.contains(&chat_route.get()))
                        .then_some(texts::SENT_AFTER_UPLOAD)}
                </div>
                <div class="composer-bar">
                    <AddButton/>
                    <ModelPicker/>
                    <EffortButton is_asking/>
                    <SearchMark/>
                    <EndpointProblems/>
                    <Gauge/>
                    <SendButton busy area/>
                </div>
            </div>
        </form>
        <ParametersDialog is_asking/>
    }
}

/// Binds the box to the draft of the current route.
fn bind_draft(area: NodeRef<html::Textarea>, pastes: Pastes) {
    let (outbox, tray, files) = (use_outbox(), use_tray(), use_next_message().files);
    let chat_route = use_navigation().chat_route();
    Effect::new(move |before: Option<Route>| {
        let route = chat_route.get();
        // A returned message is a draft again.
        outbox.track_returned_messages();
        pastes.load(route);
        files.load(route);
        let Some(area) = area.get() else { return route };
        if before.is_none() && !area.value().is_empty() {
            // Text typed before hydration.
            drafts::save(route, &area.value());
        } else {
            let draft = drafts::load(route);
            if area.value() != draft {
                area.set_value(&draft);
            }
        }
        browser::fit_height(&area);
        let is_to_write = before != Some(route) && tray.should_take_focus();
        // The box may still be hidden until the next frame.
        browser::on_next_frame(move || {
            browser::fit_height(&area);
            if is_to_write {
                browser::focus_input(&area);
            }
        });
        route
    });
}

/// The reason why the last message here could not be sent. Its text is back in the box.
#[component]
fn SendError() -> impl IntoView {
    let (outbox, chat_route) = (use_outbox(), use_navigation().chat_route());
    let error = move || outbox.send_error(chat_route.get());
    let shown = move || {
        error().map(|error| {
            view! {
                <p class="composer-error">
                    {icons::alert()}
                    <span>{texts::not_sent(&error)}</span>
                </p>
            }
            .erase()
        })
    };
    view! { <div role="alert">{shown}</div> }
}

/// The button for Send and Stop: one element, to keep the focus.
#[component]
fn SendButton(busy: Memo<bool>, area: NodeRef<html::Textarea>) -> impl IntoView {
    let (conversations, run_intents) = (use_conversations(), use_run_intents());
    let navigation = use_navigation();
    let press = move |event: ev::MouseEvent| {
        if !busy.get_untracked() {
            return;
        }
        event.prevent_default();
        if let Some(id) = navigation.shown_conversation() {
            run_intents.stop(id);
        }
        if let Some(area) = area.get_untracked() {
            browser::focus_input(&area);
        }
    };
    let label = move || if busy.get() { texts::STOP } else { texts::SEND };
    // The fields that the plain form submits for *Stop*.
    let run = move || {
        let run = conversations.current_view()?.active_run.get()?;
        Some(run.to_string())
    };
    view! {
        <When when=move || busy.get()>
            <button
                type="submit"
                class="send send-later"
                aria-label=texts::QUEUE
                title=texts::QUEUE_TITLE
            >
                {icons::send()}
            </button>
        </When>
        <button
            type="submit"
            class="send"
            class:send-stop=busy
            aria-label=label
            title=move || if busy.get() { Shortcut::Stop.title(texts::STOP) } else { texts::SEND.into() }
            aria-keyshortcuts=move || busy.get().then(|| Shortcut::Stop.aria())
            name="stop"
            value=run
            formnovalidate=busy
            on:click=press
        >
            {move || if busy.get() { icons::stop() } else { icons::send() }}
        </button>
    }
}
