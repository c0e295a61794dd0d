//! The place that was opened from a search: shown, and kept in view while what is around it is still being drawn. What was found
//! in the conversation itself can be stepped through.

use leptos::{ev, prelude::*};

use super::{scroll::EndFollower, texts};
use crate::{
    browser,
    commands::Shortcut,
    components::{icon_button::IconButton, icons},
    runtime::{effect::effect, erase::Erase, when::When},
    state::{ConversationView, FoundPlace, use_conversations},
};
use parlor_protocol::{ConversationId, MessageId};

/// The place of a conversation on the screen.
#[derive(Clone, Copy)]
pub struct Found {
    follower: EndFollower,
    /// The place, until the user scrolls away from it.
    place: StoredValue<Option<FoundPlace>>,
}

impl Found {
    /// Shows places in a conversation from now on, once their messages are there.
    pub fn new(view: &ConversationView, follower: EndFollower) -> Self {
        let found = Self {
            follower,
            place: StoredValue::new(None),
        };
        let (id, rows) = (view.id, view.rows.clone());
        let conversations = use_conversations();
        // The same place may be opened again.
        effect(move || found.place.set_value(conversations.place(id)));
        effect(move || {
            rows.track();
            conversations.place(id);
            // The rows are drawn by then.
            browser::on_next_frame(move || found.show_again());
        });
        found
    }

    /// Scrolls to the place again, after a change of what is around it.
    pub fn show_again(self) {
        let Some(FoundPlace {
            message_id,
            tool_call,
            words,
            ..
        }) = self.place.try_get_value().flatten()
        else {
            return;
        };
        self.follower.leave_end();
        let call = tool_call.map(|call| ["[data-call=\"", &call.to_string(), "\"]"].concat());
        browser::show_found(".transcript", &message_id.to_string(), call.as_deref(), &words);
    }

    /// Leaves the scroll position to the user.
    pub fn leave(self) {
        self.place.set_value(None);
    }
}

/// The calls of an answer, of which the search may open one.
#[derive(Clone, Copy)]
pub struct FoundCalls {
    conversation_id: ConversationId,
    message_id: MessageId,
    found: Option<Found>,
}

impl FoundCalls {
    /// Of the answer with this id.
    pub fn new(conversation_id: ConversationId, message_id: MessageId) -> Self {
        Self {
            conversation_id,
            message_id,
            found: use_context(),
        }
    }

    /// Shows the place again when a call that was found has been opened: its result was not drawn before.
    pub fn show_again(self) {
        if let Some(found) = self.found {
            browser::on_next_frame(move || found.show_again());
        }
    }

    /// Calls `open` whenever the result of a call is opened from a search, if `is_meant` is true for the call's number.
    pub fn on_found(self, is_meant: impl Fn(usize) -> bool + 'static, open: impl Fn() + 'static) {
        let conversations = use_conversations();
        effect(move || {
            let place = conversations.place(self.conversation_id);
            let place = place.filter(|place| place.message_id == self.message_id);
            if place.and_then(|place| place.tool_call).is_some_and(&is_meant) {
                open();
            }
        });
    }
}

/// The bar with which one steps through what was found in a conversation.
pub fn found_steps(id: ConversationId) -> AnyView {
    let conversations = use_conversations();
    let place = Memo::new(move |_| {
        let found = conversations.found(id)?;
        Some(texts::place_of(found.shown + 1, found.count(), found.has_more))
    });
    let is_shown = Memo::new(move |_| place.with(Option::is_some));
    let close = move || {
        conversations.leave_place(id);
        browser::focus_selector(".transcript");
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if Shortcut::StepFound.is_pressed(&event) {
            conversations.step_found(id, event.key() == "ArrowDown");
        } else if Shortcut::Close.is_pressed(&event) {
            close();
        } else {
            return;
        }
        event.prevent_default();
    };
    let step = move |name, icon, is_forward| {
        IconButton::new(name, icon, move || conversations.step_found(id, is_forward))
    };
    view! {
        // It is there before its first text, so that screen readers read that.
        <p class="visually-hidden" role="status">{move || place.get()}</p>
        <When when=move || is_shown.get()>
            <div class="found-steps" role="group" aria-label=texts::FOUND_PLACES on:keydown=on_key>
                <span aria-hidden="true">{move || place.get()}</span>
                {step(texts::PREVIOUS_PLACE, icons::chevron(), false).class("found-previous").view()}
                {step(texts::NEXT_PLACE, icons::chevron(), true).class("found-next").view()}
                {IconButton::new(texts::CLOSE, icons::close(), close).view()}
            </div>
        </When>
    }
    .erase()
}
