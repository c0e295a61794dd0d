//! Sending messages: each is shown at once, kept until the server has it, and there once.

use leptos::{prelude::*, task::spawn_local};

use super::{
    Live, kept,
    outbox::{Extras, Sending, Settled},
};
use crate::{
    api::rpc,
    protocol::{ApiError, ConversationId, ErrorCode, Interaction, MessageId, intent::SendMessage},
    ui::{backoff::backoff, browser, drafts, place::Place},
};

impl Live {
    /// Sends what the person has written where they are. A new conversation begins with it.
    pub fn send(self, from: Place, text: String, model: Option<String>) {
        self.say(from, text, model, Interaction::default());
    }

    /// Sends a message, whether the person wrote it or not. What is wanted of the next message is wanted of this one, and what the
    /// person is looking at goes with it.
    pub fn say(self, from: Place, text: String, model: Option<String>, interaction: Interaction) {
        let mut extras = Extras {
            interaction,
            ..Extras::default()
        };
        self.wishes.take(from, &mut extras);
        self.unsent
            .update(|unsent| unsent.retain(|(place, _)| *place != from));
        let beside = self.beside.get_untracked();
        extras.context = beside.map(|beside| untrack(|| beside.context.run(())));
        let sending = self.with(|state| {
            let sending = state.outbox.begin(from, text, model, extras);
            kept::keep(&sending);
            let id = sending.intent.conversation_id;
            if let Some(begun) = sending.begun()
                && state.session.shelf.get(id).is_none()
            {
                state.session.shelf.put(begun);
            }
            state.dirty.conversation(id);
            sending
        });
        self.flush();
        if from == Place::New {
            self.go
                .run((Place::Conversation(sending.intent.conversation_id), true));
        }
        self.post(sending.intent);
    }

    /// Takes up what an earlier page had not brought to its end.
    pub(super) fn take_up_messages(self) {
        let begun = self.with(|state| {
            for sending in kept::all() {
                state.dirty.conversation(sending.intent.conversation_id);
                state.outbox.restore(sending);
            }
            state.outbox.begun(self.place.get_untracked())
        });
        if let Some(begun) = begun {
            self.show_begun(begun);
        }
        self.flush();
        self.deliver_held();
    }

    /// Tries again whatever waits for the connection.
    pub(super) fn deliver_held(self) {
        for message in self.with(|state| state.outbox.held()) {
            self.deliver(message);
        }
    }

    fn deliver(self, message: MessageId) {
        let intent = self.with(|state| {
            // What another tab took back, or saw arrive, is not to be sent.
            if !kept::has(message) {
                let dropped = state.outbox.failed(message, false)?;
                state.dirty.conversation(dropped.intent.conversation_id);
                return None;
            }
            let intent = state.outbox.release(message)?;
            state.dirty.conversation(intent.conversation_id);
            Some(intent)
        });
        self.flush();
        if let Some(intent) = intent {
            self.post(intent);
        }
    }

    fn post(self, intent: SendMessage) {
        spawn_local(async move {
            let (id, message) = (intent.conversation_id, intent.user_message_id);
            match self.ask(rpc::send_message(intent)).await {
                Ok(started) => {
                    kept::forget(message);
                    if let Some(run) = self.with(|state| state.outbox.started(&started)) {
                        self.stop_run(run);
                    }
                    self.catch_up_with(id, message);
                }
                Err(error) if matches!(error.code, ErrorCode::Unreachable | ErrorCode::Unavailable) => {
                    self.hold(message);
                }
                Err(error) => self.came_back(message, &error),
            }
        });
    }

    /// The server has a message that it may have had for long: then the stream, which goes on from later, does
    /// not tell of it.
    fn catch_up_with(self, id: ConversationId, message: MessageId) {
        let missed = self.with(|state| {
            let shelf = &mut state.session.shelf;
            let known = shelf
                .get(id)
                .is_none_or(|transcript| transcript.message(message).is_some());
            !known && shelf.ask_again(id)
        });
        if missed {
            self.load(id);
        }
    }

    /// A message waits until the server can be reached.
    fn hold(self, message: MessageId) {
        let Some(tries) = self.with(|state| {
            let tries = state.outbox.hold(message)?;
            let id = state.outbox.conversation(message)?;
            state.dirty.conversation(id);
            Some(tries)
        }) else {
            return;
        };
        self.flush();
        browser::after(backoff(tries), move || self.deliver(message)).forget();
    }

    /// A message was refused: it goes back to where it was written.
    fn came_back(self, message: MessageId, error: &ApiError) {
        let perhaps = error.code == ErrorCode::Internal;
        let Some(sending) = self.with(|state| {
            let sending = state.outbox.failed(message, perhaps)?;
            state.dirty.conversation(sending.intent.conversation_id);
            Some(sending)
        }) else {
            return;
        };
        kept::forget(message);
        // Nobody has written what a button says.
        if matches!(sending.intent.interaction, Interaction::ActionExecuted { .. }) {
            self.wishes.put_back(&sending);
            self.toasts.say(error.message.clone());
            return self.flush();
        }
        self.put_back(&sending);
        self.unsent
            .update(|unsent| unsent.push((sending.from, error.message.clone())));
        // Takes both back if the stream has brought the message already: it did get through.
        self.flush();
        let is_unsent = self
            .unsent
            .with_untracked(|unsent| unsent.iter().any(|(place, _)| *place == sending.from));
        if is_unsent {
            self.back_from(sending.intent.conversation_id, sending.from);
        }
    }

    /// A message is a draft again.
    fn put_back(self, sending: &Sending) {
        drafts::put_back(sending.from, &sending.intent.text);
        self.wishes.put_back(sending);
    }

    /// The person wants a message back that waits for the connection: it is a draft again.
    pub fn take_back(self, id: ConversationId) {
        let Some(sending) = self.with(|state| {
            let sending = state.outbox.take_back(id)?;
            state.dirty.conversation(id);
            Some(sending)
        }) else {
            return;
        };
        kept::forget(sending.intent.user_message_id);
        self.put_back(&sending);
        // Has the box show the draft.
        self.unsent
            .update(|unsent| unsent.retain(|(place, _)| *place != sending.from));
        self.flush();
        self.back_from(id, sending.from);
        browser::focus_selector("#message");
    }

    /// A conversation that does not begin after all is left for the new chat.
    fn back_from(self, id: ConversationId, from: Place) {
        if from == Place::New && self.place.get_untracked() == Place::Conversation(id) {
            self.go.run((Place::New, true));
        }
    }

    /// Does what follows from what became of a conversation's messages.
    pub(super) fn settled(self, settled: Settled) {
        settled.arrived.into_iter().for_each(kept::forget);
        if let Some(sending) = settled.got_through {
            drafts::take_out(sending.from, &sending.intent.text);
            self.wishes.take_out(&sending);
            self.unsent
                .update(|unsent| unsent.retain(|(place, _)| *place != sending.from));
        }
        if let Some(run) = settled.stop {
            self.stop_run(run);
        }
    }
}
