//! Delays between retries.

use crate::browser;

const MIN_BACKOFF_MS: f64 = 1000.0;
const MAX_BACKOFF_MS: f64 = 15_000.0;

/// The delay after `tries` failures, in milliseconds: doubled each time, up to a limit, with some random spread.
pub fn backoff_ms(tries: u32) -> f64 {
    let longest = (MIN_BACKOFF_MS * 2f64.powi(tries.min(5) as i32 - 1)).min(MAX_BACKOFF_MS);
    longest * (0.5 + browser::random() / 2.0)
}
