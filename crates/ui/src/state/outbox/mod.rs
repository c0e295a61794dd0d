//! The outbox: what the user has sent and the server has not begun, with the messages that it refused.
//!
//! [`messages`] and [`reruns`] are pure; messages are also kept in the browser's [`storage`]. The requests are made by
//! [`RunIntents`](super::run_intents::RunIntents).

mod messages;
mod reruns;
mod runs;
mod storage;

use leptos::prelude::*;

pub use self::messages::PendingSend;
pub(super) use self::messages::{MessageOptions, OutgoingMessage};
use self::{messages::OutgoingMessages, reruns::Reruns};
use super::{
    connection::Connection,
    next_message::{NextMessage, drafts},
    route::Route,
};
use crate::{browser, components::toast::Toasts, runtime::page_state::PageState};
use parlor_protocol::{
    ApiError, Attachment, ConversationId, ErrorCode, IntentId, Interaction, Message, MessageBody, MessageId,
    Transcript,
    intent::{SendMessage, StartedRun},
};

/// A message for the queue: its id, its text, its files and its sending state.
pub(super) type OutgoingRow = (MessageId, String, Vec<Attachment>, PendingSend);

/// The outbox. One per page.
#[derive(Clone, Copy)]
pub struct Outbox {
    state: PageState<OutboxState>,
    /// Messages that could not be sent: the route, and the text for the user. The message text is in the drafts.
    send_errors: RwSignal<Vec<(Route, String)>>,
    next_message: NextMessage,
    connection: Connection,
    toasts: Toasts,
}

#[derive(Default)]
struct OutboxState {
    messages: OutgoingMessages,
    reruns: Reruns,
}

/// The next step for a message that waits for the connection.
pub(super) enum Retry {
    Send(Box<SendMessage>),
    /// Another tab has withdrawn the message or seen it delivered.
    Dropped(ConversationId),
}

impl Outbox {
    pub(super) fn new(next_message: NextMessage, connection: Connection, toasts: Toasts) -> Self {
        Self {
            state: PageState::default(),
            send_errors: RwSignal::default(),
            next_message,
            connection,
            toasts,
        }
    }

    /// The reason why the last message of a route could not be sent. Tracked.
    pub fn send_error(self, route: Route) -> Option<String> {
        self.send_errors.with(|errors| {
            let error = errors.iter().find(|(of, _)| *of == route);
            error.map(|(_, error)| error.clone())
        })
    }

    /// Tracks the messages that become drafts again.
    pub fn track_returned_messages(self) {
        self.send_errors.track();
    }

    /// Dismisses the send error, because the user continues to write.
    pub fn dismiss_send_error(self, route: Route) {
        if self.has_send_error(route) {
            self.clear_send_error(route);
        }
    }

    /// The sending state of a conversation.
    pub(super) fn pending_send(self, id: ConversationId) -> PendingSend {
        self.state.with(|state| match state.messages.pending_send(id) {
            PendingSend::Nothing if state.reruns.is_pending(id) => PendingSend::Requested,
            pending_send => pending_send,
        })
    }

    /// The message of a conversation that waits for its run, as it will be in the transcript, and the message that it
    /// is another version of.
    pub(super) fn pending_message(self, id: ConversationId) -> Option<(Message, Option<MessageId>)> {
        self.state.with(|state| {
            let OutgoingMessage { intent, files, .. } = state.messages.message_for(id)?;
            let SendMessage {
                user_message_id,
                text,
                interaction,
                replaces,
                ..
            } = intent;
            let message = Message {
                id: *user_message_id,
                parent_id: None,
                created_at: browser::now(),
                body: MessageBody::User {
                    text: text.clone(),
                    files: files.clone(),
                    interaction: interaction.clone(),
                },
            };
            Some((message, *replaces))
        })
    }

    /// The messages of a conversation that were written while a run was active, until the server has them.
    pub(super) fn queued_messages(self, id: ConversationId) -> Vec<OutgoingRow> {
        self.state.with(|state| {
            let queued = state.messages.queued_for(id);
            queued
                .map(|sending| {
                    let SendMessage {
                        user_message_id,
                        text,
                        ..
                    } = &sending.intent;
                    let pending_send = sending.pending_send();
                    (
                        *user_message_id,
                        text.clone(),
                        sending.files.clone(),
                        pending_send,
                    )
                })
                .collect()
        })
    }

    /// The next message of a conversation that the server has to get.
    pub(super) fn next_undelivered(self, id: ConversationId) -> Option<MessageId> {
        self.state.with(|state| state.messages.next_undelivered(id))
    }

    /// Removes a message that the server has queued.
    pub(super) fn remove_queued(self, message: MessageId) {
        storage::remove(message);
        self.state.with(|state| state.messages.remove_queued(message));
    }

    /// Takes back a queued message that waits for the connection; it becomes a draft again.
    pub(super) fn withdraw_queued(self, message: MessageId) -> bool {
        let withdrawn = self.state.with(|state| state.messages.withdraw_message(message));
        let is_withdrawn = withdrawn.is_some();
        if let Some(sending) = withdrawn {
            storage::remove(message);
            self.restore_draft(&sending);
            self.send_errors.notify();
        }
        is_withdrawn
    }

    /// Adds a text that can't be used elsewhere any more to the draft of a route.
    pub fn return_text(self, route: Route, text: &str) {
        drafts::restore(route, text);
        self.send_errors.notify();
    }

