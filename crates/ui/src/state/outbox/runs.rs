//! Runs without a message, and the stops of runs that were requested before their id was known.

use leptos::task::spawn_local;

use super::{Outbox, storage};
use crate::{api::rpc, browser, state::texts};
use parlor_protocol::{
    ApiError, ConversationId, IntentId, MessageId, RunStatus, Timestamp, intent::StartedRun,
};

/// The button to the end of the conversation, which is there while the end is not in sight.
const JUMP_BUTTON: &str = ".jump";

impl Outbox {
    /// Adds a run without a message. For a continued answer, `ended_at` is its previous end.
    pub(in crate::state) fn add_rerun(self, id: ConversationId, ended_at: Option<Timestamp>) -> IntentId {
        self.state.with(|state| state.reruns.add(id, ended_at))
    }

    /// Records the server's response, and stops the run if the user asked for that already.
    pub(in crate::state) fn settle_rerun(self, intent: IntentId, started: Result<&StartedRun, &ApiError>) {
        let run_to_stop = self.state.with(|state| match started {
            Ok(started) => state.reruns.mark_started(intent, started.assistant_message_id),
            Err(_) => {
                state.reruns.remove(intent);
                None
            }
        });
        if let Some(run) = run_to_stop {
            self.stop_run(run);
        }
    }

    /// Stops the pending run of the conversation, now or as soon as the run's id is known.
    pub(in crate::state) fn stop_pending(self, id: ConversationId) {
        let run = self.state.with(|state| {
            if let Some(sending) = state.messages.stop(id) {
                storage::store(sending);
            }
            state.reruns.stop(id)
        });
        if let Some(run) = run {
            self.stop_run(run);
        }
    }

    /// Stops a run.
    pub(in crate::state) fn stop_run(self, run: MessageId) {
        spawn_local(async move {
            match self.connection.call(rpc::stop_run(run)).await {
                // The end of the answer says it, too: whoever sees that needs no toast.
                Ok(RunStatus::Stopped) if browser::exists(JUMP_BUTTON) => self.toasts.show(texts::STOPPED),
                // Otherwise, the run ended by itself just before.
                Ok(_) => {}
                Err(error) => self.toasts.show(error.message),
            }
        });
    }
}
