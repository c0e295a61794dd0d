//! Settings of shares.

use serde::Deserialize;

/// Conversations that users share with others, by a link or by name (docs/sharing.md).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SharingSettings {
    /// True if conversations can be shared by a link, which everybody who has it can open without signing in. If false, earlier
    /// links do not work either.
    pub links: bool,
    /// The number of shares of a user.
    pub shares: usize,
    /// The number of people that a share can name.
    pub readers: usize,
    /// The number of people who can watch a live share at the same time, at each node. Others see it as it is when they load the page.
    pub watchers: usize,
}

impl Default for SharingSettings {
    fn default() -> Self {
        Self {
            links: true,
            shares: 200,
            readers: 50,
            watchers: 100,
        }
    }
}
