//! How long to wait before something that failed is tried again.

use super::browser;

const FIRST_MS: f64 = 1000.0;
const LONGEST_MS: f64 = 15_000.0;

/// After so many tries that failed, in milliseconds: twice as long each time, up to a limit, spread a little.
pub fn backoff(tries: u32) -> f64 {
    let longest = (FIRST_MS * 2f64.powi(tries.min(5) as i32 - 1)).min(LONGEST_MS);
    longest * (0.5 + browser::random() / 2.0)
}
