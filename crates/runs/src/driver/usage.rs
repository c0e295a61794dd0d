//! The limits of a user before each model call, and the count of calls whose server will not report their tokens.

use super::Driver;
use crate::{
    CallRefusal, ReadError,
    agent::{Input, KEPT_HINT, run_error},
};
use parlor_model::{ModelError, ModelErrorKind};
use parlor_protocol::TokenTotals;
use parlor_storage::{Change, RunOutput};

impl Driver<'_> {
    /// Checks that the user may call the run's model now.
    pub(super) async fn check_call(&mut self) -> Result<(), ModelError> {
        if self.runs.accounts.has_daily_limits()
            && let Err(error) = self.runs.journal.flush(self.run).await
        {
            tracing::warn!(%error, "the usage of an answer so far is not stored yet");
        }
        let message = self.agent.message();
        let used = message.usage.map(|usage| usage.totals.cost).unwrap_or_default();
        if let Some(limit) = self.cost_limit.filter(|limit| used >= *limit) {
            return Err(CallRefusal::RunCost { used, limit }.into_model_error());
        }
        let model = &message.model;
        let check = || self.runs.check_call(self.run.user_id, model);
        match self.runs.retry_read("the limits of a user", check).await {
            Ok(checked) => checked.map_err(CallRefusal::into_model_error),
            Err(ReadError::Damaged | ReadError::ShuttingDown) => {
                let why = "Parlor can't read its data, so the model was not called.".into();
                Err(ModelError {
                    error: run_error("storage", why, KEPT_HINT),
                    kind: ModelErrorKind::Refused,
                    reply: None,
                })
            }
        }
    }

    /// Counts a call that an input cuts off. Its server will not report its tokens any more.
    pub(super) async fn count_cut_call(&mut self, input: &Input) {
        let is_given_up = matches!(
            input,
            Input::Stop | Input::Shutdown | Input::TimedOut(_) | Input::TooLong(_)
        );
        if is_given_up || matches!(input, Input::StreamEnded | Input::CallFailed(_)) {
            self.count_cut(is_given_up, TokenTotals::default()).await;
        }
    }

    /// Counts the present call, if it is cut off, and what else no event will report.
    pub(super) async fn count_cut(&mut self, is_given_up: bool, of_tools: TokenTotals) {
        let meter = self.meter.take();
        let call = meter.and_then(|meter| meter.lock().cut_totals(is_given_up));
        let totals = self
            .request_builder
            .take_unreported()
            .plus(call.unwrap_or_default())
            .plus(of_tools);
        if !totals.is_empty() {
            let count = Change::Output {
                run: self.run,
                output: RunOutput::CountCutCall { totals },
            };
            if let Err(error) = self.runs.journal.submit(count).await {
                tracing::warn!(%error, "the tokens of a call that was cut off are not counted");
            }
        }
    }
}
