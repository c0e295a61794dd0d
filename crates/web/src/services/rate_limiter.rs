//! A rate limiter shared by several callers.

use std::{fmt::Debug, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep, sleep_until},
};

/// Maximum time in the queue, without pauses. It bounds the length of the queue.
const MAX_QUEUE_WAIT: Duration = Duration::from_secs(20);

/// Turns that several processes have in common.
#[async_trait]
pub trait SharedTurns: Debug + Send + Sync {
    /// Takes the next turn of those that are given at this interval, if it is now; otherwise takes none, and returns the time until it.
    async fn take(&self, interval: Duration) -> Option<Duration>;

    /// Gives no turns for this duration.
    async fn pause(&self, pause: Duration);
}

/// Gives turns at an interval, in the order of the requests.
#[derive(Debug)]
pub struct RateLimiter {
    interval: Duration,
    /// The turns of all processes. This one asks for one at a time.
    shared: Option<Arc<dyn SharedTurns>>,
    next_turn: Mutex<Option<Instant>>,
    /// The holder has the next turn. The lock is fair: first come, first served.
    queue: tokio::sync::Mutex<()>,
    /// One permit for each waiting caller, including the next one.
    slots: Semaphore,
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull;

impl RateLimiter {
    pub fn new(interval: Duration) -> Self {
        let max_waiting = MAX_QUEUE_WAIT.as_millis() / interval.as_millis().max(1);
        let max_waiting = usize::try_from(max_waiting).unwrap_or(usize::MAX);
        Self {
            interval,
            shared: None,
            next_turn: Mutex::default(),
            queue: tokio::sync::Mutex::default(),
            slots: Semaphore::new(max_waiting.clamp(1, Semaphore::MAX_PERMITS)),
        }
    }

    /// Gives turns that no other process has taken.
    pub fn sharing(mut self, turns: Option<Arc<dyn SharedTurns>>) -> Self {
        self.shared = turns;
        self
    }

    /// Waits for the caller's turn. A cancelled wait uses no turn.
    pub async fn acquire(&self) -> Result<(), QueueFull> {
        let _permit = self.slots.try_acquire().map_err(|_| QueueFull)?;
        let _first = self.queue.lock().await;
        while let Some(next) = self.try_acquire() {
            sleep_until(next).await;
        }
        if let Some(shared) = &self.shared {
            while let Some(wait) = shared.take(self.interval).await {
                sleep(wait).await;
            }
        }
        Ok(())
    }

    /// Takes a turn, or returns the earliest time of the next one, which a pause may still delay.
    fn try_acquire(&self) -> Option<Instant> {
        let mut next = self.next_turn.lock();
        let now = Instant::now();
        if next.is_some_and(|next| next > now) {
            return *next;
        }
        *next = Some(now + self.interval);
        None
    }

    /// Gives no turns for this duration.
    pub async fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        {
            let mut next = self.next_turn.lock();
            *next = Some(next.map_or(until, |next| next.max(until)));
        }
        if let Some(shared) = &self.shared {
            shared.pause(pause).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, future::join_all};

    use super::*;

    const INTERVAL: Duration = Duration::from_millis(350);

    #[tokio::test(start_paused = true)]
    async fn gives_turns_at_interval_and_after_pauses() {
        let limiter = RateLimiter::new(INTERVAL);
        let start = Instant::now();
        let turns = join_all((0..4).map(|_| limiter.acquire())).await;
        assert_eq!(turns, [Ok(()); 4]);
        assert_eq!(start.elapsed(), 3 * INTERVAL, "the first is at once");
        tokio::time::advance(Duration::from_secs(60)).await;
        let start = Instant::now();
        assert_eq!(limiter.acquire().await, Ok(()));
        assert_eq!(start.elapsed(), Duration::ZERO, "an idle caller need not wait");
        limiter.pause(Duration::from_secs(3)).await;
        assert_eq!(limiter.acquire().await, Ok(()));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn pause_delays_waiting_callers() {
        let limiter = RateLimiter::new(INTERVAL);
        let start = Instant::now();
        assert_eq!(limiter.acquire().await, Ok(()));
        let mut waiting = Box::pin(limiter.acquire());
        assert_eq!((&mut waiting).now_or_never(), None);
        limiter.pause(Duration::from_secs(3)).await;
        assert_eq!(waiting.await, Ok(()));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    /// Turns of two processes.
    #[derive(Debug, Default)]
    struct Turns(Mutex<Option<Instant>>);

    #[async_trait]
    impl SharedTurns for Turns {
        async fn take(&self, interval: Duration) -> Option<Duration> {
            let (mut next, now) = (self.0.lock(), Instant::now());
            if let Some(at) = next.filter(|at| *at > now) {
                return Some(at - now);
            }
            *next = Some(now + interval);
            None
        }

        async fn pause(&self, pause: Duration) {
            *self.0.lock() = Some(Instant::now() + pause);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn processes_share_turns_and_pauses() {
        let turns = Arc::new(Turns::default());
        let process = || RateLimiter::new(INTERVAL).sharing(Some(turns.clone()));
        let (one, two) = (process(), process());
        let start = Instant::now();
        let gained = join_all((0..4).flat_map(|_| [one.acquire(), two.acquire()])).await;
        assert_eq!(gained, [Ok(()); 8]);
        assert_eq!(start.elapsed(), 7 * INTERVAL);
        // The pause holds one, too, that waits for its turn.
        let start = Instant::now();
        let mut waiting = Box::pin(two.acquire());
        assert_eq!((&mut waiting).now_or_never(), None);
        one.pause(Duration::from_secs(3)).await;
        assert_eq!(waiting.await, Ok(()));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_wait_uses_no_turn() {
        let limiter = RateLimiter::new(INTERVAL);
        assert_eq!(limiter.acquire().await, Ok(()));
        let start = Instant::now();
        let mut waiting: Vec<_> = (0..1000).map(|_| Box::pin(limiter.acquire())).collect();
        let results: Vec<_> = waiting
            .iter_mut()
            .filter_map(|turn| turn.now_or_never())
            .collect();
        let room = 1000 - results.len();
        assert!(results.iter().all(|result| *result == Err(QueueFull)));
        assert!(
            INTERVAL * u32::try_from(room).unwrap() <= MAX_QUEUE_WAIT,
            "{room} wait"
        );
        assert!(room > 50, "{room} wait");
        drop(waiting);
        assert_eq!(limiter.acquire().await, Ok(()));
        assert_eq!(start.elapsed(), INTERVAL);
    }
}
