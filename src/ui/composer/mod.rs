//! The composer: the message input. A plain form without scripts; with them, one box for all conversations, each with
//! its draft.

mod gauge;
mod parameters;
mod picker;
mod search;

use leptos::{ev, html, prelude::*};

use self::{
    gauge::Gauge,
    parameters::{ParametersButton, ParametersDialog},
    picker::{EndpointProblems, ModelPicker},
    search::SearchToggle,
};
use crate::ui::{
    browser,
    components::{icons, toast::use_toasts},
    runtime::{erase::Erase, when::When},
    state::{
        ConversationPhase, drafts, route::Route, snapshot::FormIds, tray::use_tray, use_conversations,
        use_models, use_navigation, use_outbox, use_run_intents,
    },
};

/// The box, the model, and *Send*, which is *Stop* while a run is active in this conversation.
#[component]
pub fn Composer() -> impl IntoView {
    let (models, run_intents, outbox, toasts) = (use_models(), use_run_intents(), use_outbox(), use_toasts());
    let conversations = use_conversations();
    let chat_route = use_navigation().chat_route();
    let area = NodeRef::<html::Textarea>::new();
    let busy = Memo::new(move |_| conversations.current_view().is_some_and(|view| view.is_busy()));
    bind_draft(area);
    // True while the parameters dialog is open.
    let is_asking = RwSignal::new(false);

    let send = move || {
        let Some(area) = area.get_untracked() else { return };
        let route = chat_route.get_untracked();
        let text = area.value().trim().to_owned();
        if text.is_empty() || !route.is_chat() {
            return;
        }
        if busy.get_untracked() {
            toasts.show("The answer is still being written. Stop it, or send this when it is done.");
            return;
        }
        // The message is stored in the outbox before its draft is removed.
        run_intents.send(route, text, models.requested());
        drafts::remove(route);
        area.set_value("");
        browser::fit_height(&area);
        browser::focus(&area);
    };
    let on_key = move |event: ev::KeyboardEvent| {
        // While an input method composes, Enter belongs to it (229 is the key code in Safari).
        let composing = event.is_composing() || event.key_code() == 229;
        // On-screen keyboards have no other way to insert a line break.
        if event.key() == "Enter" && !event.shift_key() && !composing && browser::has_hardware_keyboard() {
            event.prevent_default();
            send();
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
    } = expect_context();
    // Without a conversation, messages have no recipient.
    let is_hidden = move || match conversations.current_view() {
        Some(view) => view.phase.get() == ConversationPhase::Missing,
        None => !chat_route.get().is_chat(),
    };
    view! {
        <form
            class="composer"
            class:hidden=is_hidden
            aria-label="New message"
            method="post"
            action="/send"
            on:submit=move |event| {
                event.prevent_default();
                send();
            }
        >
            <SendError/>
            <When when=move || busy.get()>
                <p class="composer-note without-script">
                    "The answer is still being written. Load the page again to see more of it."
                </p>
            </When>
            <div class="composer-box">
                // Only for pages without scripts.
                <input type="hidden" name="intent_id" value=intent_id.to_string()/>
                <input type="hidden" name="conversation_id" value=conversation_id.to_string()/>
                <input type="hidden" name="message_id" value=message_id.to_string()/>
                <input type="hidden" name="begins" value=begins.then_some("yes")/>
                <label class="visually-hidden" for="message">"Message"</label>
                <textarea
                    node_ref=area
                    id="message"
                    name="message"
                    rows="1"
                    // Sets the direction of right-to-left text from the first letter on.
                    dir="auto"
                    placeholder="Write a message"
                    autocomplete="off"
                    required
                    on:keydown=on_key
                    on:input=on_input
                ></textarea>
                <div class="composer-bar">
                    <ModelPicker/>
                    <EndpointProblems/>
                    <ParametersButton is_asking/>
                    <SearchToggle/>
                    <Gauge/>
                    <SendButton busy area/>
                </div>
            </div>
        </form>
        <ParametersDialog is_asking/>
    }
}

/// Binds the box to the draft of the current route.
fn bind_draft(area: NodeRef<html::Textarea>) {
    let (outbox, tray) = (use_outbox(), use_tray());
    let chat_route = use_navigation().chat_route();
    Effect::new(move |before: Option<Route>| {
        let route = chat_route.get();
        // A returned message is a draft again.
        outbox.track_returned_messages();
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
                    <span>"Not sent. " {error}</span>
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
    let label = move || if busy.get() { "Stop" } else { "Send" };
    // The fields that the plain form submits for *Stop*.
    let run = move || {
        let run = conversations.current_view()?.active_run.get()?;
        Some(run.to_string())
    };
    view! {
        <button
            type="submit"
            class="send"
            class:send-stop=busy
            aria-label=label
            title=label
            name="stop"
            value=run
            formnovalidate=busy
            on:click=press
        >
            {move || if busy.get() { icons::stop() } else { icons::send() }}
        </button>
    }
}
