//! Sending of messages: each is shown at once, stored in the browser until the server has it, and processed once.

use leptos::{prelude::*, task::spawn_local};

use super::{
    Live,
    outbox::{MessageOptions, OutboxUpdate, OutgoingMessage},
    outbox_storage,
};
use crate::{
    api::rpc,
    protocol::ApiError,
    protocol::ConversationId,
    protocol::ErrorCode,
    protocol::Interaction,
    protocol::MessageId,
    protocol::intent::SendMessage,
    ui::{browser, runtime::backoff::backoff_ms, state::drafts, state::route::Route},
};

impl Live {
    /// Sends the user's message from the route. On the new chat it starts a conversation.
    pub fn send(self, from: Route, text: String, model: Option<String>) {
        self.send_interaction(from, text, model, Interaction::default());
    }

    /// Sends a message, typed or not, with the options of the next message and the page context.
    pub fn send_interaction(
        self,
        from: Route,
        text: String,
        model: Option<String>,
        interaction: Interaction,
    ) {
        let mut extras = MessageOptions {
            interaction,
            ..MessageOptions::default()
        };
        self.next_message.apply_to(from, &mut extras);
        self.send_errors
            .update(|errors| errors.retain(|(route, _)| *route != from));
        let beside = self.side_page.get_untracked();
        extras.context = beside.map(|beside| untrack(|| beside.context.run(())));
        let sending = self.with_state(|state| {
            let sending = state.outbox.enqueue(from, text, model, extras);
            outbox_storage::store(&sending);
            let id = sending.intent.conversation_id;
            if let Some(begun) = sending.provisional_transcript()
                && state.replica.transcripts.get(id).is_none()
            {
                state.replica.transcripts.insert(begun);
            }
            state.dirty.mark_conversation(id);
            sending
        });
        self.flush();
        if from == Route::New {
            self.navigate
                .run((Route::Conversation(sending.intent.conversation_id), true));
        }
        self.post(sending.intent);
    }

    /// Resumes messages that an earlier page had not finished sending.
    pub(super) fn resume_outbox(self) {
        let begun = self.with_state(|state| {
            for sending in outbox_storage::load_all() {
                state.dirty.mark_conversation(sending.intent.conversation_id);
                state.outbox.restore(sending);
            }
            state
                .outbox
                .provisional_transcript(self.chat_route.get_untracked())
        });
        if let Some(begun) = begun {
            self.show_provisional(begun);
        }
        self.flush();
        self.retry_held();
    }

    /// Retries all messages that wait for the connection.
    pub(super) fn retry_held(self) {
        for message in self.with_state(|state| state.outbox.held()) {
            self.deliver(message);
        }
    }

    fn deliver(self, message: MessageId) {
        let intent = self.with_state(|state| {
            // A message that another tab withdrew or saw delivered is not sent.
            if !outbox_storage::contains(message) {
                let dropped = state.outbox.mark_failed(message, false)?;
                state.dirty.mark_conversation(dropped.intent.conversation_id);
                return None;
            }
            let intent = state.outbox.retry(message)?;
            state.dirty.mark_conversation(intent.conversation_id);
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
            match self.call(rpc::send_message(intent)).await {
                Ok(started) => {
                    outbox_storage::remove(message);
                    if let Some(run) = self.with_state(|state| state.outbox.mark_started(&started)) {
                        self.stop_run(run);
                    }
                    self.reload_if_missing(id, message);
                }
                Err(error) if matches!(error.code, ErrorCode::Unreachable | ErrorCode::Unavailable) => {
                    self.retry_later(message);
                }
                Err(error) => self.on_rejected(message, &error),
            }
        });
    }

    /// Reloads the conversation if a message that the server acknowledged is missing. The server may have received it
    /// long ago; the stream, which starts later, does not report it then.
    fn reload_if_missing(self, id: ConversationId, message: MessageId) {
        let missed = self.with_state(|state| {
            let cache = &mut state.replica.transcripts;
            let known = cache
                .get(id)
                .is_none_or(|transcript| transcript.message(message).is_some());
            !known && cache.begin_reload(id)
        });
        if missed {
            self.load_conversation(id);
        }
    }

    /// Schedules a retry for when the server is unreachable.
    fn retry_later(self, message: MessageId) {
        let Some(tries) = self.with_state(|state| {
            let tries = state.outbox.hold(message)?;
            let id = state.outbox.conversation_id(message)?;
            state.dirty.mark_conversation(id);
            Some(tries)
        }) else {
            return;
        };
        self.flush();
        browser::set_timeout(backoff_ms(tries), move || self.deliver(message)).detach();
    }

    /// Returns a rejected message to the draft of its route.
    fn on_rejected(self, message: MessageId, error: &ApiError) {
        let may_be_delivered = error.code == ErrorCode::Internal;
        let Some(sending) = self.with_state(|state| {
            let sending = state.outbox.mark_failed(message, may_be_delivered)?;
            state.dirty.mark_conversation(sending.intent.conversation_id);
            Some(sending)
        }) else {
            return;
        };
        outbox_storage::remove(message);
        // The text of a button is not a draft: the user has not typed it.
        if matches!(sending.intent.interaction, Interaction::ActionExecuted { .. }) {
            self.next_message.restore(&sending);
            self.toasts.show(error.message.clone());
            return self.flush();
        }
        self.restore_draft(&sending);
        self.send_errors
            .update(|errors| errors.push((sending.from, error.message.clone())));
        // Withdraws the draft and the error if the stream has brought the message already: it was delivered.
        self.flush();
        let is_unsent = self
            .send_errors
            .with_untracked(|errors| errors.iter().any(|(route, _)| *route == sending.from));
        if is_unsent {
            self.return_to_new_chat(sending.intent.conversation_id, sending.from);
        }
    }

    /// Makes a message a draft again.
    fn restore_draft(self, sending: &OutgoingMessage) {
        drafts::restore(sending.from, &sending.intent.text);
        self.next_message.restore(sending);
    }

    /// Withdraws a message that waits for the connection; it becomes a draft again.
    pub fn withdraw_message(self, id: ConversationId) {
        let Some(sending) = self.with_state(|state| {
            let sending = state.outbox.withdraw(id)?;
            state.dirty.mark_conversation(id);
            Some(sending)
        }) else {
            return;
        };
        outbox_storage::remove(sending.intent.user_message_id);
        self.restore_draft(&sending);
        // Makes the input show the draft.
        self.send_errors
            .update(|errors| errors.retain(|(route, _)| *route != sending.from));
        self.flush();
        self.return_to_new_chat(id, sending.from);
        browser::focus_selector("#message");
    }

    /// Leaves a conversation that was not created after all for the new chat.
    fn return_to_new_chat(self, id: ConversationId, from: Route) {
        if from == Route::New && self.chat_route.get_untracked() == Route::Conversation(id) {
            self.navigate.run((Route::New, true));
        }
    }

    /// Applies the result of matching the outbox with a transcript.
    pub(super) fn apply_outbox_update(self, update: OutboxUpdate) {
        update.delivered.into_iter().for_each(outbox_storage::remove);
        if let Some(sending) = update.recovered {
            drafts::remove_sent(sending.from, &sending.intent.text);
            self.next_message.clear_sent(&sending);
            self.send_errors
                .update(|errors| errors.retain(|(route, _)| *route != sending.from));
        }
        if let Some(run) = update.run_to_stop {
            self.stop_run(run);
        }
    }
}
