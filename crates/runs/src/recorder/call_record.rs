//! The record of one model call while it runs: its request until it is written, and its response so far.

use std::{mem, sync::Arc};

use tokio::time::Instant;

use crate::{
    agent::{Input, LeftOut},
    diagnostics::{
        record::{CallFailure, RawCall, RawContent, ResponseRecord, TokenUsage},
        redaction::SentBefore,
        timeline::TimelineEntry,
    },
};
use parlor_base::clock;
use parlor_model::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, ReportedUsage, ServerCapabilities};
use parlor_protocol::{Dollars, ModelCallId, Prices, RunEvent, RunStatus, Timestamp};

/// Maximum number of recorded tool calls of one model call.
const MAX_TOOL_CALLS: usize = 200;

/// Maximum number of recorded unreadable contents of one call.
const MAX_UNREADABLE: usize = 50;

/// Maximum number of recorded failures of one call.
const MAX_FAILURES: usize = 20;

/// The record of the last call.
pub(super) struct CallRecord {
    pub id: ModelCallId,
    prices: Option<Prices>,
    /// The request, until the server has accepted it and it is recorded. A server may reject a part
    /// of it; the request is then sent without that part.
    pub pending_request: Option<PendingRequest>,
    pub started_at: Timestamp,
    /// The request of the call before.
    pub sent_before: SentBefore,
    /// True if the server has begun to answer, so it has accepted the request.
    pub has_answer: bool,
    pub response: ResponseRecord,
    /// The times of its first and its last attempt.
    first_started: Instant,
    pub last_started: Instant,
    /// Bytes of the answer.
    answer_bytes: usize,
    /// True if there is new data to record now.
    pub is_dirty: bool,
}

/// A request that is not recorded yet.
pub(super) struct PendingRequest {
    pub request: Arc<ModelRequest>,
    /// The server capabilities with which it was recorded; `None` if it was not recorded.
    pub written_as: Option<ServerCapabilities>,
}

impl PendingRequest {
    fn new(request: Arc<ModelRequest>) -> Self {
        Self {
            request,
            written_as: None,
        }
    }
}

impl CallRecord {
    /// Creates the record of a call that begins. `events` precede it.
    pub fn new(
        request: Arc<ModelRequest>,
        prices: Option<Prices>,
        sent_before: SentBefore,
        events: Vec<TimelineEntry>,
        at: Instant,
    ) -> Self {
        Self {
            id: ModelCallId::new(),
            prices,
            pending_request: Some(PendingRequest::new(request)),
            started_at: clock::now(),
            sent_before,
            has_answer: false,
            response: ResponseRecord {
                events,
                ..ResponseRecord::pending()
            },
            first_started: at,
            last_started: at,
            answer_bytes: 0,
            is_dirty: true,
        }
    }

    /// Records an input of the run. At most `max_bytes` of the whole answer are kept.
    pub fn record_input(&mut self, input: &Input, max_bytes: usize) {
        self.has_answer |= matches!(input, Input::Model(_));
        match input {
            Input::Model(ModelEvent::Usage(usage)) => self.record_usage(usage),
            Input::Model(ModelEvent::Finished(reason)) => {
                self.response.finish_reason = Some(reason.as_str().into());
                self.finish(RunStatus::Complete);
            }
            Input::Model(event) => self.record_model_event(event, max_bytes),
            Input::CallFailed(error) => self.record_failure(error),
            Input::StreamEnded => self.finish(RunStatus::Interrupted),
            _ => {}
        }
    }

    /// Records the event with which the run ends or waits for the user, unless the call has ended before.
    pub fn end_with_run(&mut self, event: &RunEvent) {
        let Some(status) = event.terminal_status() else {
            return;
        };
        if self.response.status != RunStatus::Running {
            return;
        }
        self.finish(status);
        if let RunEvent::Error { error, ended_at, .. } = event {
            let (at, error) = (*ended_at, error.clone());
            self.response.failures.push(CallFailure { at, error });
        }
    }

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
            ModelEvent::Unreadable { what, raw: content } if raw.unreadable.len() < MAX_UNREADABLE => {
                let mut kept = RawContent::default();
                add(&mut kept.what, what.name());
                add(&mut kept.raw, content);
                raw.unreadable.push(kept);
            }
            ModelEvent::Unreadable { .. } => raw.cut = true,
            // Provider data is for the provider only.
            ModelEvent::ProviderData { .. }
            | ModelEvent::Image(_)
            | ModelEvent::Sources(_)
            | ModelEvent::Refusal(_)
            | ModelEvent::Note(_)
            | ModelEvent::InputCounted(_)
            | ModelEvent::Usage(_)
            | ModelEvent::Finished(_) => {}
        }
    }

    /// Records a part of the answer that the user is not shown.
    pub fn record_left_out(&mut self, left_out: &LeftOut) {
        let raw = &mut self.response.raw;
        if raw.left_out.len() < MAX_UNREADABLE {
            raw.left_out.push(RawContent {
                what: left_out.what.clone(),
                raw: left_out.raw.clone(),
            });
        }
    }

    fn record_usage(&mut self, usage: &ReportedUsage) {
        self.response.usage = Some(TokenUsage::from(usage));
        self.response.cost = usage.cost_at(self.prices.as_ref()).map(Dollars::to_f64);
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
    pub fn restart(&mut self, request: Arc<ModelRequest>, prices: Option<Prices>, at: Instant) {
        self.prices = prices;
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
