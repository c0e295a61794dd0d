//! What a person can do: intents. Each is a request; what comes of it arrives with the stream.

use leptos::{prelude::*, task::spawn_local};

use super::{Live, kept, outbox::Underway};
use crate::{
    api::rpc,
    protocol::{
        ApiError, AskedParameters, ConversationId, IntentId, MessageId, RunStatus, Timestamp, Transcript,
        intent::{self, Started},
    },
    ui::{browser, drafts, place::Place},
};

impl Live {
    /// Stops what the conversation is doing. A message that waits for the connection comes back.
    pub fn stop(self, id: ConversationId) {
        if let Some(run) = self.with_transcript(id, Transcript::active_run).flatten() {
            return self.stop_run(run);
        }
        if self.view(id).underway.get_untracked() == Underway::Held {
            return self.take_back(id);
        }
        let known = self.with(|state| {
            if let Some(sending) = state.outbox.stop(id) {
                kept::keep(sending);
            }
            state.reruns.stop(id)
        });
        if let Some(run) = known {
            self.stop_run(run);
        }
    }

    pub(super) fn stop_run(self, run: MessageId) {
        spawn_local(async move {
            match self.ask(rpc::stop_run(run)).await {
                Ok(RunStatus::Stopped) => self.toasts.say("Response stopped."),
                // It came to its end by itself just before.
                Ok(_) => {}
                Err(error) => self.toasts.say(error.message),
            }
        });
    }

    /// Answers whether a tool call may begin. What comes of it arrives with the stream.
    pub fn answer_approval(self, message_id: MessageId, index: usize, answer: intent::ApprovalAnswer) {
        spawn_local(async move {
            if let Err(error) = self.ask(rpc::answer_approval(message_id, index, answer)).await {
                self.toasts.say(error.message);
            }
        });
    }

    /// Has a message answered once more, by the model that is chosen now.
    pub fn regenerate(self, conversation_id: ConversationId, message_id: MessageId) {
        let model = self.view(conversation_id).model.get_untracked();
        self.run_again(conversation_id, None, |intent_id| {
            rpc::regenerate(intent::Regenerate {
                intent_id,
                conversation_id,
                message_id,
                model,
            })
        });
    }

    /// Goes on with an answer that did not come to its end.
    pub fn go_on(self, conversation_id: ConversationId, message_id: MessageId) {
        let ended_at = |transcript: &Transcript| transcript.message(message_id)?.assistant()?.ended_at;
        let ended_at = self.with_transcript(conversation_id, ended_at).flatten();
        self.run_again(conversation_id, ended_at, |intent_id| {
            rpc::continue_run(intent::Continue {
                intent_id,
                conversation_id,
                message_id,
            })
        });
    }

    /// Starts a run without a message, unless the conversation is being answered.
    fn run_again<R>(
        self,
        id: ConversationId,
        ended_at: Option<Timestamp>,
        request: impl FnOnce(IntentId) -> R,
    ) where
        R: Future<Output = Result<Started, ApiError>> + 'static,
    {
        if untrack(|| self.view(id).busy()) {
            return;
        }
        let intent_id = self.with(|state| {
            state.dirty.conversation(id);
            state.reruns.begin(id, ended_at)
        });
        self.flush();
        // The button that was pressed goes away with the answer.
        browser::focus_to_go_on();
        let request = request(intent_id);
        spawn_local(async move {
            let started = self.ask(request).await;
            let stop = self.with(|state| {
                state.dirty.conversation(id);
                match &started {
                    Ok(started) => state.reruns.started(intent_id, started.assistant_message_id),
                    Err(_) => {
                        state.reruns.failed(intent_id);
                        None
                    }
                }
            });
            self.flush();
            if let Some(run) = stop {
                self.stop_run(run);
            }
            if let Err(error) = started {
                self.toasts.say(error.message);
            }
        });
    }

    /// Shows another answer to the same message, and what followed it.
    pub fn select(self, conversation_id: ConversationId, sibling: MessageId) {
        self.tell(rpc::select_branch(conversation_id, sibling), || {});
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

    /// Sets how a conversation's model is asked.
    pub async fn set_parameters(
        self,
        conversation_id: ConversationId,
        parameters: AskedParameters,
    ) -> Result<(), ApiError> {
        let intent = intent::SetParameters {
            intent_id: IntentId::new(),
            conversation_id,
            parameters,
        };
        self.ask(rpc::set_parameters(intent)).await
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

    /// The person goes on writing: why the last message was not sent need not be said any more.
    pub fn forget_unsent(self, place: Place) {
        if self
            .unsent
            .with_untracked(|unsent| unsent.iter().any(|(of, _)| *of == place))
        {
            self.unsent.update(|unsent| unsent.retain(|(of, _)| *of != place));
        }
    }

    /// What is on the screen is no news any more. Follows the place, the screen and the list.
    pub fn look(self) {
        let here = self.place.get().conversation().filter(|_| self.visible.get());
        let news = self.list.with(|rows| {
            let row = rows.iter().find(|row| Some(row.id) == here);
            row.filter(|row| row.unseen.get()).map(|row| row.id)
        });
        if let Some(id) = news {
            spawn_local(async move {
                // If that fails it stays news, and is looked at again.
                let _ = rpc::mark_read(id).await;
            });
        }
    }

    /// Deletes a conversation.
    pub fn delete(self, conversation_id: ConversationId) {
        spawn_local(async move {
            match self.ask(rpc::delete_conversation(conversation_id)).await {
                Ok(()) => {
                    drafts::outlive(Place::Conversation(conversation_id));
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

    /// Loads the newest page of the list once more.
    pub fn list_again(self) {
        self.load_list(true);
    }

    /// Sends an intent; if it is refused, says so and takes back what was shown already.
    fn tell(
        self,
        intent: impl Future<Output = Result<(), ApiError>> + 'static,
        take_back: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            if let Err(error) = self.ask(intent).await {
                take_back();
                self.toasts.say(error.message);
            }
        });
    }
}
