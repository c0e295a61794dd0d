//! What a run waits for: the model server to take the call, the next event of its answer, the time to call again.

use std::{future::pending, pin::Pin, sync::Arc, time::Duration};

use futures::{StreamExt, future::BoxFuture, stream, stream::BoxStream};
use tokio::time::{Sleep, sleep};

use super::meter::Meter;
use crate::{
    agent::Input,
    model::{ModelError, ModelEvent, ModelRequest},
    providers::Models,
};

/// What the run is waiting for, besides its tools.
pub(super) enum Awaited {
    Nothing,
    /// That it is known what to ask.
    Request(BoxFuture<'static, (Arc<ModelRequest>, Meter)>),
    /// The model server to accept the call.
    Call(BoxFuture<'static, Result<Answer, ModelError>>),
    /// The next event of the answer.
    Stream(Answer),
    /// The time to call again.
    Retry(Pin<Box<Sleep>>),
}

/// What comes of waiting.
pub(super) enum Happened {
    /// The run hears of it.
    Heard(Input),
    /// It is known what to ask. Nothing is waited for until it is asked.
    Ready(Arc<ModelRequest>, Meter),
}

/// What comes of a model's answer.
type Answer = BoxStream<'static, Input>;

impl Awaited {
    /// Waits until it is known what to ask a model.
    pub fn request(request: impl Future<Output = (Arc<ModelRequest>, Meter)> + Send + 'static) -> Self {
        Self::Request(Box::pin(request))
    }

    /// Calls a model. The request names it as `endpoint/model`.
    pub fn call(models: Arc<Models>, request: Arc<ModelRequest>, mut meter: Meter) -> Self {
        Self::Call(Box::pin(async move {
            let events = models.call(&request).await?;
            Ok(events
                .flat_map(move |event| stream::iter(meter.inputs(event)))
                .boxed())
        }))
    }

    /// Waits at least this long.
    pub fn retry(wait: Duration) -> Self {
        // Jitter: runs that failed together must not come back together.
        Self::Retry(Box::pin(sleep(wait.mul_f64(1.0 + fastrand::f64() / 2.0))))
    }

    /// Whether it is the model that has to give a sign. Waiting to call again is our own choice, not its silence.
    pub fn is_model(&self) -> bool {
        matches!(self, Self::Call(_) | Self::Stream(_))
    }

    pub async fn happens(&mut self) -> Happened {
        loop {
            let input = match self {
                Self::Nothing => return pending().await,
                Self::Request(request) => {
                    let (request, meter) = request.await;
                    *self = Self::Nothing;
                    return Happened::Ready(request, meter);
                }
                Self::Call(call) => match call.await {
                    Ok(stream) => {
                        *self = Self::Stream(stream);
                        continue;
                    }
                    Err(error) => {
                        *self = Self::Nothing;
                        Input::Failed(error)
                    }
                },
                Self::Stream(stream) => {
                    let input = stream.next().await.unwrap_or(Input::BrokeOff);
                    if let Input::Model(ModelEvent::Finished(_)) | Input::Failed(_) | Input::BrokeOff = input
                    {
                        *self = Self::Nothing;
                    }
                    input
                }
                Self::Retry(sleep) => {
                    sleep.await;
                    *self = Self::Nothing;
                    Input::Waited
                }
            };
            return Happened::Heard(input);
        }
    }
}
