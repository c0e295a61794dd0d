//! Intents about a conversation or an answer. Each is a request; its result arrives with the stream.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::OpenConversations;
use crate::{
    api::rpc,
    browser,
    state::texts,
    state::{drafts, route::Route},
};
use parlor_protocol::{
    ApiError, ConversationId, IntentId, MessageId, ParameterInput, PayloadVerdict,
    intent::{ApprovalAnswer, BranchConversation, JudgePayload, QueueChange, SetParameters, TakeAction},
};

impl OpenConversations {
    /// Allows or denies a tool call that waits for approval.
    pub fn answer_approval(self, message_id: MessageId, index: usize, answer: ApprovalAnswer) {
        self.send_intent(rpc::answer_approval(message_id, index, answer), || {});
    }

    /// Selects another version of a message, with the branch that follows it.
    pub fn select_sibling(self, conversation_id: ConversationId, sibling: MessageId) {
        self.send_intent(rpc::select_branch(conversation_id, sibling), || {});
    }

    /// Deletes a message with all that follow it, and offers to undo that.
    pub fn delete_message(self, conversation_id: ConversationId, message_id: MessageId) {
        let toasts = self.toasts;
        spawn_local(async move {
            let deletion = rpc::set_message_deleted(conversation_id, message_id, true);
            match self.connection.call(deletion).await {
                Ok(()) => toasts.show_with_undo(texts::MESSAGE_DELETED, move || {
                    let restoring = rpc::set_message_deleted(conversation_id, message_id, false);
                    self.send_intent(restoring, || {});
                }),
                Err(error) => toasts.show(error.message),
            }
        });
    }

    /// Copies the branch up to a message into a new conversation, and shows that with `draft` in its message box.
    pub fn branch(self, message_id: MessageId, draft: Option<Arc<str>>) {
        let intent = BranchConversation {
            intent_id: IntentId::new(),
            message_id,
            conversation_id: ConversationId::new(),
        };
        spawn_local(async move {
            match self.connection.call(rpc::branch_conversation(intent)).await {
                Ok(()) => {
                    let route = Route::Conversation(intent.conversation_id);
                    if let Some(draft) = draft {
                        drafts::save(route, &draft);
                    }
                    self.navigation.go_to(route);
                    browser::focus_after_removal();
                    self.toasts.show(texts::BRANCHED);
                }
                Err(error) => self.toasts.show(error.message),
            }
        });
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

    /// Changes the messages that wait for the end of the run. The text of an edit that comes too late becomes a draft.
    pub fn change_queue(self, id: ConversationId, change: QueueChange) {
        let edited = match &change {
            QueueChange::Edit { text, .. } => Some(text.clone()),
            QueueChange::Move { .. } | QueueChange::Remove { .. } | QueueChange::Release => None,
        };
        self.send_intent(rpc::change_queue(id, change), move || {
            if let Some(text) = edited {
                self.outbox.return_text(Route::Conversation(id), &text);
            }
        });
    }

    /// Sets the model parameters of a conversation.
    pub async fn set_parameters(
        self,
        conversation_id: ConversationId,
        parameters: ParameterInput,
    ) -> Result<(), ApiError> {
        let intent = SetParameters {
            intent_id: IntentId::new(),
            conversation_id,
            parameters,
        };
        self.connection.call(rpc::set_parameters(intent)).await
    }

    /// Accepts or rejects a proposal. `on_stored` is called if the server has stored the verdict, and no other one was
    /// first; `on_end` is called in any case.
    pub fn send_verdict(
        self,
        conversation_id: ConversationId,
        judged: PayloadVerdict,
        on_stored: impl FnOnce() + 'static,
        on_end: impl FnOnce() + 'static,
    ) {
        let intent = JudgePayload {
            intent_id: IntentId::new(),
            conversation_id,
            payload_id: judged.payload_id.clone(),
            verdict: judged.verdict,
            accepted_fields: judged.accepted_fields.clone(),
        };
        spawn_local(async move {
            match self.connection.call(rpc::judge_payload(intent)).await {
                Ok(first) if first == judged => on_stored(),
                Ok(_) => self.toasts.show(texts::ANSWERED_ELSEWHERE),
                Err(error) => self.toasts.show(error.message),
            }
            on_end();
        });
    }

    /// Marks an action as taken: no tab offers it any more.
    pub fn mark_action_taken(self, conversation_id: ConversationId, message_id: MessageId, index: usize) {
        let intent = TakeAction {
            intent_id: IntentId::new(),
            conversation_id,
            message_id,
            index,
        };
        spawn_local(async move {
            // The action is done already. If this request fails, the action is offered again, which is harmless: it can
            // be repeated.
            let _ = self.connection.call(rpc::take_action(intent)).await;
        });
    }

    /// Sends an intent. If it is refused, shows the error and reverts what was shown already.
    fn send_intent(
        self,
        intent: impl Future<Output = Result<(), ApiError>> + 'static,
        undo: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            if let Err(error) = self.connection.call(intent).await {
                undo();
                self.toasts.show(error.message);
            }
        });
    }
}
