//! Intents: the actions of a user. Each is a request; its results arrive with the stream.

use leptos::{prelude::*, task::spawn_local};

use super::{Live, outbox::PendingSend, outbox_storage};
use crate::{
    api::rpc,
    protocol::ApiError,
    protocol::ConversationId,
    protocol::IntentId,
    protocol::MessageId,
    protocol::ParameterInput,
    protocol::RunStatus,
    protocol::Timestamp,
    protocol::Transcript,
    protocol::intent,
    protocol::intent::StartedRun,
    ui::{browser, state::drafts, state::route::Route},
};

impl Live {
    /// Stops the conversation's run. A message that waits for the connection is withdrawn.
    pub fn stop(self, id: ConversationId) {
        if let Some(run) = self.with_transcript(id, Transcript::active_run).flatten() {
            return self.stop_run(run);
        }
        if self.view(id).pending_send.get_untracked() == PendingSend::WaitingForConnection {
            return self.withdraw_message(id);
        }
        let known = self.with_state(|state| {
            if let Some(sending) = state.outbox.stop(id) {
                outbox_storage::store(sending);
            }
            state.reruns.stop(id)
        });
        if let Some(run) = known {
            self.stop_run(run);
        }
    }

    pub(super) fn stop_run(self, run: MessageId) {
        spawn_local(async move {
            match self.call(rpc::stop_run(run)).await {
                Ok(RunStatus::Stopped) => self.toasts.show("Response stopped."),
                // The run ended by itself just before.
                Ok(_) => {}
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Answers the approval request of a tool call. The result arrives with the stream.
    pub fn answer_approval(self, message_id: MessageId, index: usize, answer: intent::ApprovalAnswer) {
        spawn_local(async move {
            if let Err(error) = self.call(rpc::answer_approval(message_id, index, answer)).await {
                self.toasts.show(error.message);
            }
        });
    }

    /// Requests another answer to a message, by the currently selected model.
    pub fn regenerate(self, conversation_id: ConversationId, message_id: MessageId) {
        let model = self.view(conversation_id).model.get_untracked();
        self.start_rerun(conversation_id, None, |intent_id| {
            rpc::regenerate(intent::Regenerate {
                intent_id,
                conversation_id,
                message_id,
                model,
            })
        });
    }

    /// Continues a truncated answer.
    pub fn continue_answer(self, conversation_id: ConversationId, message_id: MessageId) {
        let ended_at = |transcript: &Transcript| transcript.message(message_id)?.assistant()?.ended_at;
        let ended_at = self.with_transcript(conversation_id, ended_at).flatten();
        self.start_rerun(conversation_id, ended_at, |intent_id| {
            rpc::continue_run(intent::ContinueRun {
                intent_id,
                conversation_id,
                message_id,
            })
        });
    }

    /// Starts a run without a message, unless a run is active in the conversation.
    fn start_rerun<R>(
        self,
        id: ConversationId,
        ended_at: Option<Timestamp>,
        request: impl FnOnce(IntentId) -> R,
    ) where
        R: Future<Output = Result<StartedRun, ApiError>> + 'static,
    {
        if untrack(|| self.view(id).is_busy()) {
            return;
        }
        let intent_id = self.with_state(|state| {
            state.dirty.mark_conversation(id);
            state.reruns.add(id, ended_at)
        });
        self.flush();
        // The button that was pressed disappears with the answer.
        browser::focus_after_removal();
        let request = request(intent_id);
        spawn_local(async move {
            let started = self.call(request).await;
            let stop = self.with_state(|state| {
                state.dirty.mark_conversation(id);
                match &started {
                    Ok(started) => state.reruns.mark_started(intent_id, started.assistant_message_id),
                    Err(_) => {
                        state.reruns.remove(intent_id);
                        None
                    }
                }
            });
            self.flush();
            if let Some(run) = stop {
                self.stop_run(run);
            }
            if let Err(error) = started {
                self.toasts.show(error.message);
            }
        });
    }

    /// Selects another answer to the same message, with the branch that follows it.
    pub fn select_sibling(self, conversation_id: ConversationId, sibling: MessageId) {
        self.send_intent(rpc::select_branch(conversation_id, sibling), || {});
    }

    /// Sets the model for the conversation's next messages.
    pub fn choose_model(self, conversation_id: ConversationId, model: String) {
        let chosen = self.view(conversation_id).model;
        let before = chosen.get_untracked();
        chosen.set(Some(model.clone()));
        self.send_intent(rpc::choose_model(conversation_id, model), move || {
            chosen.set(before)
        });
    }

    /// Sets the model parameters of a conversation.
    pub async fn set_parameters(
        self,
        conversation_id: ConversationId,
        parameters: ParameterInput,
    ) -> Result<(), ApiError> {
        let intent = intent::SetParameters {
            intent_id: IntentId::new(),
            conversation_id,
            parameters,
        };
        self.call(rpc::set_parameters(intent)).await
    }

    /// Renames a conversation.
    pub fn rename(self, conversation_id: ConversationId, title: String) {
        let row = self
            .list
            .with_untracked(|rows| rows.iter().find(|row| row.id == conversation_id).cloned());
        if let Some(row) = row {
            // Shown until the stream confirms it.
            row.title.set(title.clone());
        }
        self.send_intent(rpc::rename_conversation(conversation_id, title), move || {
            self.with_state(|state| state.dirty.is_list_dirty = true);
            self.flush();
        });
    }

    /// Dismisses the send error, because the user continues to write.
    pub fn dismiss_send_error(self, route: Route) {
        if self
            .send_errors
            .with_untracked(|errors| errors.iter().any(|(of, _)| *of == route))
        {
            self.send_errors
                .update(|errors| errors.retain(|(of, _)| *of != route));
        }
    }

    /// Marks the conversation on the screen as read. Tracks the route, the visibility and the list.
    pub fn mark_seen(self) {
        let here = self
            .chat_route
            .get()
            .conversation_id()
            .filter(|_| self.is_visible.get());
        let unread = self.list.with(|rows| {
            let row = rows.iter().find(|row| Some(row.id) == here);
            row.filter(|row| row.is_unseen.get()).map(|row| row.id)
        });
        if let Some(id) = unread {
            spawn_local(async move {
                // If that fails, it stays unread and is retried with the next change.
                let _ = rpc::mark_read(id).await;
            });
        }
    }

    /// Deletes a conversation.
    pub fn delete(self, conversation_id: ConversationId) {
        spawn_local(async move {
            match self.call(rpc::delete_conversation(conversation_id)).await {
                Ok(()) => {
                    drafts::move_to_new_chat(Route::Conversation(conversation_id));
                    if self.chat_route.get_untracked() == Route::Conversation(conversation_id) {
                        self.navigate.run((Route::New, true));
                    }
                }
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Loads the next page of the list.
    pub fn load_more_conversations(self) {
        if !self.is_loading_more.get_untracked() {
            self.is_loading_more.set(true);
            self.load_list(false);
        }
    }

    /// Loads the newest page of the list again.
    pub fn reload_list(self) {
        self.load_list(true);
    }

    /// Sends an intent. If it is refused, shows the error and reverts what was shown already.
    fn send_intent(
        self,
        intent: impl Future<Output = Result<(), ApiError>> + 'static,
        take_back: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            if let Err(error) = self.call(intent).await {
                take_back();
                self.toasts.show(error.message);
            }
        });
    }
}