    /// The provisional transcript of a conversation that starts with a message being sent.
    pub(super) fn provisional_transcript(self, id: ConversationId) -> Option<Transcript> {
        self.state
            .with(|state| state.messages.message_for(id)?.provisional_transcript())
    }

    /// Intents that the server has acknowledged. A snapshot that is requested from now on includes their results,
    /// unless these are outside its range.
    pub(super) fn known_intents(self, id: ConversationId) -> Vec<IntentId> {
        self.state.with(|state| {
            let messages = state.messages.known_intents(id);
            messages.chain(state.reruns.known_intents(id)).collect()
        })
    }

    /// Forgets intents that were known when the received snapshot was requested.
    pub(super) fn forget_intents(self, known: &[IntentId]) {
        self.state.with(|state| {
            state.messages.forget_intents(known);
            state.reruns.forget_intents(known);
        });
    }

    /// Matches a conversation's messages and runs with its transcript.
    pub(super) fn reconcile(self, transcript: &Transcript) {
        let update = self.state.with(|state| {
            state.reruns.reconcile(transcript);
            state.messages.reconcile(transcript)
        });
        update.delivered.into_iter().for_each(storage::remove);
        if let Some(OutgoingMessage { from, intent, .. }) = update.recovered {
            drafts::remove_sent(from, &intent.text);
            self.next_message.files.remove_sent(from, &intent.files);
            self.next_message.clear_sent(from, &intent);
            self.clear_send_error(from);
        }
        if let Some(run) = update.run_to_stop {
            self.stop_run(run);
        }
    }

    /// Adds a message, and stores it until the server has it.
    pub(super) fn enqueue(
        self,
        from: Route,
        text: String,
        model: Option<String>,
        options: MessageOptions,
        is_queued: bool,
    ) -> OutgoingMessage {
        self.clear_send_error(from);
        let sending = self
            .state
            .with(|state| state.messages.enqueue(from, text, model, options, is_queued));
        storage::store(&sending);
        sending
    }

    /// Adds the messages that earlier pages had not finished sending, and returns their conversations.
    pub(super) fn restore_stored(self) -> Vec<ConversationId> {
        let restored = storage::load_all();
        let ids = restored.iter().map(|sending| sending.intent.conversation_id);
        let ids = ids.collect();
        self.state.with(|state| {
            for sending in restored {
                state.messages.restore(sending);
            }
        });
        ids
    }

    /// The messages that wait for the connection.
    pub(super) fn awaiting_connection(self) -> Vec<MessageId> {
        self.state.with(|state| state.messages.awaiting_connection())
    }

    /// Returns the next step for a message that waits for the connection; `None` if it does not wait any more.
    pub(super) fn retry(self, message: MessageId) -> Option<Retry> {
        self.state.with(|state| {
            if storage::contains(message) {
                return state.messages.retry(message).map(Box::new).map(Retry::Send);
            }
            let dropped = state.messages.mark_failed(message, false)?;
            Some(Retry::Dropped(dropped.intent.conversation_id))
        })
    }

    /// Lets a message wait for the connection, since the server was unreachable. Returns its number of failed attempts.
    pub(super) fn await_connection(self, message: MessageId) -> Option<u32> {
        self.state.with(|state| state.messages.await_connection(message))
    }

    /// Records that the server has a message, and stops its run if the user asked for that already.
    pub(super) fn mark_started(self, started: &StartedRun) {
        storage::remove(started.user_message_id);
        if let Some(run) = self.state.with(|state| state.messages.mark_started(started)) {
            self.stop_run(run);
        }
    }

    /// Returns a rejected message to the draft of its route.
    pub(super) fn reject(self, message: MessageId, error: &ApiError) -> Option<OutgoingMessage> {
        let may_be_delivered = error.code == ErrorCode::Internal;
        let sending = self
            .state
            .with(|state| state.messages.mark_failed(message, may_be_delivered))?;
        storage::remove(message);
        // The text of a button is not a draft: the user has not typed it.
        if matches!(sending.intent.interaction, Interaction::ActionExecuted { .. }) {
            self.next_message.restore(sending.from, &sending.intent);
            self.toasts.show(error.message.clone());
        } else {
            self.restore_draft(&sending);
            self.send_errors
                .update(|errors| errors.push((sending.from, error.message.clone())));
        }
        Some(sending)
    }

    /// Returns true if a message of the route could not be sent. Not tracked.
    pub(super) fn has_send_error(self, route: Route) -> bool {
        self.send_errors
            .with_untracked(|errors| errors.iter().any(|(of, _)| *of == route))
    }

    /// Takes back a message that waits for the connection; it becomes a draft again.
    pub(super) fn withdraw(self, id: ConversationId) -> Option<OutgoingMessage> {
        let sending = self.state.with(|state| state.messages.withdraw(id))?;
        storage::remove(sending.intent.user_message_id);
        self.restore_draft(&sending);
        // Makes the input show the draft.
        self.clear_send_error(sending.from);
        Some(sending)
    }

    fn restore_draft(
        self,
        OutgoingMessage {
            from, intent, files, ..
        }: &OutgoingMessage,
    ) {
        drafts::restore(*from, &intent.text);
        self.next_message
            .files
            .restore(*from, intent.conversation_id, files);
        self.next_message.restore(*from, intent);
    }

    fn clear_send_error(self, route: Route) {
        self.send_errors
            .update(|errors| errors.retain(|(of, _)| *of != route));
    }
}
