//! The texts of the keys of people's own, and of the search for local servers.

pub(super) const OWN_KEYS: &str = "Your own keys";
pub(super) const ABOUT_OWN_KEYS: &str =
    "What you use with a key of your own is yours alone, and its cost is yours, too.";
pub(super) const NO_OWN_KEYS: &str = "None yet.";
pub(super) const ADD_KEY: &str = "Add a key";
pub(super) const ALLOW_OWN_KEYS: &str = "People may add keys of their own";
pub(super) const TAKES_OWN_KEYS: &str = "People may use keys of their own at this address";
pub(super) const KEY_IS_DELETED: &str = "The key is deleted, and its models can no longer be chosen. Conversations stay; they need another model to go on.";
pub(super) const FIND_LOCAL: &str = "Find one on Parlor’s machine";
pub(super) const SEARCHING: &str = "Searching…";
pub(super) const FOUND_LOCAL: &str = "Found on Parlor’s machine";
pub(super) const ADD_FOUND: &str = "Add";
