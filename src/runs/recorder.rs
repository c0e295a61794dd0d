//! Writes down how a run calls its model, for the diagnostics: a moment after a call has begun, when it has ended, and with the
//! run's end. Never for a token. Nothing that the run does depends on it.

use std::{collections::BTreeMap, future::pending, mem, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use crate::{
    agent::Input,
    clock,
    diagnostics::{
        cost_of,
        record::{
            Failure, Known, Purpose, RawCall, RawPiece, Request, Response, TimelineEntry, Tokens, happened,
        },
    },
    journal::Journal,
    model::{Cost, Manners, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Sent, Usage},
    protocol::{CallId, EventBody, RunStatus, Timestamp},
    providers::Models,
    secrets::Secrets,
    settings::{Price, Settings},
    storage::{RecordedCall, RunKey},
};

/// The most entries in the timeline of one call, with the tools that it asked for.
const MOST_EVENTS: usize = 300;

/// The most tool calls that are kept of what one call of the model gave.
const MOST_TOOL_CALLS: usize = 200;

/// The most pieces that could not be taken in that are kept of one call.
const MOST_UNREAD: usize = 50;

/// The most failures that are kept of one call.
const MOST_FAILURES: usize = 20;

/// After so many calls one is written down as a whole again, and not as what it adds to the one before: of a run with very many, the
/// first ones are forgotten, and the others must be understood without them.
const WHOLE_AGAIN: usize = 30;

/// A call is written down so long after it was made, or when something is heard of it: it takes as long as many other things before
/// the first token, of which it must not stand in the way.
const WRITTEN_AFTER: Duration = Duration::from_millis(100);

/// What all runs are recorded by.
#[derive(Debug)]
pub(super) struct Terms {
    pub secrets: Arc<Secrets>,
    /// What is kept of one call: of what was sent, and of what came back.
    bytes: usize,
    /// Of so many runs of a conversation.
    runs: usize,
    prices: BTreeMap<String, Price>,
    max_iterations: usize,
}

impl Terms {
    pub fn of(settings: &Settings) -> Self {
        Self {
            secrets: Arc::new(Secrets::of(settings)),
            bytes: settings.limits.diagnostics_bytes,
            runs: settings.limits.diagnostics_answers,
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
    terms: Arc<Terms>,
    purpose: Purpose,
    /// What the call before has sent, as far as it has counted.
    known: Known,
    /// Calls since one was written down as a whole.
    since_whole: usize,
    /// What happened before the first call.
    before: Vec<TimelineEntry>,
    call: Option<Call>,
    /// The next call is the same one again.
    again: bool,
}

/// The last call.
struct Call {
    id: CallId,
    model: String,
    /// What was asked, until it is written down as the server has taken it: it may refuse a part, and is asked without that then.
    asked: Option<Asked>,
    started_at: Timestamp,
    /// What the call before has sent.
    known: Known,
    /// The server has begun to answer: it has taken what it was asked.
    is_answered: bool,
    response: Response,
    /// When it was first made, and when last.
    begun: Instant,
    made: Instant,
    /// Bytes of what came back.
    bytes: usize,
    /// There is something new to write down now.
    due: bool,
}

/// What a server is asked.
struct Asked {
    request: Arc<ModelRequest>,
    /// How it is written down, if it is.
    written: Option<Manners>,
}

impl Asked {
    fn new(request: Arc<ModelRequest>) -> Self {
        Self {
            request,
            written: None,
        }
    }
}

impl Recorder {
    pub fn new(
        run: RunKey,
        journal: Journal,
        models: Arc<Models>,
        terms: Arc<Terms>,
        purpose: Purpose,
    ) -> Self {
        Self {
            run,
            journal,
            models,
            terms,
            purpose,
            known: Known::default(),
            since_whole: 0,
            before: Vec::new(),
            call: None,
            again: false,
        }
    }

    /// The model is called. What it is sent is put together when it is written down: nobody waits for that before the first token.
    pub async fn calls(&mut self, request: Arc<ModelRequest>) {
        let now = Instant::now();
        if mem::take(&mut self.again)
            && let Some(call) = &mut self.call
        {
            call.begins_again(request, now);
            return;
        }
        // What its tools have done since.
        self.write().await;
        if self.terms.runs == 0 {
            return;
        }
        if self.since_whole >= WHOLE_AGAIN {
            self.known = Known::default();
            self.since_whole = 0;
        }
        self.since_whole += 1;
        let mut response = Response::awaited();
        response.events = mem::take(&mut self.before);
        self.call = Some(Call {
            id: CallId::new(),
            model: request.model.clone(),
            asked: Some(Asked::new(request)),
            started_at: clock::now(),
            known: mem::take(&mut self.known),
            is_answered: false,
            response,
            begun: now,
            made: now,
            bytes: 0,
            due: true,
        });
    }

    /// What was sent, if that is to be written down. It is once more if its server has refused a part of it since.
    fn request(&mut self) -> Option<Request> {
        let call = self.call.as_mut()?;
        let mut asked = call.asked.take()?;
        let endpoint = self.models.resolve(&asked.request.model);
        let manners = match &endpoint {
            Ok((endpoint, model)) => endpoint.manners(model),
            Err(_) => Manners::ALL,
        };
        let is_written = asked.written.replace(manners) == Some(manners);
        let sent = |request: &ModelRequest| match endpoint {
            Ok((endpoint, model)) => endpoint.sends(&model, request),
            // The call says so.
            Err(_) => Sent::default(),
        };
        let request = (!is_written).then(|| {
            self.known = call.known.clone();
            let sent = sent(&asked.request.without_opaque());
            Request {
                started_at: call.started_at,
                model: asked.request.model.clone(),
                max_iterations: self.terms.max_iterations,
                purpose: self.purpose,
                ..Request::of(sent, &mut self.known, &self.terms.secrets, self.terms.bytes)
            }
        });
        call.asked = (!call.is_answered).then_some(asked);
        request
    }

    /// The call that failed will be made again.
    pub fn waits(&mut self) {
        self.again = true;
    }

    /// Something has happened to the run.
    pub fn heard(&mut self, input: &Input) {
        let most = self.terms.bytes + self.terms.secrets.margin();
        let Some(call) = &mut self.call else { return };
        call.is_answered |= matches!(input, Input::Model(_));
        match input {
            Input::Model(ModelEvent::Usage(usage)) => call.costs(usage, &self.terms.prices, &self.models),
            Input::Model(ModelEvent::Finished(reason)) => {
                call.response.finish_reason = Some(reason.as_str().into());
                call.ends(RunStatus::Complete);
            }
            Input::Model(event) => call.says(event, most),
            Input::Failed(error) => call.fails(error),
            Input::BrokeOff => call.ends(RunStatus::Interrupted),
            _ => {}
        }
    }

    /// Something is added to the run's log.
    pub fn logs(&mut self, event: &EventBody) {
        let events = match &mut self.call {
            Some(call) => &mut call.response.events,
            None => &mut self.before,
        };
        happened(events, event, clock::now(), MOST_EVENTS);
    }

    /// The run ends, or waits for a person, with this event.
    pub async fn ends(&mut self, event: &EventBody) {
        self.logs(event);
        if let (Some(call), Some(status)) = (&mut self.call, event.terminal_status())
            && call.response.status == RunStatus::Running
        {
            call.ends(status);
            if let EventBody::Error { error, ended_at, .. } = event {
                let (at, error) = (*ended_at, error.clone());
                call.response.failures.push(Failure { at, error });
            }
        }
        self.write().await;
    }

    /// Ready when a call is to be written down of which nothing was heard yet.
    pub async fn is_time(&self) {
        match &self.call {
            Some(call) if call.due => sleep_until(call.made + WRITTEN_AFTER).await,
            _ => pending().await,
        }
    }

    /// Writes down what is due.
    pub async fn keep_up(&mut self) {
        if self.call.as_ref().is_some_and(|call| call.due) {
            self.write().await;
        }
    }

    async fn write(&mut self) {
        let request = self.request().map(|request| serde_json::to_string(&request));
        let Some(call) = &mut self.call else { return };
        call.due = false;
        let response = call.response.kept(&self.terms.secrets, self.terms.bytes);
        let (Ok(request), Ok(response)) = (request.transpose(), serde_json::to_string(&response)) else {
            tracing::error!(run = %self.run.message_id, "a call could not be written down");
            return;
        };
        let call = RecordedCall {
            id: call.id,
            request,
            response,
        };
        self.journal.record(self.run, call, self.terms.runs).await;
    }
}

impl Call {
    /// The model says something. At most so many bytes of all are kept.
    fn says(&mut self, event: &ModelEvent, most: usize) {
        let made = self.made;
        self.response
            .first_token_ms
            .get_or_insert_with(|| milliseconds_since(made));
        let raw = &mut self.response.raw;
        let mut add = |to: &mut String, text: &str| {
            let room = most.saturating_sub(self.bytes);
            let kept = &text[..text.floor_char_boundary(room)];
            raw.cut |= kept.len() < text.len();
            self.bytes += kept.len();
            to.push_str(kept);
        };
        match event {
            ModelEvent::Thinking(text) => add(&mut raw.thinking, text),
            ModelEvent::Text(text) => add(&mut raw.text, text),
            ModelEvent::ToolCall { id, name, .. } if raw.tool_calls.len() < MOST_TOOL_CALLS => {
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
            ModelEvent::Unread { what, raw: piece } if raw.unread.len() < MOST_UNREAD => {
                let mut kept = RawPiece::default();
                add(&mut kept.what, what.name());
                add(&mut kept.raw, piece);
                raw.unread.push(kept);
            }
            ModelEvent::Unread { .. } => raw.cut = true,
            // What is for the provider alone is shown to nobody.
            ModelEvent::Opaque { .. }
            | ModelEvent::Sources(_)
            | ModelEvent::Usage(_)
            | ModelEvent::Finished(_) => {}
        }
    }

    fn costs(&mut self, usage: &Usage, prices: &BTreeMap<String, Price>, models: &Models) {
        self.response.usage = Some(Tokens {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
        });
        let is_named = |name: &str| models.is_named(&self.model, name);
        let cost = cost_of(usage, &self.model, prices, is_named);
        self.response.cost = cost.map(Cost::dollars);
    }

    fn fails(&mut self, error: &ModelError) {
        if self.response.failures.len() < MOST_FAILURES {
            self.response.failures.push(Failure {
                at: clock::now(),
                error: error.error.clone(),
            });
        }
        self.ends(match error.kind {
            ModelErrorKind::Broken => RunStatus::Interrupted,
            ModelErrorKind::Refused | ModelErrorKind::Unavailable { .. } => RunStatus::Failed,
        });
    }

    /// What is sent this time may be something else: it is what was sent last that counts.
    fn begins_again(&mut self, request: Arc<ModelRequest>, at: Instant) {
        self.asked = Some(Asked::new(request));
        self.is_answered = false;
        self.made = at;
        self.response.status = RunStatus::Running;
        self.response.duration_ms = None;
        self.response.retries += 1;
        self.due = true;
    }

    fn ends(&mut self, status: RunStatus) {
        self.response.status = status;
        self.response.duration_ms = Some(milliseconds_since(self.begun));
        self.due = true;
    }
}

fn milliseconds_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
