//! Intents for the suggestions of an answer. Their results arrive with the stream.

use leptos::task::spawn_local;

use super::Live;
use crate::{
    api::rpc,
    protocol::{
        ConversationId, IntentId, MessageId, Verdict,
        intent::{JudgePayload, TakeAction},
    },
};

impl Live {
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
            match self.call(rpc::judge_payload(intent)).await {
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
            let _ = self.call(rpc::take_action(intent)).await;
        });
    }
}
