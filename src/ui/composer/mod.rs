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
use super::{browser, state::ConversationPhase, state::Live, state::use_live, tray::use_tray};
use crate::ui::{
    components::icons, runtime::erase::Erase, runtime::when::When, state::drafts, state::models::Models,
    state::route::Route, state::snapshot::FormIds,
};

/// The box, the model, and *Send*, which is *Stop* while a run is active in this conversation.
#[component]
pub fn Composer() -> impl IntoView {
    let live = use_live();
    let models = expect_context::<Models>();
    let area = NodeRef::<html::Textarea>::new();
    let busy = Memo::new(move |_| live.current_view().is_some_and(|view| view.is_busy()));
    bind_draft(live, area);
    // True while the parameters dialog is open.
    let is_asking = RwSignal::new(false);

    let send = move || {
        let Some(area) = area.get_untracked() else { return };
        let route = live.chat_route.get_untracked();
        let text = area.value().trim().to_owned();
        if text.is_empty() || !route.is_chat() {
            return;
        }
        if busy.get_untracked() {
            live.toasts
                .show("The answer is still being written. Stop it, or send this when it is done.");
            return;
        }
        // The message is stored in the outbox before its draft is removed.
        live.send(route, text, models.requested(live));
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
            let route = live.chat_route.get_untracked();
            drafts::save(route, &area.value());
            browser::fit_height(&area);
            // A user who writes another message has read the error.
            live.dismiss_send_error(route);
        }
    };
    let FormIds {
        intent_id,
        conversation_id,
        message_id,
        begins,
    } = expect_context();
    // Without a conversation, messages have no recipient.
    let is_hidden = move || match live.current_view() {
        Some(view) => view.phase.get() == ConversationPhase::Missing,
        None => !live.chat_route.get().is_chat(),
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
fn bind_draft(live: Live, area: NodeRef<html::Textarea>) {
    Effect::new(move |before: Option<Route>| {
        let route = live.chat_route.get();
        // A returned message is a draft again.
        live.send_errors.track();
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
        let is_to_write = before != Some(route) && use_tray().should_take_focus();
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
    let live = use_live();
    let error = move || {
        let route = live.chat_route.get();
        live.send_errors.with(|errors| {
            errors
                .iter()
                .find(|(of, _)| *of == route)
                .map(|(_, error)| error.clone())
        })
    };
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

/// One button for both, so that the focus stays when it changes.
#[component]
fn SendButton(busy: Memo<bool>, area: NodeRef<html::Textarea>) -> impl IntoView {
    let live = use_live();
    let press = move |event: ev::MouseEvent| {
        if !busy.get_untracked() {
            return;
        }
        event.prevent_default();
        if let Some(id) = live.chat_route.get_untracked().conversation_id() {
            live.stop(id);
        }
        if let Some(area) = area.get_untracked() {
            browser::focus_input(&area);
        }
    };
    let label = move || if busy.get() { "Stop" } else { "Send" };
    // The fields that the plain form submits for *Stop*.
    let run = move || {
        let run = live.current_view()?.active_run.get()?;
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
