//! A model call of a run beside its answer: for a summary, or for a title. It is recorded for the diagnostics.

use std::sync::Arc;

use futures::StreamExt;
use tokio::time::{self, timeout_at};

use super::{
    Inner,
    history::tokens::{self, TokenScale},
    recorder::{self, Recorder},
    token_meter::TokenMeter,
};
use crate::{
    agent::{Input, RepetitionDetector},
    diagnostics::record::Purpose,
    journal::Journal,
    model::{FinishReason, ModelError, ModelEvent, ModelRequest, ModelStream},
    protocol::TokenTotals,
    providers::Models,
    storage::RunKey,
};

/// The means of such calls of one run.
pub(super) struct SideCall {
    run: RunKey,
    models: Arc<Models>,
    journal: Journal,
    recorder_settings: Arc<recorder::RecorderSettings>,
    /// The number of repetitions of a passage in a row that makes an answer useless. 0 disables the check.
    max_repetitions: usize,
    purpose: Purpose,
    /// The result, for the log: "the summary of a conversation".
    name: &'static str,
}

/// The result of such a call.
#[derive(Debug, Default)]
pub(super) struct SideAnswer {
    /// The whole answer; `None` if it did not come to its natural end in time.
    pub text: Option<String>,
    /// The tokens and the cost; empty if the call did not come so far.
    pub totals: TokenTotals,
}

impl SideCall {
    pub fn new(runs: &Inner, run: RunKey, purpose: Purpose, name: &'static str) -> Self {
        Self {
            run,
            models: runs.models.clone(),
            journal: runs.journal.clone(),
            recorder_settings: runs.recorder_settings.clone(),
            max_repetitions: runs.agent.repetitions,
            purpose,
            name,
        }
    }

    /// Calls the model and waits for its answer, of which at most about `max_bytes` are taken.
    pub async fn run(&self, request: ModelRequest, deadline: time::Instant, max_bytes: usize) -> SideAnswer {
        let estimate = request.messages.iter().map(tokens::estimate_message).sum();
        let prices = self.models.capabilities(&request.model).prices;
        let meter = TokenMeter::new(estimate, TokenScale::UNKNOWN, None);
        let meter = meter.with_totals(TokenTotals::default(), prices);
        let mut recorder = Recorder::new(
            self.run,
            self.journal.clone(),
            self.models.clone(),
            self.recorder_settings.clone(),
            self.purpose,
        );
        let request = Arc::new(request);
        recorder.record_call(request.clone(), prices).await;
        // The call starts before it is recorded, and neither waits for the other.
        let called = timeout_at(deadline, self.models.call(&request));
        let (called, ()) = tokio::join!(called, recorder.write_due());
        let mut answer = SideAnswer::default();
        let collected = match called {
            Ok(called) => {
                let collecting = self.collect(called, max_bytes, meter, &mut recorder, &mut answer);
                timeout_at(deadline, collecting).await
            }
            Err(late) => Err(late),
        };
        answer.text = collected.unwrap_or_else(|_| {
            tracing::warn!("{} took too long", self.name);
            recorder.record_input(&Input::StreamEnded);
            None
        });
        recorder.write_due().await;
        answer
    }

    async fn collect(
        &self,
        called: Result<ModelStream, ModelError>,
        max_bytes: usize,
        mut meter: TokenMeter,
        recorder: &mut Recorder,
        answer: &mut SideAnswer,
    ) -> Option<String> {
        let mut stream = match called {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "{} failed", self.name);
                recorder.record_input(&Input::CallFailed(error));
                return None;
            }
        };
        let mut text = String::new();
        let mut repetition = RepetitionDetector::new(self.max_repetitions);
        while text.len() <= max_bytes {
            let Some(received) = stream.next().await else {
                recorder.record_input(&Input::StreamEnded);
                return None;
            };
            for input in meter.inputs_for(received) {
                if let Input::UsageKnown(usage) = &input {
                    answer.totals = usage.totals;
                }
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

/// True if an answer that ended so is whole.
fn is_natural_end(reason: &FinishReason) -> bool {
    !reason.is_cut_short() && !reason.is_withheld() && *reason != FinishReason::MalformedFunctionCall
}
