//! The driver of one run: feeds inputs to the agent and performs its effects, until the run ends or
//! waits for a user.

mod answer_images;
mod checks;
mod hand_over;
mod inputs;
mod prepare;
mod project_files;
mod provider_data;
mod restore;
mod sources;
mod usage;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::{sync::oneshot, time::Instant};

use self::{prepare::wait_for_tools, restore::RunSession};
use super::{
    Inner, ReadError,
    active_runs::RunSlot,
    approved_tools::ApprovedTools,
    history::RunHistory,
    page_payloads::PagePayloads,
    pending_model_call::{PendingModelCall, SharedMeter},
    recorder::Recorder,
    request_builder::ModelRequestBuilder,
    token_meter::TokenMeter,
    tool_choice::ToolChoice,
    tool_tasks::ToolTasks,
};
use crate::agent::{Agent, Effect, Input, Unchecked};
use parlor_base::clock;
use parlor_base::crash_point;
use parlor_journal::JournalError;
use parlor_model::{ModelEvent, ModelRequest};
use parlor_pages::Prompt;
use parlor_protocol::{
    AssistantMessage, Attachment, Dollars, Message, MessageId, PageContext, PlacedProviderData, RunEvent,
};
use parlor_providers::Models;
use parlor_storage::{Change, RunKey, RunOutput, StorageErrorKind};

/// A run's message is stored as a snapshot after this many events, or after a tenth of all its
/// events if that is more. A conversation then opens by replaying few events, and the bytes written
/// stay within a few times the answer.
const MIN_EVENTS_PER_SNAPSHOT: usize = 1000;

/// Drives a run until it ends, waits for a user, or is left to the next start of the server. That is committed when this
/// returns.
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
    tool_choice: ToolChoice,
    request_builder: Arc<ModelRequestBuilder>,
    /// The models as of the run's beginning: an endpoint that is changed or removed meanwhile stays the same for it.
    models: Arc<Models>,
    page_payloads: Arc<PagePayloads>,
    /// The cost at which the answer of a schedule ends.
    cost_limit: Option<Dollars>,
    /// The page that the user had open when they asked.
    page: Option<Arc<PageContext>>,
    /// The messages that lead to the run, oldest first.
    history: Arc<[Message]>,
    /// The files of the user's messages on the branch.
    attached: Arc<[Attachment]>,
    /// The files of the project.
    project_files: Vec<Attachment>,
    /// The provider data of the history and the answer, for the models' providers only.
    provider_data: HashMap<MessageId, Vec<PlacedProviderData>>,
    /// Bytes of provider data in the present call.
    opaque_bytes: usize,
    /// The system prompt.
    prompt: Arc<Prompt>,
    /// The session that the run may use.
    session: Option<RunSession>,
    pending_call: PendingModelCall,
    /// The number of the model's events that were taken without a look at other inputs.
    taken_in_sequence: usize,
    /// The checked parts of the answer, for the agent.
    checked: VecDeque<Unchecked>,
    /// The meter of the last call.
    meter: Option<SharedMeter>,
    tool_tasks: ToolTasks,
    recorder: Recorder,
    deadline: Instant,
    /// Bytes that the model has produced.
    produced_bytes: usize,
    /// Images of the answer that were rejected.
    rejected_images: usize,
    /// Events logged, and their number at the last snapshot.
    logged_events: usize,
    stored_events: usize,
    /// The time at which the run was started or continued; `None` once its first token has come.
    waits_since: Option<Instant>,
    /// Notified when the user's last answer is committed.
    approval_committed: Option<oneshot::Sender<()>>,
}

