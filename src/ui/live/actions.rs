//! What a person can do: intents. Each is a request; what comes of it arrives with the stream.

use leptos::{prelude::*, task::spawn_local};

use super::{Live, outbox::Settled};
use crate::{
    api::{ApiError, error::ErrorCode, rpc},
    protocol::{
        ConversationId, IntentId, MessageId, RunStatus, Transcript,
        intent::{self, Started},
    },
    ui::{drafts, place::Place},
};

impl Live {
    /// Sends a message from where the person is. A new conversation begins with it.
    pub fn send(self, from: Place, text: String, model: Option<String>) {
        self.unsent
            .update(|unsent| unsent.retain(|(place, _)| *place != from));
        let intent = self.with(|state| {
            let intent = state.outbox.begin(from, text, model);
            let id = intent.conversation_id;
            if from == Place::New && state.session.shelf.get(id).is_none() {
                let mut begun = Transcript::new(id);
                begun.title = intent::title_from(&intent.text);
                begun.model.clone_from(&intent.model);
                state.session.shelf.put(begun);
            }
            state.dirty.conversation(id);
            intent
        });
        self.flush();
        if from == Place::New {
            self.go.run((Place::Conversation(intent.conversation_id), true));
        }
        spawn_local(async move {
            let message = intent.user_message_id;
            match rpc::send_message(intent).await {
                Ok(started) => {
                    if let Some(run) = self.with(|state| state.outbox.started(&started)) {
                        self.stop_run(run);
                    }
                }
                Err(error) => self.came_back(message, &error),
            }
        });
    }

    /// A message could not be sent: it goes back to where it was written.
    fn came_back(self, message: MessageId, error: &ApiError) {
        let perhaps = matches!(
            error.code,
            ErrorCode::Unreachable | ErrorCode::Unavailable | ErrorCode::Internal
        );
        let Some(sending) = self.with(|state| {
            let sending = state.outbox.failed(message, perhaps)?;
            state.dirty.conversation(sending.intent.conversation_id);
            Some(sending)
        }) else {
            return;
        };
        drafts::put_back(sending.from, &sending.intent.text);
        self.unsent
            .update(|unsent| unsent.push((sending.from, error.message.clone())));
        // Takes both back if the stream has brought the message already: it did get through.
        self.flush();
        let is_unsent = self
            .unsent
            .with_untracked(|unsent| unsent.iter().any(|(place, _)| *place == sending.from));
        let id = sending.intent.conversation_id;
        if is_unsent && sending.from == Place::New && self.place.get_untracked() == Place::Conversation(id) {
            self.go.run((Place::New, true));
        }
    }

    /// Does what follows from what became of a conversation's messages.
    pub(super) fn settled(self, settled: Settled) {
        if let Some(sending) = settled.got_through {
            drafts::take_out(sending.from, &sending.intent.text);
            self.unsent
                .update(|unsent| unsent.retain(|(place, _)| *place != sending.from));
        }
        if let Some(run) = settled.stop {
            self.stop_run(run);
        }
    }

    /// Stops what the conversation is doing.
    pub fn stop(self, id: ConversationId) {
        match self.with_transcript(id, Transcript::active_run).flatten() {
            Some(run) => self.stop_run(run),
            None => {
                self.with(|state| state.outbox.stop(id));
            }
        }
    }

    fn stop_run(self, run: MessageId) {
        spawn_local(async move {
            match rpc::stop_run(run).await {
                Ok(RunStatus::Stopped) => self.toasts.say("Response stopped."),
                // It came to its end by itself just before.
                Ok(_) => {}
                Err(error) => self.toasts.say(error.message),
            }
        });
    }

    /// Has a message answered once more.
    pub fn regenerate(self, conversation_id: ConversationId, message_id: MessageId) {
        let intent = intent::Regenerate {
            intent_id: IntentId::new(),
            conversation_id,
            message_id,
            model: None,
        };
        self.run_again(conversation_id, rpc::regenerate(intent));
    }

    /// Goes on with an answer that did not come to its end.
    pub fn go_on(self, conversation_id: ConversationId, message_id: MessageId) {
        let intent = intent::Continue {
            intent_id: IntentId::new(),
            conversation_id,
            message_id,
        };
        self.run_again(conversation_id, rpc::continue_run(intent));
    }

    /// Starts a run without a message. A second press, before the stream tells of the first, does nothing.
    fn run_again(
        self,
        conversation_id: ConversationId,
        intent: impl Future<Output = Result<Started, ApiError>> + 'static,
    ) {
        let waiting = self.view(conversation_id).waiting;
        if waiting.get_untracked() {
            return;
        }
        waiting.set(true);
        spawn_local(async move {
            if let Err(error) = intent.await {
                waiting.set(false);
                self.toasts.say(error.message);
            }
        });
    }

    /// Shows another answer to the same message, and what followed it.
    pub fn select(self, conversation_id: ConversationId, sibling: MessageId) {
        let leaf = self.with_transcript(conversation_id, |transcript| transcript.leaf_below(sibling));
        let Some(leaf_id) = leaf else { return };
        self.tell(rpc::select_leaf(conversation_id, leaf_id), || {});
    }

    /// Chooses the model for the conversation's next messages.
    pub fn choose_model(self, conversation_id: ConversationId, model: String) {
        let chosen = self.view(conversation_id).model;
        let before = chosen.get_untracked();
        chosen.set(Some(model.clone()));
        self.tell(rpc::choose_model(conversation_id, model), move || {
            chosen.set(before)
        });
    }

    /// Gives a conversation another title.
    pub fn rename(self, conversation_id: ConversationId, title: String) {
        let row = self
            .list
            .with_untracked(|rows| rows.iter().find(|row| row.id == conversation_id).cloned());
        if let Some(row) = row {
            // Until the stream confirms it.
            row.title.set(title.clone());
        }
        self.tell(rpc::rename_conversation(conversation_id, title), move || {
            self.with(|state| state.dirty.list = true);
            self.flush();
        });
    }

    /// Deletes a conversation.
    pub fn delete(self, conversation_id: ConversationId) {
        spawn_local(async move {
            match rpc::delete_conversation(conversation_id).await {
                Ok(()) => {
                    drafts::forget(Place::Conversation(conversation_id));
                    if self.place.get_untracked() == Place::Conversation(conversation_id) {
                        self.go.run((Place::New, true));
                    }
                }
                Err(error) => self.toasts.say(error.message),
            }
        });
    }

    /// Loads the next page of the list.
    pub fn show_older(self) {
        if !self.loading_more.get_untracked() {
            self.loading_more.set(true);
            self.load_list(false);
        }
    }

    /// Sends an intent; if it is refused, says so and takes back what was shown already.
    fn tell(
        self,
        intent: impl Future<Output = Result<(), ApiError>> + 'static,
        take_back: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            if let Err(error) = intent.await {
                take_back();
                self.toasts.say(error.message);
            }
        });
    }
}
