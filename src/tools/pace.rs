//! A pace that several callers keep together: so many requests a second and no more.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until},
};

/// Gives turns, one after the other, in the order in which they are asked for.
#[derive(Debug)]
pub struct Pace {
    between: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub fn new(between: Duration) -> Self {
        Self {
            between,
            next: Mutex::new(None),
        }
    }

    /// Waits until it is the caller's turn. Who stops waiting leaves a turn unused.
    pub async fn turn(&self) {
        let turn = {
            let mut next = self.next.lock().await;
            let now = Instant::now();
            let turn = next.map_or(now, |next| next.max(now));
            *next = Some(turn + self.between);
            turn
        };
        sleep_until(turn).await;
    }

    /// Gives no turns for so long, but for those that are given already.
    pub async fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut next = self.next.lock().await;
        *next = Some(next.map_or(until, |next| next.max(until)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_come_at_their_pace_and_after_pauses() {
        let pace = Pace::new(Duration::from_millis(350));
        let start = Instant::now();
        futures::future::join_all((0..4).map(|_| pace.turn())).await;
        assert_eq!(
            start.elapsed(),
            Duration::from_millis(1050),
            "the first is at once"
        );
        tokio::time::advance(Duration::from_secs(60)).await;
        let start = Instant::now();
        pace.turn().await;
        assert_eq!(
            start.elapsed(),
            Duration::ZERO,
            "who has not asked for long need not wait"
        );
        pace.pause(Duration::from_secs(3)).await;
        pace.turn().await;
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }
}
