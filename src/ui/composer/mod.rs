//! Where one writes. A plain form without scripts; with them, one box for all conversations, each with its draft.

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

/// The box, the model, and *Send*, which is *Stop* while this conversation is being answered.
#[component]
pub fn Composer() -> impl IntoView {
    let live = use_live();
    let models = expect_context::<Models>();
    let area = NodeRef::<html::Textarea>::new();
    let busy = Memo::new(move |_| live.current_view().is_some_and(|view| view.is_busy()));
    bind_draft(live, area);
    // The dialog about how the model is asked is open.
    let is_asking = RwSignal::new(false);

    let send = move || {
        let Some(area) = area.get_untracked() else { return };
        let place = live.chat_route.get_untracked();
        let text = area.value().trim().to_owned();
        if text.is_empty() || !place.is_chat() {
            return;
        }
        if busy.get_untracked() {
            live.toasts
                .show("The answer is still being written. Stop it, or send this when it is done.");
            return;
        }
        // It is kept as what is being sent before it is no draft any more.
        live.send(place, text, models.requested(live));
        drafts::remove(place);
        area.set_value("");
        browser::fit_height(&area);
        browser::focus(&area);
    };
    let on_key = move |event: ev::KeyboardEvent| {
        // While an input method composes, Enter belongs to it (229 is how Safari says so).
        let composing = event.is_composing() || event.key_code() == 229;
        // On a screen's keyboard there is no other way to begin a line.
        if event.key() == "Enter" && !event.shift_key() && !composing && browser::has_hardware_keyboard() {
            event.prevent_default();
            send();
        }
    };
    let on_input = move |_| {
        if let Some(area) = area.get_untracked() {
            let place = live.chat_route.get_untracked();
            drafts::save(place, &area.value());
            browser::fit_height(&area);
            // Why the last one was not sent has been read by whoever writes another.
            live.dismiss_send_error(place);
        }
    };
    let FormIds {
        intent_id,
        conversation_id,
        message_id,
        begins,
    } = expect_context();
    // Where nothing is there is nobody to write to.
    let nobody = move || match live.current_view() {
        Some(view) => view.phase.get() == ConversationPhase::Missing,
        None => !live.chat_route.get().is_chat(),
    };
    view! {
        <form
            class="composer"
            class:hidden=nobody
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
                // Only for those without scripts.
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
                    // Whoever writes from right to left does so from the first letter on.
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

/// The draft of where one is, in the box.
fn bind_draft(live: Live, area: NodeRef<html::Textarea>) {
    Effect::new(move |before: Option<Route>| {
        let place = live.chat_route.get();
        // A message that came back is a draft again.
        live.send_errors.track();
        let Some(area) = area.get() else { return place };
        if before.is_none() && !area.value().is_empty() {
            // Written before the page was taken over.
            drafts::save(place, &area.value());
        } else {
            let draft = drafts::load(place);
            if area.value() != draft {
                area.set_value(&draft);
            }
        }
        browser::fit_height(&area);
        let is_to_write = before != Some(place) && use_tray().should_take_focus();
        // Where there was nobody to write to, the box is still hidden now.
        browser::on_next_frame(move || {
            browser::fit_height(&area);
            if is_to_write {
                browser::focus_input(&area);
            }
        });
        place
    });
}

/// Why the last message here could not be sent. Its text is back in the box.
#[component]
fn SendError() -> impl IntoView {
    let live = use_live();
    let error = move || {
        let place = live.chat_route.get();
        live.send_errors.with(|unsent| {
            unsent
                .iter()
                .find(|(of, _)| *of == place)
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

/// One button, so that the focus stays where it is when it changes.
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
    // What the plain form says when *Stop* is pressed in it.
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
