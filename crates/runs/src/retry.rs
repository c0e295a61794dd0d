//! The waits before retries of model calls.

use std::time::Duration;

/// The maximum number of retries of a call that failed because the model server was unavailable.
const MAX_RETRIES: u32 = 2;

/// The wait before the first retry, unless the server names one. It doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest `Retry-After` delay that is honoured. A longer one fails the call.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Returns the wait before a retry, of which the first is 1; `None` if the call fails. `after` is the delay that the server names.
pub(crate) fn retry_wait(after: Option<Duration>, retry: u32) -> Option<Duration> {
    let wait = after.unwrap_or(FIRST_WAIT * 2_u32.pow(retry.saturating_sub(1)));
    (retry <= MAX_RETRIES && wait <= MAX_WAIT).then_some(wait)
}

/// Adds up to a half to a wait, since calls that failed together must not retry together.
pub(crate) fn with_jitter(wait: Duration) -> Duration {
    wait.mul_f64(1.0 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_few_and_soon() {
        let seconds = Duration::from_secs;
        for (after, retry, wait) in [
            (None, 1, Some(1)),
            (None, 2, Some(2)),
            (None, 3, None),
            (Some(60), 1, Some(60)),
            (Some(61), 1, None),
            (Some(0), 3, None),
        ] {
            assert_eq!(retry_wait(after.map(seconds), retry), wait.map(seconds));
        }
    }
}
