//! The texts of views that do not know what the page shows, and of times.

// Code that is loaded later
pub(crate) const LOADING: &str = "Loading…";
pub(super) const PART_FAILED: &str =
    "This part of the page could not be loaded. Parlor tries again by itself.";
pub(crate) const TRY_AGAIN: &str = "Try again";

// Groups of dates
pub(super) const TODAY: &str = "Today";
pub(super) const YESTERDAY: &str = "Yesterday";
pub(super) const PREVIOUS_WEEK: &str = "Previous 7 days";

pub(super) fn month(name: &str, year: i64) -> String {
    [name, " ", &year.to_string()].concat()
}

// Durations
pub(super) fn seconds(seconds: &str) -> String {
    [seconds, " s"].concat()
}

pub(super) fn minutes(minutes: &str, seconds: &str) -> String {
    [minutes, " min ", seconds, " s"].concat()
}
