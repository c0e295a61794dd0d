//! The calls in progress at an endpoint, so that work of low priority can wait until it is idle.

use std::{future::Future, sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::{
    sync::{Mutex, OwnedMutexGuard, watch},
    time::timeout,
};

use super::Models;
use parlor_model::{ModelError, ModelRequest, ModelStream};

/// The calls in progress at one endpoint. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(super) struct EndpointActivity(Arc<ActivityState>);

#[derive(Debug, Default)]
struct ActivityState {
    /// The number of calls in progress, without those of low priority.
    calls: watch::Sender<usize>,
    /// Held by the call of low priority, so that there is one at a time.
    low_priority: Arc<Mutex<()>>,
}

/// A call in progress. It ends when this is dropped.
struct CallInProgress(EndpointActivity);

impl EndpointActivity {
    fn begin_call(&self) -> CallInProgress {
        self.0.calls.send_modify(|calls| *calls += 1);
        CallInProgress(self.clone())
    }

    async fn wait_until(&self, holds: impl FnMut(&usize) -> bool) {
        // The sender lives as long as `self`.
        let _ = self.0.calls.subscribe().wait_for(holds).await;
    }
}

impl Drop for CallInProgress {
    fn drop(&mut self) {
        self.0.0.calls.send_modify(|calls| *calls -= 1);
    }
}

/// The right to call the models of an idle endpoint with low priority, until this is dropped.
#[derive(Debug)]
#[must_use = "another call of low priority may begin when this is dropped"]
pub struct IdleEndpoint {
    activity: EndpointActivity,
    _only: OwnedMutexGuard<()>,
}

impl IdleEndpoint {
    /// Waits until another call begins there, which has precedence.
    pub async fn wait_until_needed(&self) {
        self.activity.wait_until(|calls| *calls > 0).await;
    }
}

impl Models {
    /// Waits until the endpoint of a model has been idle for a time, and no other call of low priority is in progress there.
    ///
    /// # Errors
    ///
    /// If there is no such model.
    pub async fn wait_until_idle(&self, id: &str, idle: Duration) -> Result<IdleEndpoint, ModelError> {
        let (slot, _) = self.resolve_slot(id)?;
        let activity = slot.activity;
        let only = activity.0.low_priority.clone().lock_owned().await;
        loop {
            activity.wait_until(|calls| *calls == 0).await;
            if idle.is_zero()
                || timeout(idle, activity.wait_until(|calls| *calls > 0))
                    .await
                    .is_err()
            {
                return Ok(IdleEndpoint {
                    activity,
                    _only: only,
                });
            }
        }
    }

    /// Calls the model of a request as [`call`](Self::call) does, without making its endpoint busy.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub async fn call_with_low_priority(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let (slot, model) = self.resolve_slot(&request.model)?;
        self.measure_call(&slot, slot.endpoint.call(&model, request))
            .await
    }
}

/// Counts a call until its answer is read or dropped.
pub(super) async fn count_call(
    activity: &EndpointActivity,
    call: impl Future<Output = Result<ModelStream, ModelError>>,
) -> Result<ModelStream, ModelError> {
    let in_progress = activity.begin_call();
    let events = call.await?;
    Ok(Box::pin(events.inspect(move |_| {
        let _held = &in_progress;
    })))
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, stream};

    use super::*;
    use crate::{EndpointConfig, ModelsConfig};
    use parlor_model::ModelEvent;

    fn models() -> Models {
        Models::new(ModelsConfig {
            endpoints: vec![EndpointConfig::new("near", "http://127.0.0.1:9/v1")],
            ..ModelsConfig::default()
        })
    }

    fn activity(models: &Models) -> EndpointActivity {
        models.resolve_slot("near/a").unwrap().0.activity
    }

    #[tokio::test]
    async fn waits_until_all_calls_have_ended() {
        let models = models();
        let answer: ModelStream = Box::pin(stream::iter([Ok(ModelEvent::Text("a".into()))]));
        let call = async { Ok(answer) };
        let mut answer = count_call(&activity(&models), call).await.unwrap();
        let mut idle = Box::pin(models.wait_until_idle("near/a", Duration::ZERO));
        assert!(idle.as_mut().now_or_never().is_none(), "the call is in progress");
        let _ = answer.next().await;
        assert!(idle.as_mut().now_or_never().is_none(), "its end was not read");
        drop(answer);
        let place = idle.await.unwrap();
        assert!(place.wait_until_needed().now_or_never().is_none());
        let other = models.wait_until_idle("near/b", Duration::ZERO);
        assert!(other.now_or_never().is_none(), "one at a time");
        let _call = activity(&models).begin_call();
        place.wait_until_needed().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_begins_the_idle_time_anew() {
        let models = models();
        let start = tokio::time::Instant::now();
        let waiting = tokio::spawn({
            let models = models.clone();
            async move { models.wait_until_idle("near/a", Duration::from_secs(2)).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        let call = activity(&models).begin_call();
        tokio::task::yield_now().await;
        drop(call);
        let _place = waiting.await.unwrap().unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }
}
