//! Helpers for views and state that do not know what the page shows: erased views, keyed lists, conditional views,
//! lazily loaded code, the clock, state of the page, the order of requests, a lock.

pub mod backoff;
pub mod bidi;
pub mod clock;
pub mod each;
pub mod effect;
pub mod erase;
pub mod lazy;
pub mod lazy_part;
pub mod lock;
pub mod page_state;
pub mod requests;
pub mod roving;
pub mod shared_view;
pub mod signal;
pub mod texts;
pub mod when;
