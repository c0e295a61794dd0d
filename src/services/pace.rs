//! A pace that several callers keep together: so many requests a second and no more.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until},
};

/// How long one should have to wait at most, if nothing pauses meanwhile: nobody has the patience for more.
const LONGEST: Duration = Duration::from_secs(20);

/// Gives turns, one after the other, in the order in which they are asked for.
#[derive(Debug)]
pub struct Pace {
    between: Duration,
    next: Mutex<Option<Instant>>,
    /// Who has it has the next turn. It is given in the order in which it is asked for.
    first: tokio::sync::Mutex<()>,
    /// For those who wait, and the one whose turn is next.
    places: Semaphore,
}

/// So many wait for their turn that there is no room for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded;

impl Pace {
    pub fn new(between: Duration) -> Self {
        let places = LONGEST.as_millis() / between.as_millis().max(1);
        let places = usize::try_from(places).unwrap_or(usize::MAX);
        Self {
            between,
            next: Mutex::default(),
            first: tokio::sync::Mutex::default(),
            places: Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)),
        }
    }

    /// Waits until it is the caller's turn. Who stops waiting uses none up.
    pub async fn turn(&self) -> Result<(), Crowded> {
        let _place = self.places.try_acquire().map_err(|_| Crowded)?;
        let _first = self.first.lock().await;
        while let Some(next) = self.take() {
            sleep_until(next).await;
        }
        Ok(())
    }

    /// Takes a turn, or says when there will be one: not before, and later if there is a pause meanwhile.
    fn take(&self) -> Option<Instant> {
        let mut next = self.next();
        let now = Instant::now();
        if next.is_some_and(|next| next > now) {
            return *next;
        }
        *next = Some(now + self.between);
        None
    }

    /// Gives no turns for so long.
    pub fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut next = self.next();
        *next = Some(next.map_or(until, |next| next.max(until)));
    }

    fn next(&self) -> MutexGuard<'_, Option<Instant>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, future::join_all};

    use super::*;

    const BETWEEN: Duration = Duration::from_millis(350);

    #[tokio::test(start_paused = true)]
    async fn turns_come_at_their_pace_and_after_pauses() {
        let pace = Pace::new(BETWEEN);
        let start = Instant::now();
        let turns = join_all((0..4).map(|_| pace.turn())).await;
        assert_eq!(turns, [Ok(()); 4]);
        assert_eq!(start.elapsed(), 3 * BETWEEN, "the first is at once");
        tokio::time::advance(Duration::from_secs(60)).await;
        let start = Instant::now();
        assert_eq!(pace.turn().await, Ok(()));
        assert_eq!(
            start.elapsed(),
            Duration::ZERO,
            "who has not asked for long need not wait"
        );
        pace.pause(Duration::from_secs(3));
        assert_eq!(pace.turn().await, Ok(()));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_for_those_who_wait_already_too() {
        let pace = Pace::new(BETWEEN);
        let start = Instant::now();
        assert_eq!(pace.turn().await, Ok(()));
        let mut waiting = Box::pin(pace.turn());
        assert_eq!((&mut waiting).now_or_never(), None);
        pace.pause(Duration::from_secs(3));
        assert_eq!(waiting.await, Ok(()));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn who_stops_waiting_uses_no_turn_up_and_when_too_many_wait_one_is_told_at_once() {
        let pace = Pace::new(BETWEEN);
        assert_eq!(pace.turn().await, Ok(()));
        let start = Instant::now();
        let mut waiting: Vec<_> = (0..1000).map(|_| Box::pin(pace.turn())).collect();
        let told: Vec<_> = waiting
            .iter_mut()
            .filter_map(|turn| turn.now_or_never())
            .collect();
        let room = 1000 - told.len();
        assert!(told.iter().all(|told| *told == Err(Crowded)));
        assert!(BETWEEN * u32::try_from(room).unwrap() <= LONGEST, "{room} wait");
        assert!(room > 50, "{room} wait");
        drop(waiting);
        assert_eq!(pace.turn().await, Ok(()));
        assert_eq!(start.elapsed(), BETWEEN);
    }
}
