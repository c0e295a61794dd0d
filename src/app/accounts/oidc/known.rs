//! The provider's URLs and keys, as far as they are known.
//!
//! One request at a time loads them, in a task of its own, and everybody who needs them shares its result. While old ones are
//! known, nobody waits for new ones. So a provider that does not respond keeps each sign-in waiting for one timeout at most.

use std::{
    fmt::Display,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use parking_lot::Mutex;

use super::{
    client::ProviderClient,
    metadata::{self, ProviderState},
};

/// The wait after a failed request for new ones, while old ones are used.
const RELOAD_DELAY: Duration = Duration::from_secs(60);

/// The result of a request. Errors are texts, as they are shared.
type Loaded = Result<Arc<ProviderState>, Arc<str>>;

/// The known URLs and keys of a provider.
pub(super) struct KnownProvider(Arc<Inner>);

struct Inner {
    client: Arc<ProviderClient>,
    issuer: String,
    refresh: Duration,
    present: Mutex<Present>,
}

#[derive(Default)]
struct Present {
    state: Option<Arc<ProviderState>>,
    /// The time from which the state is loaded again.
    load_again_at: Option<Instant>,
    /// The request in progress.
    loading: Option<Shared<BoxFuture<'static, Loaded>>>,
}

impl KnownProvider {
    pub fn new(client: Arc<ProviderClient>, issuer: String, refresh: Duration) -> Self {
        Self(Arc::new(Inner {
            client,
            issuer,
            refresh,
            present: Mutex::default(),
        }))
    }

    /// Returns the known state, or loads it. An old one is returned while a new one is loaded.
    pub async fn get(&self) -> Loaded {
        let loading = {
            let mut present = self.0.present.lock();
            let is_fresh = present.load_again_at.is_some_and(|at| Instant::now() < at);
            let state = present.state.clone();
            match state {
                Some(state) if is_fresh => return Ok(state),
                Some(state) => {
                    drop(self.loading(&mut present));
                    return Ok(state);
                }
                None => self.loading(&mut present),
            }
        };
        loading.await
    }

    /// Loads it again, or waits for the request in progress.
    pub async fn load(&self) -> Loaded {
        let loading = self.loading(&mut self.0.present.lock());
        loading.await
    }

    /// Returns the request in progress, which is begun if there is none. It continues when nobody waits for it.
    fn loading(&self, present: &mut Present) -> Shared<BoxFuture<'static, Loaded>> {
        if let Some(loading) = &present.loading {
            return loading.clone();
        }
        let inner = self.0.clone();
        let task = tokio::spawn(async move {
            let loading = metadata::load(&inner.client, &inner.issuer);
            inner.keep_result(loading).await
        });
        let loading = task.map(|ended| ended.unwrap_or_else(|error| Err(Arc::from(error.to_string()))));
        let loading = loading.boxed().shared();
        present.loading = Some(loading.clone());
        loading
    }
}

impl Inner {
    /// Keeps the result of a request. One that panics has failed: the next one begins another.
    async fn keep_result<E: Display>(
        &self,
        request: impl Future<Output = Result<ProviderState, E>>,
    ) -> Loaded {
        let loaded = AssertUnwindSafe(request).catch_unwind().await;
        self.keep(match loaded {
            Ok(loaded) => loaded.map_err(|error| Arc::from(error.to_string())),
            Err(_) => Err(Arc::from("an internal error; the log says more")),
        })
    }

    /// Keeps a result. A failure keeps what was known.
    fn keep(&self, loaded: Result<ProviderState, Arc<str>>) -> Loaded {
        let mut present = self.present.lock();
        present.loading = None;
        let now = Instant::now();
        match loaded {
            Ok(state) => {
                let state = Arc::new(state);
                present.state = Some(state.clone());
                present.load_again_at = Some(now + self.refresh);
                Ok(state)
            }
            Err(error) => {
                if present.state.is_some() {
                    tracing::warn!(%error, "the provider's URLs and keys can't be loaded again; the old ones are used");
                    present.load_again_at = Some(now + RELOAD_DELAY);
                }
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures::future::join_all;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_request_that_panics_is_over() {
        parlor_web::http_client::install_tls();
        let issuer = "http://127.0.0.1:1".to_owned();
        let client = Arc::new(ProviderClient::new(&issuer, Duration::from_millis(200)));
        let known = KnownProvider::new(client, issuer, Duration::from_secs(60));
        drop(known.loading(&mut known.0.present.lock()));
        let request = async { panic!("as asked") };
        let ended = known.0.keep_result::<String>(request).await;
        assert!(ended.is_err() && known.0.present.lock().loading.is_none());
    }

    #[tokio::test]
    async fn a_hanging_provider_is_asked_once() {
        parlor_web::http_client::install_tls();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let client = Arc::new(ProviderClient::new(&issuer, Duration::from_millis(200)));
        let known = KnownProvider::new(client, issuer, Duration::from_secs(60));
        let asked = Arc::new(AtomicUsize::new(0));
        // It takes requests and never responds.
        let hanging = tokio::spawn({
            let asked = asked.clone();
            async move {
                let mut open = Vec::new();
                while let Ok((stream, _)) = listener.accept().await {
                    open.push(stream);
                    asked.fetch_add(1, Relaxed);
                }
            }
        });
        let all = join_all((0..20).map(|_| known.get())).await;
        assert!(all.iter().all(Result::is_err));
        assert_eq!(asked.load(Relaxed), 1);
        hanging.abort();
    }
}
