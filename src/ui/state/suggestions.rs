//! What a person does with what an answer offers. What comes of it arrives with the stream.

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
    /// Accepts or rejects a proposal. `counts` hears of it once the server has it, unless somebody was faster with another verdict;
    /// `over` is called in any case.
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

    /// An action was taken on this page: no tab offers it any more.
    pub fn mark_action_taken(self, conversation_id: ConversationId, message_id: MessageId, index: usize) {
        let intent = TakeAction {
            intent_id: IntentId::new(),
            conversation_id,
            message_id,
            index,
        };
        spawn_local(async move {
            // It is done. If this fails, it is offered once more: no harm, since it can be done again.
            let _ = self.call(rpc::take_action(intent)).await;
        });
    }
}
