//! The number of processes that read files at the same time, and the uploads that wait for one.

use std::{collections::HashMap, io};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::prepare::PrepareError;
use parlor_base::settings::FileSettings;
use parlor_protocol::UserId;

/// The origin of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An upload of this user.
    Upload(UserId),
    /// A tool or a model. Calls have a time limit, so their files do not wait behind uploads.
    Made,
}

/// The permits of the processes that read files.
pub struct ReaderQueue {
    uploads: Semaphore,
    made: Semaphore,
    /// The waiting uploads of each user that has any.
    waiting: Mutex<HashMap<UserId, usize>>,
    /// The maximum number of one user's waiting uploads.
    max_waiting: usize,
}

impl ReaderQueue {
    pub fn new(settings: &FileSettings) -> Self {
        let permits = || Semaphore::new(settings.readers.min(Semaphore::MAX_PERMITS));
        Self {
            uploads: permits(),
            made: permits(),
            waiting: Mutex::default(),
            max_waiting: settings.max_waiting,
        }
    }

    /// Waits until one more process may run. It ends when the permit is dropped.
    pub async fn acquire(&self, origin: Origin) -> Result<SemaphorePermit<'_>, PrepareError> {
        let user_id = match origin {
            Origin::Upload(user_id) => user_id,
            Origin::Made => return Ok(self.made.acquire().await.map_err(io::Error::other)?),
        };
        if let Ok(permit) = self.uploads.try_acquire() {
            return Ok(permit);
        }
        let _waiting = self.wait_as(user_id)?;
        Ok(self.uploads.acquire().await.map_err(io::Error::other)?)
    }

    /// Counts a waiting upload.
    fn wait_as(&self, user_id: UserId) -> Result<WaitingUpload<'_>, PrepareError> {
        let mut waiting = self.waiting.lock();
        let count = waiting.get(&user_id).copied().unwrap_or_default();
        let limit = self.max_waiting;
        if count >= limit {
            return Err(PrepareError::QueueFull { limit });
        }
        waiting.insert(user_id, count + 1);
        Ok(WaitingUpload { queue: self, user_id })
    }
}

/// An upload that waits. It counts until this is dropped.
struct WaitingUpload<'a> {
    queue: &'a ReaderQueue,
    user_id: UserId,
}

impl Drop for WaitingUpload<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting.lock();
        if let Some(count) = waiting.get_mut(&self.user_id) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self.user_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn uploads_of_each_user_wait_in_limits() {
        let queue = ReaderQueue::new(&FileSettings {
            readers: 1,
            max_waiting: 1,
            ..FileSettings::default()
        });
        let [one, other] = [1, 2].map(|id| Origin::Upload(UserId(Uuid::from_u128(id))));
        let running = queue.acquire(one).await.unwrap();
        let mut first = Box::pin(queue.acquire(one));
        assert!((&mut first).now_or_never().is_none());
        let refused = queue.acquire(one).await;
        assert!(
            matches!(refused, Err(PrepareError::QueueFull { limit: 1 })),
            "{refused:?}"
        );
        let mut second = Box::pin(queue.acquire(other));
        assert!((&mut second).now_or_never().is_none());
        // What a model made does not wait behind them.
        assert!(queue.acquire(Origin::Made).now_or_never().is_some());
        drop(first);
        let mut again = Box::pin(queue.acquire(one));
        assert!(
            (&mut again).now_or_never().is_none(),
            "one that has gone away does not count"
        );
        drop(running);
        assert!(second.await.is_ok());
        assert!(again.await.is_ok());
        assert!(queue.waiting.lock().is_empty());
    }
}
