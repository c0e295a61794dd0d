//! The last answer of the database to a question of operators, so that any number of requests ask it once an interval.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use parlor_base::settings::Settings;
use parlor_storage::StorageError;

/// The last answer.
pub struct LastAnswer<T> {
    /// The longest wait for an answer.
    timeout: Duration,
    /// The time for which an answer counts.
    interval: Duration,
    /// The last answer with its time; `None` in it if there was none. Locked while the database is asked, so that one request does.
    last: Mutex<Option<(Instant, Option<T>)>>,
}

impl<T: Copy> LastAnswer<T> {
    pub fn new(settings: &Settings) -> Self {
        Self {
            timeout: settings.timeouts.readiness,
            interval: settings.timeouts.readiness_interval,
            last: Mutex::new(None),
        }
    }

    /// Returns the answer: the last one, or that to this question. `None` if the database does not answer in time.
    pub async fn get(&self, ask: impl Future<Output = Result<T, StorageError>>) -> Option<T> {
        let mut last = self.last.lock().await;
        if let Some((at, answer)) = *last
            && at.elapsed() < self.interval
        {
            return answer;
        }
        let answer = match timeout(self.timeout, ask).await {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database can't be read");
                None
            }
            Err(_) => {
                tracing::warn!("the database does not answer in {:?}", self.timeout);
                None
            }
        };
        *last = Some((Instant::now(), answer));
        answer
    }
}