impl Driver<'_> {
    async fn drive(mut self, slot: &mut RunSlot) {
        let runs = self.runs;
        let given_up = runs.journal.wait_until_abandoned(self.run.message_id);
        tokio::pin!(given_up);
        // Its open calls go on before the model is called.
        let mut input = match self.agent.message().nodes.is_empty() {
            true => Input::Start,
            false => self.restore_session(slot).await.unwrap_or(Input::Start),
        };
        loop {
            for effect in self.agent.step(input, clock::now()) {
                self.recorder.record_effect(&effect);
                match effect {
                    Effect::Log(event) => {
                        self.logged_events += 1;
                        self.count_first_token(&event);
                        self.runs.journal.append(self.run, vec![event]).await;
                    }
                    Effect::Check(unchecked) => {
                        tokio::select! {
                            checked = self.check(unchecked) => self.checked.push_back(checked),
                            // The agent receives the stop next.
                            () = slot.stop.cancelled() => {}
                        }
                    }
                    // The recorder has it.
                    Effect::LeaveOut(_) => {}
                    Effect::StorePayload(payload) => self.runs.journal.store_payload(self.run, payload).await,
                    Effect::StoreProviderData { node, part, data } => {
                        self.store_provider_data(node, part, data).await
                    }
                    Effect::CallModel { with_tools } => {
                        if self.hand_over().await {
                            return;
                        }
                        let checked = tokio::select! {
                            checked = self.check_call() => Some(checked),
                            // The agent receives the stop next.
                            () = slot.stop.cancelled() => None,
                        };
                        match checked {
                            // A call of this run may have ended the session.
                            Some(Ok(())) => match self.restore_session(slot).await {
                                None => self.prepare_call(with_tools),
                                Some(failed) => {
                                    self.pending_call = PendingModelCall::NotMade(Box::new(failed))
                                }
                            },
                            Some(Err(refused)) => self.pending_call = PendingModelCall::refused(refused),
                            None => {}
                        }
                    }
                    Effect::ScheduleRetry(wait) => self.pending_call = PendingModelCall::retry(wait),
                    Effect::RunTool { index, tool, input } => {
                        let offered = self.toolbox.offer().get(&tool);
                        self.tool_tasks.start(index, tool, offered, input);
                    }
                    Effect::Pause(event) => {
                        slot.free_place();
                        return self.pause(event).await;
                    }
                    Effect::End(event) => {
                        slot.free_place();
                        return self.end(event).await;
                    }
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
            let next = tokio::select! {
                biased;
                () = &mut given_up => None,
                next = self.next_input(slot) => Some(next),
            };
            let Some(next) = next else {
                // A tool must not add anything after the end.
                self.tool_tasks.shut_down().await;
                return runs
                    .end_damaged_run(self.run, Some(self.agent.message().clone()))
                    .await;
            };
            input = next;
            self.recorder.record_input(&input);
            if let Input::Model(event) = &input {
                self.produced_bytes += event_bytes(event);
                if self.produced_bytes > self.runs.limits.answer_bytes {
                    input = Input::TooLong(self.runs.limits.answer_bytes);
                }
            }
            self.count_cut_call(&input).await;
            if matches!(input, Input::Shutdown) && self.runs.goes_on_by_itself(self.agent.message()) {
                return self.leave().await;
            }
        }
    }

    fn count_first_token(&mut self, event: &RunEvent) {
        if matches!(event, RunEvent::TextDelta { .. } | RunEvent::Thinking { .. })
            && let Some(since) = self.waits_since.take()
        {
            let metrics = self.runs.journal.metrics();
            metrics.runs.count_first_token(since.elapsed());
        }
    }

    /// Prepares the request of the next model call.
    fn prepare_call(&mut self, with_tools: bool) {
        let (answer, models) = (self.agent.message(), &self.models);
        let tools = match with_tools {
            true => self.tool_choice.choose(
                self.toolbox.offer(),
                &models.refused_tools(&answer.model),
                models.max_tools(&answer.model),
                answer,
            ),
            false => Vec::new(),
        };
        let call = self.request_builder.draft_call(
            self.prompt.clone(),
            RunHistory {
                history: &self.history,
                answer: (self.run.message_id, self.agent.message()),
                provider_data: &self.provider_data,
                correction: self.agent.correction(),
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
        let meter = Arc::new(Mutex::new(meter));
        self.meter = Some(meter.clone());
        self.pending_call = PendingModelCall::call(self.models.clone(), request, meter);
    }

    async fn pause(mut self, event: RunEvent) {
        self.recorder.write_call().await;
        let pause = Change::Output {
            run: self.run,
            output: RunOutput::PauseRun {
                events: vec![event],
                message: self.agent.message().clone(),
            },
        };
        let paused = self.runs.journal.submit(pause).await;
        if let (Ok(_), Some(answered)) = (&paused, self.approval_committed.take()) {
            // The caller may have gone away.
            let _ = answered.send(());
        }
        log_end_result(self.runs, self.run, self.agent.message().clone(), paused).await;
    }

    /// Leaves the run as it is: the next start of the server lets it go on.
    async fn leave(mut self) {
        let of_tools = self.tool_tasks.shut_down().await;
        self.count_cut(true, of_tools).await;
        self.recorder.write_call().await;
        if let Err(error) = self.runs.journal.flush(self.run).await {
            tracing::warn!(%error, run = %self.run.message_id, "the last words of an answer are not stored");
        }
    }

    async fn end(mut self, event: RunEvent) {
        crash_point!("runs::ending");
        // A tool must not add anything after the end.
        let of_tools = self.tool_tasks.shut_down().await;
        // An answer that repeats itself is ended before its server has counted.
        self.count_cut(true, of_tools).await;
        self.recorder.write_call().await;
        let end = Change::Output {
            run: self.run,
            output: RunOutput::EndRun {
                events: vec![event],
                message: self.agent.message().clone(),
            },
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
        Ok(_) => log_end(&message),
        // The conversation was deleted meanwhile. A call may have started its session after that.
        Err(JournalError::Rejected(_)) => {
            if let Some(sessions) = runs.tools.sessions() {
                sessions.end(run.conversation_id);
            }
        }
        Err(JournalError::Unavailable(StorageErrorKind::Damaged)) => {
            runs.end_damaged_run(run, Some(message)).await
        }
        Err(JournalError::Unavailable(_)) => {
            tracing::error!(run = %run.message_id, "the journal has stopped; the run will be ended at the next start");
        }
    }
}

fn log_end(message: &AssistantMessage) {
    let status = message.status.as_str();
    match &message.error {
        Some(error) => tracing::warn!(status, code = error.code, "an answer has ended with an error"),
        None => tracing::debug!(status, "an answer has ended"),
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
        ModelEvent::Text(text)
        | ModelEvent::Thinking(text)
        | ModelEvent::Refusal(text)
        | ModelEvent::Note(text) => text.len(),
        ModelEvent::ToolArguments { delta, .. } => delta.len(),
        ModelEvent::ToolCall { id, name, .. } => id.len() + name.len(),
        ModelEvent::Sources(sources) => sources
            .iter()
            .map(|source| source.url.len() + source.title.len())
            .sum(),
        ModelEvent::ProviderData { data, .. } => data.value.as_str().len(),
        ModelEvent::Unreadable { raw, .. } => raw.len(),
        // Images have limits of their own.
        ModelEvent::Image(_)
        | ModelEvent::InputCounted(_)
        | ModelEvent::Usage(_)
        | ModelEvent::Finished(_)
        | ModelEvent::TextWasThinking => 0,
    }
}
