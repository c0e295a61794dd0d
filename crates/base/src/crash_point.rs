//! Crash points: places where a test kills the process, between any two steps that end a run and any two
//! steps of recovery.
//!
//! They exist only in test builds, where `fail` has its feature `failpoints` (through a dev-dependency);
//! elsewhere they compile to nothing. `tests/process/failpoints.rs` lists them all, with the expected state
//! after each.

pub use fail;

/// Kills the process at once, as `kill -9` would, if `FAILPOINTS` names this place and its condition, if any,
/// holds.
#[macro_export]
macro_rules! crash_point {
    ($name:literal) => {
        $crate::crash_point::fail::fail_point!($name, |_| std::process::abort())
    };
    ($name:literal, if $condition:expr) => {{
        // Not evaluated without failpoints. The closure keeps its variables from being reported as unused.
        let holds = || $condition;
        let _ = &holds;
        $crate::crash_point::fail::fail_point!($name, holds(), |_| std::process::abort())
    }};
}
