//! Settings of several processes on one database.

use std::time::Duration;

use serde::Deserialize;

use super::SettingsError;

/// Several processes on one database of Postgres (docs/nodes.md).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeSettings {
    /// True if other processes may use the database at the same time. Experimental; all of them need it, and the same files and
    /// secret key.
    pub enabled: bool,
    /// The time after which others take over the work of a node that is not heard of.
    #[serde(deserialize_with = "super::duration::positive")]
    pub lease: Duration,
    /// The time between two extensions of the lease. At most a third of it.
    #[serde(deserialize_with = "super::duration::positive")]
    pub renewal: Duration,
    /// The time between two looks for changes of other nodes whose notification was lost.
    #[serde(deserialize_with = "super::duration::positive")]
    pub poll: Duration,
}

impl Default for NodeSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            lease: Duration::from_secs(6),
            renewal: Duration::from_secs(1),
            poll: Duration::from_secs(1),
        }
    }
}

impl NodeSettings {
    pub(super) fn check(&self, has_postgres: bool) -> Result<(), SettingsError> {
        if self.enabled && !has_postgres {
            return Err(SettingsError::NodesWithoutPostgres);
        }
        if self.enabled && self.renewal.saturating_mul(3) > self.lease {
            return Err(SettingsError::LongRenewal);
        }
        Ok(())
    }
}
