//! A model call that is not for an answer, but for a summary, a title or a step of a job. It is recorded for the diagnostics.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use futures::{
    StreamExt,
    future::{self, Either},
};
use parking_lot::Mutex;
use tokio::time::sleep;

use super::{
    Inner,
    history::tokens::{self, TokenScale},
    pending_model_call::SharedMeter,
    recorder::{self, CallOwner, Recorder},
    token_meter::TokenMeter,
};
use crate::{
    agent::{Input, RepetitionDetector, stream_broke_off},
    diagnostics::record::Purpose,
};
use parlor_journal::Journal;
use parlor_model::{FinishReason, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream};
use parlor_protocol::TokenTotals;
use parlor_providers::Models;

/// The means of such calls of one run or step.
pub(super) struct SideCall {
    owner: CallOwner,
    models: Arc<Models>,
    journal: Journal,
    recorder_settings: Arc<recorder::RecorderSettings>,
    /// The number of repetitions of a passage in a row that makes an answer useless. 0 disables the check.
    max_repetitions: usize,
    purpose: Purpose,
    /// The meter of the call in progress.
    meter: Mutex<Option<SharedMeter>>,
    /// The failure of the call in progress.
    failure: Mutex<Option<ModelError>>,
    /// The result, for the log: "the summary of a conversation".
    name: &'static str,
    /// True if the call leaves its endpoint idle for others.
    has_low_priority: bool,
}

/// The reason why a call is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Its time is over.
    TimedOut,
    /// Its endpoint is needed for another call.
    Needed,
}

/// The result of such a call.
#[derive(Debug, Default)]
pub(super) struct SideAnswer {
    /// The whole answer; `None` if it did not come to its natural end in time.
    pub text: Option<String>,
    /// The tokens and the cost; an estimate if the call was cut off, nothing if the server refused it.
    pub totals: TokenTotals,
    /// The reason if it was cut off.
    pub cut: Option<Cut>,
    /// The failure of the call, if it failed.
    pub failure: Option<ModelError>,
}

impl SideCall {
    /// Creates a call of one of these models, for a run or a step.
    pub fn new(
        runs: &Inner,
        models: Arc<Models>,
        owner: impl Into<CallOwner>,
        purpose: Purpose,
        name: &'static str,
    ) -> Self {
        Self {
            owner: owner.into(),
            models,
            journal: runs.journal.clone(),
            recorder_settings: runs.recorder_settings.clone(),
            max_repetitions: runs.agent.repetitions,
            purpose,
            meter: Mutex::default(),
            failure: Mutex::default(),
            name,
            has_low_priority: false,
        }
    }

    /// Makes the call one of low priority, which leaves its endpoint idle for others.
    pub fn with_low_priority(mut self) -> Self {
        self.has_low_priority = true;
        self
    }

    /// Returns the tokens and the cost of the call in progress, if there is one. It is given up.
    pub fn take_cut_totals(&self) -> Option<TokenTotals> {
        let meter = self.meter.lock().take()?;
        let totals = meter.lock().end_totals(true);
        Some(totals)
    }

