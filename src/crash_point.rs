//! Places where a test lets the process die: between any two steps that end a run, and that end what a crash has left.
//!
//! They are there only in what is built for tests, where `fail` has its feature `failpoints` (a dev-dependency sees to that);
//! elsewhere they are compiled to nothing. `tests/process/failpoints.rs` lists them all, with what must hold after each.

/// Ends the process here and now, as `kill -9` would, if `FAILPOINTS` names this place and, where it has one, its condition holds.
macro_rules! crash_point {
    ($name:literal) => {
        fail::fail_point!($name, |_| std::process::abort())
    };
    ($name:literal, if $condition:expr) => {{
        // Looked at by nobody where there are no such places; what it names is used all the same.
        let holds = || $condition;
        let _ = &holds;
        fail::fail_point!($name, holds(), |_| std::process::abort())
    }};
}
