//! Intents about a conversation or an answer. Each is a request; its result arrives with the stream.

use leptos::{prelude::*, task::spawn_local};

use super::OpenConversations;
use crate::{
    api::rpc,
    protocol::{
        ApiError, ConversationId, IntentId, MessageId, ParameterInput, Verdict,
        intent::{ApprovalAnswer, JudgePayload, SetParameters, TakeAction},
    },
};

impl OpenConversations {
    /// Answers the approval request of a tool call.
    pub fn answer_approval(self, message_id: MessageId, index: usize, answer: ApprovalAnswer) {
        self.send_intent(rpc::answer_approval(message_id, index, answer), || {});
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
        let intent = SetParameters {
            intent_id: IntentId::new(),
            conversation_id,
            parameters,
        };
        self.connection.call(rpc::set_parameters(intent)).await
    }

    /// Accepts or rejects a proposal. `counts` is called when the server has stored the verdict, unless another verdict
    /// was first; `over` is called in any case.
    pub fn send_verdict(
        self,
        conversation_id: ConversationId,
        payload_id: String,
        verdict: Verdict,
        counts: impl FnOnce() + 'static,
        over: impl FnOnce() + 'static,
    ) {
        let intent = JudgePayload {
            intent_id: IntentId::new(),
            conversation_id,
            payload_id,
            verdict,
        };
        spawn_local(async move {
            match self.connection.call(rpc::judge_payload(intent)).await {
                Ok(first) if first == verdict => counts(),
                Ok(_) => self.toasts.show("This was answered already, in another tab."),
                Err(error) => self.toasts.show(error.message),
            }
            over();
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
        take_back: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            if let Err(error) = self.connection.call(intent).await {
                take_back();
                self.toasts.show(error.message);
            }
        });
    }
}
