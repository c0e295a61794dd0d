//! The texts of the dialog of a conversation's shares that people read.

pub(super) use crate::components::texts::{CLOSE, SHARE, TRY_AGAIN};

// The marks at a shared conversation
pub(super) fn shared_mark(audience: &str, title: &str) -> String {
    [audience, ": “", title, "”"].concat()
}

// The dialog
pub(super) const TITLE: &str = "Share this conversation";
pub(super) const IMPOSSIBLE: &str =
    "Nothing can be shared here: links are switched off (setting sharing.links), and there are no accounts.";

// The choices
pub(super) const READERS: &str = "Who can read it";
pub(super) const READERS_BY_LINK: &str = "Whoever has the link";
pub(super) const READERS_BY_NAME: &str = "People here, by name";
pub(super) const NAMES: &str = "Names";
pub(super) const NAMES_EXAMPLE: &str = "ann, ben";
pub(super) const EXTENT: &str = "What they see";
pub(super) const EXTENT_NOW: &str = "The conversation as it is now";
pub(super) const EXTENT_LIVE: &str = "Also what comes, as it is written";
pub(super) const WHAT_READERS_SEE: &str = "Readers see the shown messages with their files, charts and tables. They do \
     not see what tools were given and returned, the model’s reasoning, your instructions and memories, other versions \
     of messages, or deleted ones.";
pub(super) const MAKE_LINK: &str = "Make a link";

// The new share
pub(super) const NEW_SHARE: &str = "The new share";
pub(super) const NEW_LINK_HINT: &str = "The link. Copy it now: it is not shown again.";
pub(super) const NEW_ADDRESS_HINT: &str =
    "The address. Give it to the people whom you named: they open it signed in.";
pub(super) const COPY_LINK: &str = "Copy the link";

// The shares that exist
pub(super) const SHARED_NOW: &str = "Shared now";
pub(super) const LOADING_FAILED: &str = "Your shares could not be loaded.";
pub(super) const NOT_SHARED: &str = "Only you can read this conversation.";
pub(super) const SHARE_IS_LIVE: &str = "live";
pub(super) const SHARE_IS_PAST: &str = "as it was then";
/// Before the time.
pub(super) const SINCE: &str = "since ";
pub(super) const COPY_ADDRESS: &str = "Copy the address";

// The end of a share
pub(super) const END: &str = "End";
pub(super) const END_TITLE: &str = "End this share?";
pub(super) const END_WARNING: &str = "Nobody can read the conversation through it any more, also those who read it \
     now. What they have seen or copied stays with them.";
pub(super) const END_CONFIRM: &str = "End it";

pub(super) fn end_of(readers: &str) -> String {
    ["End: ", readers].concat()
}
