//! Performs one run: feeds the agent what happens and does what it says, until it ends or has to wait for a person.

mod prepare;
mod provider_data;

use std::{collections::HashMap, sync::Arc, time::Duration};

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

/// After so many events, or a tenth of all if that is more, what a run has come to is stored in one piece: whoever opens a
/// conversation then has to wait for few events to be put together, and what is written comes to a few times the answer.
const MIN_EVENTS_PER_SNAPSHOT: usize = 1000;

/// Drives a run until it ends or waits for a person, which is committed when this returns.
pub(super) async fn drive(runs: &Inner, run: RunKey, place: &mut RunSlot) {
    wait_for_tools(runs, run, place).await;
    match Driver::prepare(runs, run, place).await {
        Ok(Some(driver)) => driver.drive(place).await,
        Ok(None) | Err(ReadError::ShuttingDown) => {}
        Err(ReadError::Damaged) => runs.end_damaged_run(run, None).await,
    }
}

/// A run at work.
struct Driver<'a> {
    runs: &'a Inner,
    run: RunKey,
    agent: Agent,
    toolbox: Arc<ApprovedTools>,
    request_builder: Arc<ModelRequestBuilder>,
    page_payloads: Arc<PagePayloads>,
    /// The messages that lead to it, oldest first.
    history: Arc<[Message]>,
    /// Data of the history and the answer that only the models' providers understand.
    opaque: HashMap<MessageId, Vec<PlacedOpaque>>,
    /// Bytes of that in the present call.
    opaque_bytes: usize,
    /// What the model is told before all else.
    prompt: Arc<Prompt>,
    pending_call: PendingModelCall,
    tool_tasks: ToolTasks,
    recorder: Recorder,
    deadline: Instant,
    /// Bytes that the model has produced.
    produced_bytes: usize,
    /// Events logged, and how many there were when all was last stored.
    logged_events: usize,
    stored_events: usize,
    /// Told when the person's answer that was taken last is committed.
    approval_committed: Option<oneshot::Sender<()>>,
}

impl Driver<'_> {
    async fn drive(mut self, place: &mut RunSlot) {
        let runs = self.runs;
        let given_up = runs.journal.wait_until_abandoned(self.run.message_id);
        tokio::pin!(given_up);
        let mut input = Input::Start;
        loop {
            for effect in self.agent.step(input, clock::now()) {
                match effect {
                    Effect::Log(event) => {
                        self.logged_events += 1;
                        self.recorder.record_event(&event);
                        self.runs.journal.append(self.run, vec![event]).await;
                    }
                    Effect::StorePayload(payload) => self.runs.journal.store_payload(self.run, payload).await,
                    Effect::StoreOpaque { node, part, data } => self.store_opaque(node, part, data).await,
                    Effect::CallModel { with_tools } => self.prepare_call(with_tools),
                    Effect::ScheduleRetry(wait) => {
                        self.recorder.record_retry();
                        self.pending_call = PendingModelCall::retry(wait);
                    }
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
                    // What a tool still does must not come after the end.
                    self.tool_tasks.shut_down().await;
                    return runs.end_damaged_run(self.run, Some(self.agent.message().clone())).await;
                }
                input = self.next_input(place) => input,
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

    /// Goes on with the answer: first it is found out what there is room for.
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

    /// Asks the model this.
    async fn send_request(&mut self, request: Arc<ModelRequest>, meter: TokenMeter) {
        self.opaque_bytes = 0;
        self.recorder.record_call(request.clone()).await;
        self.pending_call = PendingModelCall::call(self.runs.models.clone(), request, meter);
    }

    async fn next_input(&mut self, place: &mut RunSlot) -> Input {
        let mut since = Instant::now();
        loop {
            if let Some(input) = self.wait_once(place, &mut since).await {
                return input;
            }
        }
    }

    /// What happens next; nothing if it only waits for something else from now on. The model is waited for since then.
    async fn wait_once(&mut self, place: &mut RunSlot, since: &mut Instant) -> Option<Input> {
        let run_limit = duration_from_secs(self.runs.timeouts.run_seconds);
        let (patience, limit) = if self.agent.is_streaming() {
            let limit = duration_from_secs(self.runs.timeouts.silence_seconds);
            (Timeout::Silence(limit), limit)
        } else {
            let limit = duration_from_secs(self.runs.timeouts.first_token_seconds);
            (Timeout::FirstToken(limit), limit)
        };
        Some(tokio::select! {
            biased;
            () = place.stop.cancelled() => Input::Stop,
            () = self.runs.shutdown.cancelled() => Input::Shutdown,
            // Before the model: one that always has something to say would never let it come to its turn.
            () = tokio::time::sleep_until(self.deadline) => Input::TimedOut(Timeout::Run(run_limit)),
            Some(answer) = place.approvals.recv() => self.apply_approval(answer).await,
            input = self.tool_tasks.next_input() => input,
            happened = self.pending_call.next() => match happened {
                WaitOutcome::Input(input) => input,
                WaitOutcome::Prepared(request, meter) => {
                    self.send_request(request, meter).await;
                    *since = Instant::now();
                    return None;
                }
            },
            // After the call: it is made before it is written down.
            () = self.recorder.wait_until_due() => {
                self.recorder.write_due().await;
                return None;
            }
            () = tokio::time::sleep_until(*since + limit), if self.pending_call.is_awaiting_model() => {
                Input::TimedOut(patience)
            }
        })
    }

    /// The first answer counts: only what still waits is allowed by it.
    async fn apply_approval(
        &mut self,
        ApprovalReply {
            index,
            answer,
            committed: done,
        }: ApprovalReply,
    ) -> Input {
        let mut calls = self.agent.message().tool_calls();
        let asked = calls.find(|call| call.index == index && call.status == ToolStatus::Waiting);
        if let (ApprovalAnswer::Always, Some(call)) = (answer, asked) {
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
        self.recorder.finish(&event).await;
        let pause = Change::PauseRun {
            run: self.run,
            events: vec![event],
            message: self.agent.message().clone(),
        };
        let paused = self.runs.journal.submit(pause).await;
        if let (Ok(_), Some(answered)) = (&paused, self.approval_committed.take()) {
            // Who asked may have gone.
            let _ = answered.send(());
        }
        log_end_result(self.runs, self.run, self.agent.message().clone(), paused).await;
    }

    async fn end(mut self, event: EventBody) {
        crash_point!("runs::ending");
        // What a tool still does must not come after the end.
        self.tool_tasks.shut_down().await;
        self.recorder.finish(&event).await;
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

/// Takes note of whether the end of a run is stored.
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
            tracing::error!(run = %run.message_id, "the journal is gone; the run is ended at the next start");
        }
    }
}

/// Who answered hears that it counts once it can't be lost any more.
fn notify_when_committed(runs: &Inner, run: RunKey, answered: oneshot::Sender<()>) {
    let journal = runs.journal.clone();
    tokio::spawn(async move {
        if journal.flush(run).await.is_ok() {
            // Who asked may have gone.
            let _ = answered.send(());
        }
    });
}

fn event_bytes(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Thinking(text) => text.len(),
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

fn duration_from_secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}
