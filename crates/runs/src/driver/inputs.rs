//! The inputs of a run: from its model, its tools and its user, and its limits of time.

use tokio::time::Instant;

use super::Driver;
use crate::{
    active_runs::{ApprovalReply, RunSlot},
    agent::{Input, Timeout},
    pending_model_call::WaitOutcome,
};
use parlor_model::ModelEvent;
use parlor_protocol::{ToolStatus, intent::ApprovalAnswer};
use parlor_storage::{Change, ConversationChange};

/// The number of events of the model that are taken before the driver looks for other inputs.
const MAX_IN_SEQUENCE: usize = 32;

impl Driver<'_> {
    /// Waits for the next input. Checked parts of the answer come first. An image of the answer is stored meanwhile.
    pub(super) async fn next_input(&mut self, slot: &mut RunSlot) -> Input {
        if let Some(checked) = self.checked.pop_front() {
            return Input::Checked(checked);
        }
        let input = self.wait(slot).await;
        let input = self.limit_provider_data(input);
        let Input::Model(ModelEvent::Image(image)) = input else {
            return input;
        };
        let (runs, deadline) = (self.runs, self.deadline);
        tokio::select! {
            biased;
            () = slot.stop.cancelled() => Input::Stop,
            () = runs.shutdown.cancelled() => Input::Shutdown,
            () = tokio::time::sleep_until(deadline) => Input::TimedOut(Timeout::Run(runs.timeouts.run)),
            stored = self.store_image(image) => stored,
        }
    }

    async fn wait(&mut self, slot: &mut RunSlot) -> Input {
        let mut since = Instant::now();
        loop {
            if let Some(input) = self.wait_once(slot, &mut since).await {
                return input;
            }
        }
    }

    /// Waits for the next input. Returns `None` if the driver has to wait again. `since` is the start of the wait for the model.
    async fn wait_once(&mut self, slot: &mut RunSlot, since: &mut Instant) -> Option<Input> {
        if let Some(input) = self.take_arrived(slot) {
            return Some(input);
        }
        let run_limit = self.runs.timeouts.run;
        let (timeout, limit) = if self.agent.is_streaming() {
            let limit = self.runs.timeouts.silence;
            (Timeout::Silence(limit), limit)
        } else {
            let limit = self.runs.timeouts.first_token;
            (Timeout::FirstToken(limit), limit)
        };
        Some(tokio::select! {
            biased;
            () = slot.stop.cancelled() => Input::Stop,
            () = self.runs.shutdown.cancelled() => Input::Shutdown,
            // Before the model: a model that always has an event ready would starve this branch.
            () = tokio::time::sleep_until(self.deadline) => Input::TimedOut(Timeout::Run(run_limit)),
            Some(answer) = slot.approvals.recv() => self.apply_approval(answer).await,
            input = self.tool_tasks.next_input() => input,
            happened = self.pending_call.next() => match happened {
                WaitOutcome::Input(input) => input,
                WaitOutcome::Prepared(request, meter) => {
                    self.send_request(request, meter).await;
                    *since = Instant::now();
                    return None;
                }
            },
            // After the call: a call is made before it is recorded.
            () = self.recorder.wait_until_due() => {
                self.recorder.write_due().await;
                return None;
            }
            () = tokio::time::sleep_until(*since + limit), if self.pending_call.is_awaiting_model() => {
                Input::TimedOut(timeout)
            }
        })
    }

    /// Takes the next event of the model's answer if it has arrived. Waiting for everything else costs more than the event, so only
    /// every so often is anything else looked at, besides what ends the run.
    fn take_arrived(&mut self, slot: &RunSlot) -> Option<Input> {
        let is_over =
            slot.stop.is_cancelled() || self.runs.shutdown.is_cancelled() || Instant::now() >= self.deadline;
        let arrived = match is_over || self.taken_in_sequence == MAX_IN_SEQUENCE {
            true => None,
            false => self.pending_call.take_arrived(),
        };
        self.taken_in_sequence = arrived.as_ref().map_or(0, |_| self.taken_in_sequence + 1);
        arrived
    }

    /// Applies the user's answer. The first answer counts: only a call that still waits is
    /// allowed by it.
    async fn apply_approval(
        &mut self,
        ApprovalReply {
            index,
            answer,
            committed: done,
        }: ApprovalReply,
    ) -> Input {
        let mut calls = self.agent.message().tool_calls();
        let pending = calls.find(|call| call.index == index && call.status == ToolStatus::Waiting);
        if let (ApprovalAnswer::Always, Some(call)) = (answer, pending) {
            self.toolbox.allow(&call.tool);
            let allow = Change::Conversation {
                user_id: self.run.user_id,
                conversation_id: self.run.conversation_id,
                change: ConversationChange::AllowTool {
                    tool: call.tool.clone(),
                },
            };
            if let Err(error) = self.runs.journal.submit(allow).await {
                tracing::warn!(%error, "a tool is allowed for this answer only");
            }
        }
        self.approval_committed = Some(done);
        Input::ApprovalAnswered {
            index,
            allowed: answer.is_allowed(),
        }
    }
}
