//! What a run waits for: the model server to take the call, the next event of its answer, the time to call again.

use std::{future::pending, pin::Pin, sync::Arc, time::Duration};

use futures::{StreamExt, future::BoxFuture, stream, stream::BoxStream};
use tokio::time::{Sleep, sleep};

use super::token_meter::TokenMeter;
use crate::{
    agent::Input,
    model::{ModelError, ModelEvent, ModelRequest},
    providers::Models,
};

/// What the run is waiting for, besides its tools.
pub(super) enum PendingModelCall {
    Idle,
    /// That it is known what to ask.
    Preparing(BoxFuture<'static, (Arc<ModelRequest>, TokenMeter)>),
    /// The model server to accept the call.
    Connecting(BoxFuture<'static, Result<InputStream, ModelError>>),
    /// The next event of the answer.
    Streaming(InputStream),
    /// The time to call again.
    RetryDelay(Pin<Box<Sleep>>),
}

/// What comes of waiting.
pub(super) enum WaitOutcome {
    /// The run hears of it.
    Input(Input),
    /// It is known what to ask. Nothing is waited for until it is asked.
    Prepared(Arc<ModelRequest>, TokenMeter),
}

/// What comes of a model's answer.
type InputStream = BoxStream<'static, Input>;

impl PendingModelCall {
    /// Waits until it is known what to ask a model.
    pub fn prepare(request: impl Future<Output = (Arc<ModelRequest>, TokenMeter)> + Send + 'static) -> Self {
        Self::Preparing(Box::pin(request))
    }

    /// Calls a model. The request names it as `endpoint/model`.
    pub fn call(models: Arc<Models>, request: Arc<ModelRequest>, mut meter: TokenMeter) -> Self {
        Self::Connecting(Box::pin(async move {
            let events = models.call(&request).await?;
            Ok(events
                .flat_map(move |event| stream::iter(meter.inputs_for(event)))
                .boxed())
        }))
    }

    /// Waits at least this long.
    pub fn retry(wait: Duration) -> Self {
        // Jitter: runs that failed together must not come back together.
        Self::RetryDelay(Box::pin(sleep(wait.mul_f64(1.0 + fastrand::f64() / 2.0))))
    }

    /// Whether it is the model that has to give a sign. Waiting to call again is our own choice, not its silence.
    pub fn is_awaiting_model(&self) -> bool {
        matches!(self, Self::Connecting(_) | Self::Streaming(_))
    }

    pub async fn next(&mut self) -> WaitOutcome {
        loop {
            let input = match self {
                Self::Idle => return pending().await,
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
                    let input = stream.next().await.unwrap_or(Input::StreamEnded);
                    if let Input::Model(ModelEvent::Finished(_)) | Input::CallFailed(_) | Input::StreamEnded =
                        input
                    {
                        *self = Self::Idle;
                    }
                    input
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
