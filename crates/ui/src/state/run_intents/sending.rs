//! Sending of messages: each is shown at once, stored in the browser until the server has it, and processed once.

use futures::FutureExt;
use leptos::{
    prelude::{GetUntracked, untrack},
    task::spawn_local,
};

use super::RunIntents;
use crate::{
    api::rpc,
    browser,
    runtime::backoff::backoff_ms,
    state::texts,
    state::{
        outbox::{MessageOptions, Retry},
        route::Route,
    },
};
use parlor_protocol::{ApiError, ConversationId, FRESH_SESSION, Interaction, MessageId, intent::SendMessage};

impl RunIntents {
    /// Sends the user's message from the route. On the new chat it starts a conversation.
    pub fn send(self, from: Route, text: String, model: Option<String>) {
        self.send_interaction(from, text, model, Interaction::default());
    }

    /// Begins a conversation that goes on in the background: the page stays where it is.
    pub fn begin_beside(self, text: String, model: Option<String>) {
        let options = MessageOptions {
            // The option stays for the message that the page shows.
            temporary: untrack(|| self.next_message.is_temporary()),
            ..MessageOptions::default()
        };
        let sending = self.outbox.enqueue(Route::New, text, model, options, false);
        self.post(sending.intent.clone());
        self.conversations.show_outgoing(&sending);
    }

    /// Sends a message, typed or not, with the options of the next message and the page context.
    pub fn send_interaction(
        self,
        from: Route,
        text: String,
        model: Option<String>,
        interaction: Interaction,
    ) {
        let (force_tools, parameters) = self.next_message.take_options(from);
        let (files, new_conversation) = match interaction {
            Interaction::TextInput => self.next_message.files.take(from),
            _ => (Vec::new(), None),
        };
        let options = MessageOptions {
            force_tools,
            parameters,
            interaction,
            files,
            new_conversation,
            replaces: None,
            context: self.navigation.tray().page_context(),
            temporary: self.next_message.take_temporary(from),
            project_id: from.project_id(),
        };
        self.send_with(from, text, model, options);
    }

    /// Begins a fresh Python session with a message: earlier calls are not repeated for it.
    pub fn start_fresh_session(self, id: ConversationId) {
        let interaction = Interaction::ActionExecuted {
            action: FRESH_SESSION.into(),
            data: None,
        };
        let model = self.conversations.view(id).model.get_untracked();
        let text = texts::FRESH_SESSION_REQUEST.into();
        self.send_interaction(Route::Conversation(id), text, model, interaction);
        browser::focus_after_removal();
    }

    /// Sends another version of a message of the user, with the context of the first one. Returns false while a run is
    /// active: its branch stays on the screen.
    pub fn send_version(self, id: ConversationId, replaced: MessageId, text: String) -> bool {
        let view = self.conversations.view(id);
        if untrack(|| view.is_busy()) {
            self.toasts.show(texts::ANSWER_BEING_WRITTEN);
            return false;
        }
        let options = MessageOptions {
            replaces: Some(replaced),
            ..MessageOptions::default()
        };
        let model = view.model.get_untracked();
        self.send_with(Route::Conversation(id), text, model, options);
        true
    }

    fn send_with(self, from: Route, text: String, model: Option<String>, options: MessageOptions) {
        let view = from.conversation_id().map(|id| self.conversations.view(id));
        let is_queued = untrack(|| view.is_some_and(|view| view.is_busy()));
        let sending = self.outbox.enqueue(from, text, model, options, is_queued);
        let (id, message) = (sending.intent.conversation_id, sending.intent.user_message_id);
        // First of all, since it takes a while to show a new conversation.
        if self.outbox.next_undelivered(id) == Some(message) {
            self.post(sending.intent.clone());
        }
        self.conversations.show_outgoing(&sending);
        if from.begins_chat() {
            self.navigation.replace(Route::Conversation(id));
        }
    }

