//! The driver of one run: feeds inputs to the agent and performs its effects, until the run ends or
//! waits for a user.

mod prepare;
mod provider_data;

use std::{collections::HashMap, sync::Arc};

use tokio::{sync::oneshot, time::Instant};

use self::prepare::wait_for_tools;
use super::{
    Inner, ReadError,
    active_runs::{ApprovalReply, RunSlot},
    approved_tools::ApprovedTools,
    history::RunHistory,
    page_payloads::PagePayloads,
    pending_model_call::{PendingModelCall, WaitOutcome},
    recorder::Recorder,
    request_builder::ModelRequestBuilder,
    token_meter::TokenMeter,
    tool_tasks::ToolTasks,
};
use crate::{
    agent::{Agent, Effect, Input, Timeout},
    clock,
    journal::JournalError,
    model::{ModelEvent, ModelRequest},
    pages::Prompt,
    protocol::{
        AssistantMessage, EventBody, Message, MessageId, PlacedOpaque, ToolStatus, intent::ApprovalAnswer,
    },
    storage::{Change, RunKey, StorageErrorKind},
};

/// A run's message is stored as a snapshot after this many events, or after a tenth of all its
/// events if that is more. A conversation then opens by replaying few events, and the bytes written
/// stay within a few times the answer.
const MIN_EVENTS_PER_SNAPSHOT: usize = 1000;

/// Drives a run until it ends or waits for a user. That is committed when this returns.
pub(super) async fn drive(runs: &Inner, run: RunKey, slot: &mut RunSlot) {
    wait_for_tools(runs, run, slot).await;
    match Driver::prepare(runs, run, slot).await {
        Ok(Some(driver)) => driver.drive(slot).await,
        Ok(None) | Err(ReadError::ShuttingDown) => {}
        Err(ReadError::Damaged) => runs.end_damaged_run(run, None).await,
    }
}

/// The state of an active run.
struct Driver<'a> {
    runs: &'a Inner,
    run: RunKey,
    agent: Agent,
    toolbox: Arc<ApprovedTools>,
    request_builder: Arc<ModelRequestBuilder>,
    page_payloads: Arc<PagePayloads>,
    /// The messages that lead to the run, oldest first.
    history: Arc<[Message]>,
    /// Opaque data of the history and the answer, for the models' providers only.
    opaque: HashMap<MessageId, Vec<PlacedOpaque>>,
    /// Bytes of opaque data in the present call.
    opaque_bytes: usize,
    /// The system prompt.
    prompt: Arc<Prompt>,
    pending_call: PendingModelCall,
    tool_tasks: ToolTasks,
    recorder: Recorder,
    deadline: Instant,
    /// Bytes that the model has produced.
    produced_bytes: usize,
    /// Events logged, and their number at the last snapshot.
    logged_events: usize,
    stored_events: usize,
    /// Notified when the user's last answer is committed.
    approval_committed: Option<oneshot::Sender<()>>,
}

