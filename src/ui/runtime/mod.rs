//! Helpers for views that do not know what the page shows: erased views, keyed lists, conditional views and lazily loaded code.

pub mod backoff;
pub mod each;
pub mod erase;
pub mod lazy;
pub mod when;
