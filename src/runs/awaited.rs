//! What a run waits for: the model server to take the call, the next event of its answer, the time to call again.

use std::{future::pending, pin::Pin, sync::Arc, time::Duration};

use futures::{StreamExt, future::BoxFuture};
use tokio::time::{Sleep, sleep};

use crate::{
    agent::Input,
    providers::{ModelError, ModelEvent, ModelRequest, ModelStream, Models},
};

/// What the run is waiting for, besides its tools.
pub(super) enum Awaited {
    Nothing,
    /// The model server to accept the call.
    Call(BoxFuture<'static, Result<ModelStream, ModelError>>),
    /// The next event of the answer.
    Stream(ModelStream),
    /// The time to call again.
    Retry(Pin<Box<Sleep>>),
}

impl Awaited {
    /// Calls a model, which `request` names as `endpoint/model`.
    pub fn call(models: Arc<Models>, mut request: ModelRequest) -> Self {
        Self::Call(Box::pin(async move {
            let (endpoint, model) = models.resolve(&request.model)?;
            request.model = model;
            endpoint.call(request).await
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

    /// What comes of it.
    pub async fn happens(&mut self) -> Input {
        loop {
            match self {
                Self::Nothing => return pending().await,
                Self::Call(call) => match call.await {
                    Ok(stream) => *self = Self::Stream(stream),
                    Err(error) => {
                        *self = Self::Nothing;
                        return Input::Failed(error);
                    }
                },
                Self::Stream(stream) => match stream.next().await {
                    Some(Ok(event)) => {
                        if matches!(event, ModelEvent::Finished(_)) {
                            *self = Self::Nothing;
                        }
                        return Input::Model(event);
                    }
                    Some(Err(error)) => {
                        *self = Self::Nothing;
                        return Input::Failed(error);
                    }
                    None => {
                        *self = Self::Nothing;
                        return Input::BrokeOff;
                    }
                },
                Self::Retry(sleep) => {
                    sleep.await;
                    *self = Self::Nothing;
                    return Input::Waited;
                }
            }
        }
    }
}
