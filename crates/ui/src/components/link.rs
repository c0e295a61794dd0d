//! Links that leave Parlor.

/// The `rel` of external links: the target cannot access this page and gets no referrer, and the link does not vouch
/// for it.
pub const EXTERNAL_LINK_REL: &str = "noopener noreferrer nofollow";
