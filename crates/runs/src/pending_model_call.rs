//! The model call that a run waits for: connecting, the next event of the answer, or the delay
//! before a retry.

use std::{
    future::{pending, ready},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream, stream::BoxStream};
use parking_lot::Mutex;
use tokio::time::{Sleep, sleep};

use super::token_meter::TokenMeter;
use crate::{agent::Input, retry::with_jitter};
use parlor_model::{ModelError, ModelEvent, ModelRequest};
use parlor_providers::Models;

/// The state of the model call that a run waits for, besides its tools.
pub(super) enum PendingModelCall {
    Idle,
    /// The request is being prepared.
    Preparing(BoxFuture<'static, (Arc<ModelRequest>, TokenMeter)>),
    /// Waits for the model server to accept the call.
    Connecting(BoxFuture<'static, Result<InputStream, ModelError>>),
    /// Waits for the next event of the answer.
    Streaming(InputStream),
    /// Waits for the retry.
    RetryDelay(Pin<Box<Sleep>>),
    /// The call is not made, for the reason of this input.
    NotMade(Box<Input>),
}

/// The outcome of a wait.
pub(super) enum WaitOutcome {
    /// An input for the agent.
    Input(Input),
    /// The request is prepared. Nothing is waited for until it is sent.
    Prepared(Arc<ModelRequest>, TokenMeter),
}

/// The meter of a call, for whoever ends it.
pub(super) type SharedMeter = Arc<Mutex<TokenMeter>>;

/// The inputs that come from a model's answer.
type InputStream = BoxStream<'static, Input>;

impl PendingModelCall {
    /// Waits for the preparation of a request.
    pub fn prepare(request: impl Future<Output = (Arc<ModelRequest>, TokenMeter)> + Send + 'static) -> Self {
        Self::Preparing(Box::pin(request))
    }

    /// Calls a model. The request names it as `endpoint/model`.
    pub fn call(models: Arc<Models>, request: Arc<ModelRequest>, meter: SharedMeter) -> Self {
        Self::Connecting(Box::pin(async move {
            let events = models.call(&request).await?;
            Ok(events
                .flat_map(move |event| stream::iter(meter.lock().inputs_for(event)))
                .boxed())
        }))
    }

    /// A call that is refused before it is made.
    pub fn refused(error: ModelError) -> Self {
        Self::Connecting(Box::pin(ready(Err(error))))
    }

    /// Waits at least `wait` before the next call.
    pub fn retry(wait: Duration) -> Self {
        Self::RetryDelay(Box::pin(sleep(with_jitter(wait))))
    }

    /// Returns `true` if the wait is for the model. The delay before a retry is Parlor's own and
    /// does not count as the model's silence.
    pub fn is_awaiting_model(&self) -> bool {
        matches!(self, Self::Connecting(_) | Self::Streaming(_))
    }

    /// Returns the next event of the answer if it has arrived.
    pub fn take_arrived(&mut self) -> Option<Input> {
        let Self::Streaming(stream) = self else {
            return None;
        };
        let input = stream.next().now_or_never()?;
        Some(self.end_if_last(input))
    }

    /// Ends the call with the last input of its answer.
    fn end_if_last(&mut self, input: Option<Input>) -> Input {
        let input = input.unwrap_or(Input::StreamEnded);
        if let Input::Model(ModelEvent::Finished(_)) | Input::CallFailed(_) | Input::StreamEnded = input {
            *self = Self::Idle;
        }
        input
    }

    pub async fn next(&mut self) -> WaitOutcome {
        loop {
            if matches!(self, Self::NotMade(_))
                && let Self::NotMade(input) = std::mem::replace(self, Self::Idle)
            {
                return WaitOutcome::Input(*input);
            }
            let input = match self {
                Self::Idle | Self::NotMade(_) => return pending().await,
                Self::Preparing(request) => {
                    let (request, meter) = request.await;
                    *self = Self::Idle;
                    return WaitOutcome::Prepared(request, meter);
                }
                Self::Connecting(call) => match call.await {
                    Ok(stream) => {
                        *self = Self::Streaming(stream);
                        continue;
                    }
                    Err(error) => {
                        *self = Self::Idle;
                        Input::CallFailed(error)
                    }
                },
                Self::Streaming(stream) => {
                    let input = stream.next().await;
                    self.end_if_last(input)
                }
                Self::RetryDelay(sleep) => {
                    sleep.await;
                    *self = Self::Idle;
                    Input::RetryDue
                }
            };
            return WaitOutcome::Input(input);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::channel::mpsc;
    use parlor_model::FinishReason;

    use super::*;

    fn text(input: Option<Input>) -> Option<String> {
        match input {
            Some(Input::Model(ModelEvent::Text(text))) => Some(text),
            _ => None,
        }
    }

    #[tokio::test]
    async fn takes_each_event_once_whoever_polls() {
        let (sender, events) = mpsc::unbounded();
        let send = |event| sender.unbounded_send(Input::Model(event)).unwrap();
        let mut call = PendingModelCall::Streaming(events.boxed());
        assert!(call.take_arrived().is_none());
        send(ModelEvent::Text("a".into()));
        send(ModelEvent::Text("b".into()));
        assert_eq!(text(call.take_arrived()).as_deref(), Some("a"));
        assert_eq!(text(call.take_arrived()).as_deref(), Some("b"));
        assert!(call.take_arrived().is_none());
        // A wait is woken, although the events were polled without it before.
        let sent = async { send(ModelEvent::Text("c".into())) };
        let (WaitOutcome::Input(waited), ()) = futures::join!(call.next(), sent) else {
            panic!("nothing is prepared");
        };
        assert_eq!(text(Some(waited)).as_deref(), Some("c"));
        send(ModelEvent::Finished(FinishReason::Stop));
        send(ModelEvent::Text("after the end".into()));
        assert!(matches!(
            call.take_arrived(),
            Some(Input::Model(ModelEvent::Finished(_)))
        ));
        assert!(call.take_arrived().is_none());
        assert!(!call.is_awaiting_model());
    }
}
