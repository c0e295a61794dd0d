//! A cache of the context windows of one endpoint's models, as last reported by its server.
//!
//! A known value is returned at once and refreshed in the background. Only an unknown value is waited for,
//! because the server would silently truncate a conversation that is too long. Concurrent callers share one
//! request.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::OwnedMutexGuard, time::Instant};

use parlor_model::Endpoint;

/// The lifetime of a result, found or not: a model may be reloaded with another window.
const WINDOW_TTL: Duration = Duration::from_secs(60);

/// The context windows of the requested models, by the endpoint's names of them.
#[derive(Debug, Default)]
pub struct ContextWindowCache(Mutex<HashMap<String, Arc<CachedWindow>>>);

#[derive(Debug, Default)]
struct CachedWindow {
    value: Mutex<Option<WindowValue>>,
    /// Held during a request, so that only one is sent.
    refresh_lock: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Copy, Debug)]
struct WindowValue {
    fetched_at: Instant,
    tokens: Option<usize>,
}

impl WindowValue {
    fn is_fresh(&self) -> bool {
        self.fetched_at.elapsed() < WINDOW_TTL
    }

    /// An old value is still usable, because it rarely changes. A missing one is retried, because the server
    /// may have been starting.
    fn is_usable(&self) -> bool {
        self.tokens.is_some() || self.is_fresh()
    }
}

impl ContextWindowCache {
    /// Returns the context window of a model. `model` is the endpoint's name of it.
    pub async fn get(&self, endpoint: Arc<dyn Endpoint>, model: String) -> Option<usize> {
        let window = self.entry(&model);
        if let Some(known) = window.known().filter(WindowValue::is_usable) {
            window.refresh(endpoint, model);
            return known.tokens;
        }
        let guard = window.refresh_lock.clone().lock_owned().await;
        if let Some(known) = window.known().filter(WindowValue::is_usable) {
            // Another caller has refreshed it meanwhile.
            return known.tokens;
        }
        window.start_fetch(guard, endpoint, model).await.ok().flatten()
    }

    /// Starts to determine a window that will be needed soon.
    pub fn prefetch(&self, endpoint: Arc<dyn Endpoint>, model: String) {
        self.entry(&model).refresh(endpoint, model);
    }

    fn entry(&self, model: &str) -> Arc<CachedWindow> {
        let mut windows = self.0.lock();
        windows.entry(model.to_owned()).or_default().clone()
    }
}

impl CachedWindow {
    fn known(&self) -> Option<WindowValue> {
        *self.value.lock()
    }

    /// Refreshes a stale value in the background, unless a request is in progress.
    fn refresh(self: Arc<Self>, endpoint: Arc<dyn Endpoint>, model: String) {
        if self.known().as_ref().is_some_and(WindowValue::is_fresh) {
            return;
        }
        if let Ok(guard) = self.refresh_lock.clone().try_lock_owned() {
            self.start_fetch(guard, endpoint, model);
        }
    }

    /// Sends the request in its own task: the result is kept even if the caller is cancelled.
    fn start_fetch(
        self: Arc<Self>,
        guard: OwnedMutexGuard<()>,
        endpoint: Arc<dyn Endpoint>,
        model: String,
    ) -> tokio::task::JoinHandle<Option<usize>> {
        tokio::spawn(async move {
            let found = endpoint.context_window(&model).await;
            // If the server reports no window now, an earlier value stays valid.
            let tokens = found.or_else(|| self.known()?.tokens);
            *self.value.lock() = Some(WindowValue {
                fetched_at: Instant::now(),
                tokens,
            });
            drop(guard);
            tokens
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::tour::Tour;
    use parlor_model::{ListedModels, ModelError, ModelRequest, ModelStream, RequestPreview};

    /// An endpoint that reports the next window of a list when permitted.
    #[derive(Debug)]
    struct FakeServer {
        windows: Vec<Option<usize>>,
        requests: AtomicUsize,
        permits: Semaphore,
    }

    #[async_trait::async_trait]
    impl Endpoint for FakeServer {
        fn name(&self) -> &str {
            "test"
        }

        async fn models(&self) -> Result<ListedModels, ModelError> {
            Ok(ListedModels::default())
        }

        async fn context_window(&self, _: &str) -> Option<usize> {
            let time = self.requests.fetch_add(1, Relaxed);
            self.permits.acquire().await.ok()?.forget();
            self.windows.get(time).copied().flatten()
        }

        fn preview_request(&self, _: &str, _: &ModelRequest) -> RequestPreview {
            RequestPreview::default()
        }

        async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
            Tour.call(model, request).await
        }
    }

    fn server(windows: &[Option<usize>]) -> Arc<FakeServer> {
        Arc::new(FakeServer {
            windows: windows.to_vec(),
            requests: AtomicUsize::new(0),
            permits: Semaphore::new(0),
        })
    }

    #[tokio::test]
    async fn concurrent_lookups_share_one_request() {
        let (windows, server) = (ContextWindowCache::default(), server(&[Some(5000)]));
        windows.prefetch(server.clone(), "m".into());
        let all = join_all((0..100).map(|_| windows.get(server.clone(), "m".into())));
        let (all, ()) = tokio::join!(all, async { server.permits.add_permits(100) });
        assert_eq!(all, [Some(5000); 100]);
        assert_eq!(server.requests.load(Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_a_missing_window_later() {
        let (windows, server) = (ContextWindowCache::default(), server(&[None, Some(5000)]));
        let window = || windows.get(server.clone(), "m".into());
        server.permits.add_permits(2);
        assert_eq!((window().await, window().await), (None, None));
        assert_eq!(server.requests.load(Relaxed), 1);
        tokio::time::advance(WINDOW_TTL).await;
        assert_eq!(window().await, Some(5000));
    }

    #[tokio::test(start_paused = true)]
    async fn returns_stale_window_and_refreshes() {
        let (windows, server) = (
            ContextWindowCache::default(),
            server(&[Some(5000), Some(8000), None, Some(9000)]),
        );
        let window = || windows.get(server.clone(), "m".into());
        let answer_next = async || {
            server.permits.add_permits(1);
            drop(windows.entry("m").refresh_lock.lock().await);
        };
        server.permits.add_permits(1);
        assert_eq!(window().await, Some(5000));
        tokio::time::advance(WINDOW_TTL / 2).await;
        assert_eq!((window().await, server.requests.load(Relaxed)), (Some(5000), 1));
        let mut results = Vec::new();
        for _ in 0..3 {
            tokio::time::advance(WINDOW_TTL).await;
            // The server is slow.
            results.push((window().await, window().await));
            answer_next().await;
        }
        results.push((window().await, window().await));
        // A value that the server no longer reports stays known.
        let expected = [5000, 8000, 8000, 9000].map(|tokens| (Some(tokens), Some(tokens)));
        assert_eq!(results, expected);
        assert_eq!(server.requests.load(Relaxed), 4);
    }
}
