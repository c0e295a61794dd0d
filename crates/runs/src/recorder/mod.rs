//! Records a run's model calls for the diagnostics: shortly after a call has begun, when it has
//! ended, and with the run's end; never for each token. Nothing in the run depends on it.

mod call_record;

use std::{future::pending, mem, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use self::call_record::CallRecord;
use crate::{
    agent::{Effect, Input, LeftOut},
    diagnostics::{
        record::{Purpose, RequestRecord},
        redaction::SentBefore,
        timeline::{TimelineEntry, push_timeline_event},
    },
};
use parlor_base::{clock, secrets::Secrets, settings::Settings};
use parlor_journal::Journal;
use parlor_model::{ModelRequest, RequestPreview, ServerCapabilities};
use parlor_protocol::{Prices, RunEvent};
use parlor_providers::Models;
use parlor_storage::{RecordedModelCall, RunKey, jobs::JobKey};

/// Maximum number of timeline entries of one call, including those of its tools.
const MAX_TIMELINE_ENTRIES: usize = 300;

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
    max_iterations: usize,
}

impl RecorderSettings {
    pub fn new(settings: &Settings, secrets: Arc<Secrets>) -> Self {
        Self {
            secrets,
            max_call_bytes: settings.limits.diagnostics_bytes,
            max_runs: settings.limits.diagnostics_answers,
            max_iterations: settings.agent.max_iterations,
        }
    }
}

/// The owner of recorded calls.
#[derive(Clone, Debug)]
pub(super) enum CallOwner {
    Run(RunKey),
    /// A step of a job, by its key.
    Step {
        job: JobKey,
        key: String,
    },
}

impl From<RunKey> for CallOwner {
    fn from(run: RunKey) -> Self {
        Self::Run(run)
    }
}

/// Records one run, or a call of a step.
pub(super) struct Recorder {
    owner: CallOwner,
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
    /// True if the next call is a retry.
    is_retry: bool,
}

impl Recorder {
    pub fn new(
        owner: impl Into<CallOwner>,
        journal: Journal,
        models: Arc<Models>,
        settings: Arc<RecorderSettings>,
        purpose: Purpose,
    ) -> Self {
        Self {
            owner: owner.into(),
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

    /// Records that the model is called, at these prices. The request body is built only when it is written, so as
    /// not to delay the first token.
    pub async fn record_call(&mut self, request: Arc<ModelRequest>, prices: Option<Prices>) {
        let now = Instant::now();
        if mem::take(&mut self.is_retry)
            && let Some(call) = &mut self.call
        {
            call.restart(request, prices, now);
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
        self.call = Some(CallRecord::new(
            request,
            prices,
            mem::take(&mut self.sent_before),
            mem::take(&mut self.early_events),
            now,
        ));
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
            let sent = sent(&pending.request.without_provider_data());
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

    /// Records an input of the run.
    pub fn record_input(&mut self, input: &Input) {
        if let Some(call) = &mut self.call {
            let max_bytes = self.settings.max_call_bytes + self.settings.secrets.lookahead_bytes();
            call.record_input(input, max_bytes);
        }
    }

    /// Records an effect of the run. Call it once for each effect, before it is performed.
    pub fn record_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Log(event) => self.record_event(event),
            Effect::Pause(event) | Effect::End(event) => {
                self.record_event(event);
                if let Some(call) = &mut self.call {
                    call.end_with_run(event);
                }
            }
            Effect::ScheduleRetry(_) => self.is_retry = true,
            Effect::LeaveOut(left_out) => self.record_left_out(left_out),
            Effect::CallModel { .. }
            | Effect::Check(_)
            | Effect::StorePayload(_)
            | Effect::StoreProviderData { .. }
            | Effect::RunTool { .. } => {}
        }
    }

    /// Records a part of the output that the user is not shown.
    pub fn record_left_out(&mut self, left_out: &LeftOut) {
        if let Some(call) = &mut self.call {
            call.record_left_out(left_out);
        }
    }

    fn record_event(&mut self, event: &RunEvent) {
        let events = match &mut self.call {
            Some(call) => &mut call.response.events,
            None => &mut self.early_events,
        };
        push_timeline_event(events, event, clock::now(), MAX_TIMELINE_ENTRIES);
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

    /// Writes the record of the last call.
    pub async fn write_call(&mut self) {
        let request = self.take_request().map(|request| serde_json::to_string(&request));
        let Some(call) = &mut self.call else { return };
        call.is_dirty = false;
        let response = call
            .response
            .truncated(&self.settings.secrets, self.settings.max_call_bytes);
        let (Ok(request), Ok(response)) = (request.transpose(), serde_json::to_string(&response)) else {
            tracing::error!(owner = ?self.owner, "a model call could not be recorded");
            return;
        };
        let call = RecordedModelCall {
            id: call.id,
            request,
            response,
        };
        match &self.owner {
            CallOwner::Run(run) => self.journal.record_call(*run, call, self.settings.max_runs).await,
            CallOwner::Step { job, key } => self.journal.record_job_call(*job, key.clone(), call).await,
        }
    }
}

#[cfg(test)]
mod tests;
