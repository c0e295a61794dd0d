//! The end of a run after its tool calls, for a message of the user that waits (setting `agent.steer`): the model gets it with
//! its next call, which is that of the message's own run. So the history is what the model got.

use super::{Driver, log_end_result};
use crate::{
    Inner,
    agent::{Effect, Input},
};
use parlor_base::clock;
use parlor_journal::JournalError;
use parlor_storage::{Change, PageSize, RunKey, RunOutput};

impl Driver<'_> {
    /// Ends the run if it has called tools and a message waits. Returns true if it has ended.
    pub(super) async fn hand_over(&mut self) -> bool {
        let has_called = self.agent.message().tool_calls().next().is_some();
        if !self.runs.agent.steer || !has_called || !has_waiting_message(self.runs, self.run).await {
            return false;
        }
        let mut ended = self.agent.clone();
        let Some(Effect::End(event)) = ended.step(Input::HandOver, clock::now()).pop() else {
            return false;
        };
        self.recorder.write_call().await;
        let hand_over = Change::Output {
            run: self.run,
            output: RunOutput::HandOverRun {
                events: vec![event],
                message: ended.message().clone(),
            },
        };
        match self.runs.journal.submit(hand_over).await {
            // The message was removed meanwhile, or its queue is held.
            Err(JournalError::Rejected(_)) => false,
            outcome => {
                log_end_result(self.runs, self.run, ended.message().clone(), outcome).await;
                true
            }
        }
    }
}

/// Returns true if a message waits for the end of a run. If that cannot be read, it waits on.
async fn has_waiting_message(runs: &Inner, run: RunKey) -> bool {
    let smallest = PageSize {
        messages: 1,
        bytes: 1,
    };
    let found = runs
        .storage
        .transcript(run.user_id, run.conversation_id, smallest, None)
        .await;
    let queue = found.ok().flatten().map(|transcript| transcript.queue);
    queue.is_some_and(|queue| !queue.held && !queue.messages.is_empty())
}
