//! Helpers for views that do not know what the page shows: erased views, keyed lists, conditional views, lazily loaded code and a lock.

pub mod backoff;
pub mod each;
pub mod erase;
pub mod lazy;
pub mod lock;
pub mod when;