    /// Calls the model and waits for its answer, of which at most about `max_bytes` are taken, until it is cut off.
    pub async fn run(
        &self,
        request: ModelRequest,
        cut: impl Future<Output = Cut>,
        max_bytes: usize,
    ) -> SideAnswer {
        let estimate = request.messages.iter().map(tokens::estimate_message).sum();
        let prices = self.models.capabilities(&request.model).prices;
        let meter = TokenMeter::new(estimate, TokenScale::UNKNOWN, None);
        let meter = Arc::new(Mutex::new(meter.with_totals(TokenTotals::default(), prices)));
        let mut recorder = Recorder::new(
            self.owner.clone(),
            self.journal.clone(),
            self.models.clone(),
            self.recorder_settings.clone(),
            self.purpose,
        );
        let request = Arc::new(request);
        recorder.record_call(request.clone(), prices).await;
        *self.meter.lock() = Some(meter.clone());
        let mut cut = pin!(cut);
        // The call starts before it is recorded, and neither waits for the other.
        let call = pin!(self.call(&request));
        let called = future::select(call, &mut cut);
        let (called, ()) = tokio::join!(called, recorder.write_due());
        let collected = match called {
            Either::Left((called, _)) => {
                let collecting = pin!(self.collect(called, max_bytes, &meter, &mut recorder));
                match future::select(collecting, cut).await {
                    Either::Left((text, _)) => Ok(text),
                    Either::Right((cut, _)) => Err(cut),
                }
            }
            Either::Right((cut, _)) => Err(cut),
        };
        let failure = self.failure.lock().take();
        // Also if it took too long, repeated itself or became too long.
        let totals = meter.lock().end_totals(collected.is_err());
        let cut = collected.as_ref().err().copied();
        match cut {
            Some(Cut::TimedOut) => tracing::warn!("{} took too long", self.name),
            Some(Cut::Needed) => tracing::debug!("{} makes room for another call", self.name),
            None => {}
        }
        if cut.is_some() {
            recorder.record_input(&Input::StreamEnded);
        }
        recorder.write_due().await;
        // Until here, whoever gives the call up counts it.
        self.meter.lock().take();
        SideAnswer {
            text: collected.ok().flatten(),
            totals,
            cut,
            failure,
        }
    }

    async fn call(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        match self.has_low_priority {
            true => self.models.call_with_low_priority(request).await,
            false => self.models.call(request).await,
        }
    }

    async fn collect(
        &self,
        called: Result<ModelStream, ModelError>,
        max_bytes: usize,
        meter: &Mutex<TokenMeter>,
        recorder: &mut Recorder,
    ) -> Option<String> {
        let mut stream = match called {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "{} failed", self.name);
                *self.failure.lock() = Some(error.clone());
                recorder.record_input(&Input::CallFailed(error));
                return None;
            }
        };
        let mut text = String::new();
        let mut repetition = RepetitionDetector::new(self.max_repetitions);
        while text.len() <= max_bytes {
            let Some(received) = stream.next().await else {
                *self.failure.lock() = Some(broken_stream());
                recorder.record_input(&Input::StreamEnded);
                return None;
            };
            let inputs = meter.lock().inputs_for(received);
            for input in inputs {
                recorder.record_input(&input);
                match input {
                    Input::Model(ModelEvent::Text(delta)) => {
                        text.push_str(&delta);
                        if repetition.push(&delta, false) {
                            tracing::warn!("{} repeats itself", self.name);
                            recorder.record_input(&Input::StreamEnded);
                            return None;
                        }
                    }
                    Input::Model(ModelEvent::TextWasThinking) => {
                        text.clear();
                        repetition = RepetitionDetector::new(self.max_repetitions);
                    }
                    Input::Model(ModelEvent::Finished(reason)) => {
                        if is_natural_end(&reason) {
                            return Some(text);
                        }
                        // It would replace what it does not cover.
                        tracing::warn!(reason = reason.as_str(), "{} is incomplete", self.name);
                        return None;
                    }
                    Input::CallFailed(error) => {
                        tracing::warn!(%error, "{} failed", self.name);
                        *self.failure.lock() = Some(error);
                        return None;
                    }
                    _ => {}
                }
            }
        }
        // Longer answers are cut off anyway.
        recorder.record_input(&Input::StreamEnded);
        Some(text)
    }
}

fn broken_stream() -> ModelError {
    ModelError {
        error: stream_broke_off(),
        kind: ModelErrorKind::StreamBroken,
        reply: None,
    }
}

/// Waits for the end of a call's time.
pub(super) async fn time_out(timeout: Duration) -> Cut {
    sleep(timeout).await;
    Cut::TimedOut
}

/// Returns true if an answer with this finish reason is complete.
fn is_natural_end(reason: &FinishReason) -> bool {
    !reason.is_cut_short() && !reason.is_withheld() && *reason != FinishReason::MalformedFunctionCall
}
