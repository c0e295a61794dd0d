//! Records a run's model calls for the diagnostics: shortly after a call has begun, when it has
//! ended, and with the run's end; never for each token. Nothing in the run depends on it.

use std::{collections::BTreeMap, future::pending, mem, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use crate::{
    agent::Input,
    clock,
    diagnostics::{
        call_cost,
        record::{
            CallFailure, Purpose, RawCall, RawPiece, RequestRecord, ResponseRecord, SentBefore,
            TimelineEntry, TokenUsage, push_timeline_event,
        },
    },
    journal::Journal,
    model::{
        Cost, ModelError, ModelErrorKind, ModelEvent, ModelRequest, RequestPreview, ServerCapabilities, Usage,
    },
    protocol::{CallId, EventBody, RunStatus, Timestamp},
    providers::Models,
    secrets::Secrets,
    settings::{Price, Settings},
    storage::{RecordedCall, RunKey},
};

/// Maximum number of timeline entries of one call, including those of its tools.
const MAX_TIMELINE_ENTRIES: usize = 300;

/// Maximum number of recorded tool calls of one model call.
const MAX_TOOL_CALLS: usize = 200;

/// Maximum number of recorded unreadable pieces of one call.
const MAX_UNREADABLE: usize = 50;

/// Maximum number of recorded failures of one call.
const MAX_FAILURES: usize = 20;

/// A call is recorded in full once in this many calls, and otherwise as the difference from the
/// call before. In a very long run the first records are deleted, and the others must be readable
/// without them.
const FULL_RECORD_INTERVAL: usize = 30;

/// The delay before a call is recorded, unless something is received earlier. Recording takes as
/// long as many other steps before the first token and must not delay it.
const WRITE_DELAY: Duration = Duration::from_millis(100);

/// The settings for recording all runs.
#[derive(Debug)]
pub(super) struct RecorderSettings {
    pub secrets: Arc<Secrets>,
    /// Maximum recorded bytes of one call, for the request and for the answer each.
    max_call_bytes: usize,
    /// Maximum number of recorded runs of a conversation.
    max_runs: usize,
    prices: BTreeMap<String, Price>,
    max_iterations: usize,
}

impl RecorderSettings {
    pub fn from_settings(settings: &Settings) -> Self {
        Self {
            secrets: Arc::new(Secrets::from_settings(settings)),
            max_call_bytes: settings.limits.diagnostics_bytes,
            max_runs: settings.limits.diagnostics_answers,
            prices: settings.models.prices.clone(),
            max_iterations: settings.agent.max_iterations,
        }
    }
}

/// Records one run.
pub(super) struct Recorder {
    run: RunKey,
    journal: Journal,
    models: Arc<Models>,
    settings: Arc<RecorderSettings>,
    purpose: Purpose,
    /// The counted part of the request before.
    sent_before: SentBefore,
    /// The number of calls since the last full record.
    calls_since_full: usize,
    /// Events before the first call.
    early_events: Vec<TimelineEntry>,
    call: Option<CallRecord>,
    /// The next call is a retry.
    is_retry: bool,
}

/// The record of the last call.
struct CallRecord {
    id: CallId,
    model: String,
    /// The request, until the server has accepted it and it is recorded. A server may reject a part
    /// of it; the request is then sent without that part.
    pending_request: Option<PendingRequest>,
    started_at: Timestamp,
    /// The request of the call before.
    sent_before: SentBefore,
    /// The server has begun to answer, so it has accepted the request.
    has_answer: bool,
    response: ResponseRecord,
    /// The times of its first and its last attempt.
    first_started: Instant,
    last_started: Instant,
    /// Bytes of the answer.
    answer_bytes: usize,
    /// There is new data to record now.
    is_dirty: bool,
}

/// A request that is not recorded yet.
struct PendingRequest {
    request: Arc<ModelRequest>,
    /// The server capabilities with which it was recorded; `None` if it was not recorded.
    written_as: Option<ServerCapabilities>,
}

impl PendingRequest {
    fn new(request: Arc<ModelRequest>) -> Self {
        Self {
            request,
            written_as: None,
        }
    }
}

impl Recorder {
    pub fn new(
        run: RunKey,
        journal: Journal,
        models: Arc<Models>,
        settings: Arc<RecorderSettings>,
        purpose: Purpose,
    ) -> Self {
        Self {
            run,
            journal,
            models,
            settings,
            purpose,
            sent_before: SentBefore::default(),
            calls_since_full: 0,
            early_events: Vec::new(),
            call: None,
            is_retry: false,
        }
    }

    /// Records that the model is called. The request body is built only when it is written, so as
    /// not to delay the first token.
    pub async fn record_call(&mut self, request: Arc<ModelRequest>) {
        let now = Instant::now();
        if mem::take(&mut self.is_retry)
            && let Some(call) = &mut self.call
        {
            call.restart(request, now);
            return;
        }
        // Records the events of its tools since the last write.
        self.write_call().await;
        if self.settings.max_runs == 0 {
            return;
        }
        if self.calls_since_full >= FULL_RECORD_INTERVAL {
            self.sent_before = SentBefore::default();
            self.calls_since_full = 0;
        }
        self.calls_since_full += 1;
        let mut response = ResponseRecord::pending();
        response.events = mem::take(&mut self.early_events);
        self.call = Some(CallRecord {
            id: CallId::new(),
            model: request.model.clone(),
            pending_request: Some(PendingRequest::new(request)),
            started_at: clock::now(),
            sent_before: mem::take(&mut self.sent_before),
            has_answer: false,
            response,
            first_started: now,
            last_started: now,
            answer_bytes: 0,
            is_dirty: true,
        });
    }

    /// Returns the request if it has to be recorded. It is recorded again if its server has
    /// rejected a part of it since.
    fn take_request(&mut self) -> Option<RequestRecord> {
        let call = self.call.as_mut()?;
        let mut pending = call.pending_request.take()?;
        let endpoint = self.models.resolve(&pending.request.model);
        let capabilities = match &endpoint {
            Ok((endpoint, model)) => endpoint.capabilities(model),
            Err(_) => ServerCapabilities::ALL,
        };
        let is_written = pending.written_as.replace(capabilities) == Some(capabilities);
        let sent = |request: &ModelRequest| match endpoint {
            Ok((endpoint, model)) => endpoint.preview_request(&model, request),
            // The call reports the error.
            Err(_) => RequestPreview::default(),
        };
        let request = (!is_written).then(|| {
            self.sent_before = call.sent_before.clone();
            let sent = sent(&pending.request.without_opaque());
            RequestRecord {
                started_at: call.started_at,
                model: pending.request.model.clone(),
                max_iterations: self.settings.max_iterations,
                purpose: self.purpose,
                ..RequestRecord::from_preview(
                    sent,
                    &mut self.sent_before,
                    &self.settings.secrets,
                    self.settings.max_call_bytes,
                )
            }
        });
        call.pending_request = (!call.has_answer).then_some(pending);
        request
    }

    /// Records that the failed call will be repeated.
    pub fn record_retry(&mut self) {
        self.is_retry = true;
    }

    /// Records an input of the run.
    pub fn record_input(&mut self, input: &Input) {
        let max_bytes = self.settings.max_call_bytes + self.settings.secrets.lookahead_bytes();
        let Some(call) = &mut self.call else { return };
        call.has_answer |= matches!(input, Input::Model(_));
        match input {
            Input::Model(ModelEvent::Usage(usage)) => {
                call.record_usage(usage, &self.settings.prices, &self.models)
            }
            Input::Model(ModelEvent::Finished(reason)) => {
                call.response.finish_reason = Some(reason.as_str().into());
                call.finish(RunStatus::Complete);
            }
            Input::Model(event) => call.record_model_event(event, max_bytes),
            Input::CallFailed(error) => call.record_failure(error),
            Input::StreamEnded => call.finish(RunStatus::Interrupted),
            _ => {}
        }
    }

    /// Records an event of the run's log.
    pub fn record_event(&mut self, event: &EventBody) {
        let events = match &mut self.call {
            Some(call) => &mut call.response.events,
            None => &mut self.early_events,
        };
        push_timeline_event(events, event, clock::now(), MAX_TIMELINE_ENTRIES);
    }

    /// Records the event with which the run ends or waits for a person.
    pub async fn finish(&mut self, event: &EventBody) {
        self.record_event(event);
        if let (Some(call), Some(status)) = (&mut self.call, event.terminal_status())
            && call.response.status == RunStatus::Running
        {
            call.finish(status);
            if let EventBody::Error { error, ended_at, .. } = event {
                let (at, error) = (*ended_at, error.clone());
                call.response.failures.push(CallFailure { at, error });
            }
        }
        self.write_call().await;
    }

    /// Waits until the record of a call without any answer yet is due.
    pub async fn wait_until_due(&self) {
        match &self.call {
            Some(call) if call.is_dirty => sleep_until(call.last_started + WRITE_DELAY).await,
            _ => pending().await,
        }
    }

    /// Writes the record if it is due.
    pub async fn write_due(&mut self) {
        if self.call.as_ref().is_some_and(|call| call.is_dirty) {
            self.write_call().await;
        }
    }

    async fn write_call(&mut self) {
        let request = self.take_request().map(|request| serde_json::to_string(&request));
        let Some(call) = &mut self.call else { return };
        call.is_dirty = false;
        let response = call
            .response
            .truncated(&self.settings.secrets, self.settings.max_call_bytes);
        let (Ok(request), Ok(response)) = (request.transpose(), serde_json::to_string(&response)) else {
            tracing::error!(run = %self.run.message_id, "a model call could not be recorded");
            return;
        };
        let call = RecordedCall {
            id: call.id,
            request,
            response,
        };
        self.journal
            .record_call(self.run, call, self.settings.max_runs)
            .await;
    }
}

impl CallRecord {
    /// Records a model event. At most `max_bytes` of the whole answer are kept.
    fn record_model_event(&mut self, event: &ModelEvent, max_bytes: usize) {
        let started = self.last_started;
        self.response
            .first_token_ms
            .get_or_insert_with(|| elapsed_ms(started));
        let raw = &mut self.response.raw;
        let mut add = |to: &mut String, text: &str| {
            let room = max_bytes.saturating_sub(self.answer_bytes);
            let kept = &text[..text.floor_char_boundary(room)];
            raw.cut |= kept.len() < text.len();
            self.answer_bytes += kept.len();
            to.push_str(kept);
        };
        match event {
            ModelEvent::Thinking(text) => add(&mut raw.thinking, text),
            ModelEvent::Text(text) => add(&mut raw.text, text),
            ModelEvent::ToolCall { id, name, .. } if raw.tool_calls.len() < MAX_TOOL_CALLS => {
                let mut call = RawCall::default();
                add(&mut call.id, id);
                add(&mut call.name, name);
                raw.tool_calls.push(call);
            }
            ModelEvent::ToolArguments { index, delta } => {
                if let Some(call) = raw.tool_calls.get_mut(*index) {
                    add(&mut call.arguments, delta);
                }
            }
            ModelEvent::ToolCall { .. } => raw.cut = true,
            ModelEvent::TextWasThinking => {
                let text = mem::take(&mut raw.text);
                raw.thinking.push_str(&text);
            }
            ModelEvent::Unreadable { what, raw: piece } if raw.unread.len() < MAX_UNREADABLE => {
                let mut kept = RawPiece::default();
                add(&mut kept.what, what.name());
                add(&mut kept.raw, piece);
                raw.unread.push(kept);
            }
            ModelEvent::Unreadable { .. } => raw.cut = true,
            // Opaque data are for the provider only.
            ModelEvent::Opaque { .. }
            | ModelEvent::Sources(_)
            | ModelEvent::Usage(_)
            | ModelEvent::Finished(_) => {}
        }
    }

    fn record_usage(&mut self, usage: &Usage, prices: &BTreeMap<String, Price>, models: &Models) {
        self.response.usage = Some(TokenUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
        });
        let is_named = |name: &str| models.is_named(&self.model, name);
        let cost = call_cost(usage, &self.model, prices, is_named);
        self.response.cost = cost.map(Cost::dollars);
    }

    fn record_failure(&mut self, error: &ModelError) {
        if self.response.failures.len() < MAX_FAILURES {
            self.response.failures.push(CallFailure {
                at: clock::now(),
                error: error.error.clone(),
            });
        }
        self.finish(match error.kind {
            ModelErrorKind::StreamBroken => RunStatus::Interrupted,
            ModelErrorKind::Refused | ModelErrorKind::Unavailable { .. } => RunStatus::Failed,
        });
    }

    /// Starts the record again for a retry. Its request may differ; the last request counts.
    fn restart(&mut self, request: Arc<ModelRequest>, at: Instant) {
        self.pending_request = Some(PendingRequest::new(request));
        self.has_answer = false;
        self.last_started = at;
        self.response.status = RunStatus::Running;
        self.response.duration_ms = None;
        self.response.retries += 1;
        self.is_dirty = true;
    }

    fn finish(&mut self, status: RunStatus) {
        self.response.status = status;
        self.response.duration_ms = Some(elapsed_ms(self.first_started));
        self.is_dirty = true;
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
