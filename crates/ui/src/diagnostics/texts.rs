//! The texts of the dialog of an answer's diagnostics that people read. What it shows has the server's words.

pub(super) use crate::components::texts::{CLOSE, DETAILS, LOADING, TRY_AGAIN};

pub(super) const TITLE: &str = "Diagnostics";
pub(super) const BEING_WRITTEN: &str = "The answer is being written.";
pub(super) const REFRESH: &str = "Refresh";
pub(super) const COPY_JSON: &str = "Copy as JSON";
