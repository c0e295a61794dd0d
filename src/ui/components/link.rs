//! Links that leave Parlor.

/// What a link to somewhere else must not do: see this page, know where the reader came from, vouch for the target.
pub const EXTERNAL_LINK_REL: &str = "noopener noreferrer nofollow";
