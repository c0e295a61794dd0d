//! Intents that start and stop runs: a message, another answer, the rest of a truncated one.
//!
//! Each is in the [`Outbox`] and on the screen until the stream shows its result.

mod sending;

use leptos::{prelude::*, task::spawn_local};

use super::{
    connection::Connection,
    conversations::OpenConversations,
    navigation::Navigation,
    next_message::NextMessage,
    outbox::{Outbox, PendingSend},
};
use crate::{api::rpc, browser, components::toast::Toasts};
use parlor_protocol::{
    ApiError, ConversationId, IntentId, MessageId, Timestamp, Transcript,
    intent::{self, StartedRun},
};

/// The intents that start and stop runs.
#[derive(Clone, Copy)]
pub struct RunIntents {
    pub(super) conversations: OpenConversations,
    pub(super) outbox: Outbox,
    pub(super) next_message: NextMessage,
    pub(super) connection: Connection,
    pub(super) navigation: Navigation,
    pub(super) toasts: Toasts,
}

impl RunIntents {
    /// Stops the conversation's run. A message that waits for the connection is withdrawn.
    pub fn stop(self, id: ConversationId) {
        let active_run = self.conversations.with_transcript(id, Transcript::active_run);
        if let Some(run) = active_run.flatten() {
            self.outbox.stop_run(run);
        } else if self.conversations.view(id).pending_send.get_untracked()
            == PendingSend::WaitingForConnection
        {
            self.withdraw_message(id);
        } else {
            self.outbox.stop_pending(id);
        }
    }

    /// Requests another answer to a message, by the currently selected model.
    pub fn regenerate(self, conversation_id: ConversationId, message_id: MessageId) {
        let model = self.conversations.view(conversation_id).model.get_untracked();
        self.regenerate_with(conversation_id, message_id, model);
    }

    /// Requests another answer to a message, by a model.
    pub fn regenerate_with(
        self,
        conversation_id: ConversationId,
        message_id: MessageId,
        model: Option<String>,
    ) {
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
        let ended_at = self.conversations.with_transcript(conversation_id, ended_at);
        self.start_rerun(conversation_id, ended_at.flatten(), |intent_id| {
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
        if untrack(|| self.conversations.view(id).is_busy()) {
            return;
        }
        let intent_id = self.outbox.add_rerun(id, ended_at);
        self.conversations.refresh(id);
        // The button that was pressed disappears with the answer.
        browser::focus_after_removal();
        let request = request(intent_id);
        spawn_local(async move {
            let started = self.connection.call(request).await;
            self.outbox.settle_rerun(intent_id, started.as_ref());
            self.conversations.refresh(id);
            if let Err(error) = started {
                self.toasts.show(error.message);
            }
        });
    }
}