    /// Sends the next message of a conversation.
    fn deliver_next(self, id: ConversationId) {
        if let Some(next) = self.outbox.next_undelivered(id) {
            self.deliver(next);
        }
    }

    /// Resumes messages that an earlier page had not finished sending.
    pub(in crate::state) fn resume_stored(self) {
        for id in self.outbox.restore_stored() {
            self.conversations.refresh(id);
        }
        let shown = self.navigation.shown_conversation();
        if let Some(begun) = shown.and_then(|id| self.outbox.provisional_transcript(id)) {
            self.conversations.show_provisional(begun);
        }
        self.retry_held();
    }

    /// Retries all messages that wait for the connection.
    pub(in crate::state) fn retry_held(self) {
        for message in self.outbox.awaiting_connection() {
            self.deliver(message);
        }
    }

    fn deliver(self, message: MessageId) {
        match self.outbox.retry(message) {
            Some(Retry::Send(intent)) => {
                self.conversations.refresh(intent.conversation_id);
                self.post(*intent);
            }
            Some(Retry::Dropped(id)) => {
                self.conversations.refresh(id);
                self.deliver_next(id);
            }
            None => {}
        }
    }

    /// Sends a message to the server now, and processes the response later.
    fn post(self, intent: SendMessage) {
        let (id, message) = (intent.conversation_id, intent.user_message_id);
        let mut request = Box::pin(self.connection.call(rpc::send_message(intent)));
        // The request leaves with the first poll; a spawned future is first polled after the present event.
        let response = (&mut request).now_or_never();
        spawn_local(async move {
            let response = match response {
                Some(response) => response,
                None => request.await,
            };
            match response {
                Ok(started) => {
                    self.outbox.mark_started(&started);
                    self.conversations.reload_if_missing(id, message);
                    self.deliver_next(id);
                }
                Err(error) if error.code.is_temporary() => {
                    self.retry_later(id, message);
                }
                Err(error) => {
                    self.on_rejected(message, &error);
                    self.deliver_next(id);
                }
            }
        });
    }

    /// Schedules a retry for when the server is unreachable. A message that left the outbox meanwhile was delivered, and
    /// only its response was lost: the next one can go.
    fn retry_later(self, id: ConversationId, message: MessageId) {
        let Some(tries) = self.outbox.await_connection(message) else {
            return self.deliver_next(id);
        };
        self.conversations.refresh(id);
        browser::set_timeout(backoff_ms(tries), move || self.deliver(message)).detach();
    }

    /// Returns a rejected message to the draft of its route.
    fn on_rejected(self, message: MessageId, error: &ApiError) {
        let Some(sending) = self.outbox.reject(message, error) else {
            return;
        };
        let id = sending.intent.conversation_id;
        // Withdraws the draft and the error if the stream has brought the message already: it was delivered.
        self.conversations.refresh(id);
        if self.outbox.has_send_error(sending.from) {
            self.return_to_new_chat(id, sending.from);
        }
    }

    /// Withdraws a message that waits for the connection; it becomes a draft again.
    pub fn withdraw_message(self, id: ConversationId) {
        let Some(sending) = self.outbox.withdraw(id) else {
            return;
        };
        self.conversations.refresh(id);
        self.deliver_next(id);
        self.return_to_new_chat(id, sending.from);
        browser::focus_selector("#message");
    }

    /// Withdraws a queued message that waits for the connection; it becomes a draft again.
    pub fn withdraw_queued(self, id: ConversationId, message: MessageId) {
        if self.outbox.withdraw_queued(message) {
            self.conversations.refresh(id);
            self.deliver_next(id);
            browser::focus_selector("#message");
        }
    }

    /// Leaves a conversation that was not created after all for the place where it was begun.
    fn return_to_new_chat(self, id: ConversationId, from: Route) {
        if from.begins_chat() && self.navigation.shown_conversation() == Some(id) {
            self.navigation.replace(from);
        }
    }
}