impl Driver<'_> {
    async fn drive(mut self, slot: &mut RunSlot) {
        let runs = self.runs;
        let given_up = runs.journal.wait_until_abandoned(self.run.message_id);
        tokio::pin!(given_up);
        let mut input = Input::Start;
        loop {
            for effect in self.agent.step(input, clock::now()) {
                self.recorder.record_effect(&effect);
                match effect {
                    Effect::Log(event) => {
                        self.logged_events += 1;
                        self.runs.journal.append(self.run, vec![event]).await;
                    }
                    Effect::StorePayload(payload) => self.runs.journal.store_payload(self.run, payload).await,
                    Effect::StoreOpaque { node, part, data } => self.store_opaque(node, part, data).await,
                    Effect::CallModel { with_tools } => self.prepare_call(with_tools),
                    Effect::ScheduleRetry(wait) => self.pending_call = PendingModelCall::retry(wait),
                    Effect::RunTool { index, tool, input } => {
                        let offered = self.toolbox.offer().get(&tool);
                        self.tool_tasks.start(index, tool, offered, input);
                    }
                    Effect::Pause(event) => return self.pause(event).await,
                    Effect::End(event) => return self.end(event).await,
                }
            }
            self.recorder.write_due().await;
            if let Some(answered) = self.approval_committed.take() {
                notify_when_committed(self.runs, self.run, answered);
            }
            if self.logged_events - self.stored_events >= MIN_EVENTS_PER_SNAPSHOT.max(self.stored_events / 10)
            {
                self.stored_events = self.logged_events;
                self.runs
                    .journal
                    .store_message(self.run, self.agent.message().clone())
                    .await;
            }
            input = tokio::select! {
                biased;
                () = &mut given_up => {
                    // A tool must not add anything after the end.
                    self.tool_tasks.shut_down().await;
                    return runs.end_damaged_run(self.run, Some(self.agent.message().clone())).await;
                }
                input = self.next_input(slot) => input,
            };
            input = self.limit_opaque(input);
            self.recorder.record_input(&input);
            if let Input::Model(event) = &input {
                self.produced_bytes += event_bytes(event);
                if self.produced_bytes > self.runs.limits.answer_bytes {
                    input = Input::TooLong(self.runs.limits.answer_bytes);
                }
            }
        }
    }

    /// Prepares the request of the next model call.
    fn prepare_call(&mut self, with_tools: bool) {
        let tools = if with_tools {
            self.toolbox.offer().specs()
        } else {
            Vec::new()
        };
        let call = self.request_builder.draft_call(
            self.prompt.clone(),
            RunHistory {
                history: &self.history,
                answer: (self.run.message_id, self.agent.message()),
                opaque: &self.opaque,
            },
            &self.page_payloads,
            tools,
        );
        self.pending_call = PendingModelCall::prepare(self.request_builder.clone().prepare(call));
    }

    /// Sends a request to the model.
    async fn send_request(&mut self, request: Arc<ModelRequest>, meter: TokenMeter) {
        self.opaque_bytes = 0;
        self.recorder.record_call(request.clone(), meter.prices()).await;
        self.pending_call = PendingModelCall::call(self.runs.models.clone(), request, meter);
    }

    async fn next_input(&mut self, slot: &mut RunSlot) -> Input {
        let mut since = Instant::now();
        loop {
            if let Some(input) = self.wait_once(slot, &mut since).await {
                return input;
            }
        }
    }

    /// Waits for the next input. Returns `None` if the driver has to wait again. `since` is the start of the wait for the model.
    async fn wait_once(&mut self, slot: &mut RunSlot, since: &mut Instant) -> Option<Input> {
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
            let allow = Change::AllowTool {
                user_id: self.run.user_id,
                conversation_id: self.run.conversation_id,
                tool: call.tool.clone(),
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

    async fn pause(mut self, event: EventBody) {
        self.recorder.write_call().await;
        let pause = Change::PauseRun {
            run: self.run,
            events: vec![event],
            message: self.agent.message().clone(),
        };
        let paused = self.runs.journal.submit(pause).await;
        if let (Ok(_), Some(answered)) = (&paused, self.approval_committed.take()) {
            // The caller may have gone away.
            let _ = answered.send(());
        }
        log_end_result(self.runs, self.run, self.agent.message().clone(), paused).await;
    }

    async fn end(mut self, event: EventBody) {
        crash_point!("runs::ending");
        // A tool must not add anything after the end.
        self.tool_tasks.shut_down().await;
        self.recorder.write_call().await;
        let end = Change::EndRun {
            run: self.run,
            events: vec![event],
            message: self.agent.message().clone(),
        };
        let ended = self.runs.journal.submit(end).await;
        if ended.is_ok() {
            crash_point!("runs::ended");
        }
        log_end_result(self.runs, self.run, self.agent.message().clone(), ended).await;
    }
}

/// Logs the result of storing a run's end.
async fn log_end_result<T>(
    runs: &Inner,
    run: RunKey,
    message: AssistantMessage,
    outcome: Result<T, JournalError>,
) {
    match outcome {
        // The conversation was deleted meanwhile.
        Ok(_) | Err(JournalError::Rejected(_)) => {}
        Err(JournalError::Unavailable(StorageErrorKind::Damaged)) => {
            runs.end_damaged_run(run, Some(message)).await
        }
        Err(JournalError::Unavailable(_)) => {
            tracing::error!(run = %run.message_id, "the journal has stopped; the run will be ended at the next start");
        }
    }
}

/// Notifies the caller of an answer once the answer can no longer be lost.
fn notify_when_committed(runs: &Inner, run: RunKey, answered: oneshot::Sender<()>) {
    let journal = runs.journal.clone();
    tokio::spawn(async move {
        if journal.flush(run).await.is_ok() {
            // The caller may have gone away.
            let _ = answered.send(());
        }
    });
}

fn event_bytes(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Thinking(text) | ModelEvent::Refusal(text) => text.len(),
        ModelEvent::ToolArguments { delta, .. } => delta.len(),
        ModelEvent::ToolCall { id, name, .. } => id.len() + name.len(),
        ModelEvent::Sources(sources) => sources
            .iter()
            .map(|source| source.url.len() + source.title.len())
            .sum(),
        ModelEvent::Opaque { data, .. } => data.value.as_str().len(),
        ModelEvent::Unreadable { raw, .. } => raw.len(),
        ModelEvent::Usage(_) | ModelEvent::Finished(_) | ModelEvent::TextWasThinking => 0,
    }
}
