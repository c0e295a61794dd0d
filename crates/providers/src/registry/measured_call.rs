//! Counts model calls and their outcomes for operators.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::Stream;

use super::{EndpointSlot, Models};
use parlor_base::metrics::models::{CallOutcome, ModelCall};
use parlor_model::{ModelError, ModelErrorKind, ModelEvent, ModelStream};

/// The answer to a call that is counted.
struct MeasuredAnswer {
    events: ModelStream,
    call: ModelCall,
}

impl Stream for MeasuredAnswer {
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.events.as_mut().poll_next(context));
        match &event {
            Some(Ok(event)) => {
                self.call.receive();
                if matches!(event, ModelEvent::Finished(_)) {
                    self.call.end(CallOutcome::Complete);
                }
            }
            Some(Err(error)) => self.call.end(outcome(error)),
            // An answer without a last event has broken off.
            None => self.call.end(CallOutcome::Broken),
        }
        Poll::Ready(event)
    }
}

fn outcome(error: &ModelError) -> CallOutcome {
    match error.kind {
        ModelErrorKind::Refused => CallOutcome::Refused,
        ModelErrorKind::Unavailable { .. } => CallOutcome::Unavailable,
        ModelErrorKind::StreamBroken => CallOutcome::Broken,
    }
}

impl Models {
    /// Counts a call of an endpoint until its answer is read or dropped.
    pub(super) async fn measure_call(
        &self,
        slot: &EndpointSlot,
        call: impl Future<Output = Result<ModelStream, ModelError>>,
    ) -> Result<ModelStream, ModelError> {
        let name = slot.endpoint.name();
        // A person's own endpoint has no label: there may be one for each of them.
        let is_common = name == super::tour::ENDPOINT || self.inner.endpoints.read().find(name).is_some();
        let mut measured = self.inner.metrics.models.begin_call(is_common.then_some(name));
        match call.await {
            Ok(events) => Ok(Box::pin(MeasuredAnswer {
                events,
                call: measured,
            })),
            Err(error) => {
                measured.end(outcome(&error));
                Err(error)
            }
        }
    }
}
