//! Model servers that were added in the page: the stored type, the changes and the queries.

use std::fmt;

use async_trait::async_trait;

use super::StorageError;
use parlor_protocol::{EndpointId, EndpointKind, Timestamp, UserId};

/// A model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEndpoint {
    pub id: EndpointId,
    /// The only user who may use it; `None` if everybody may.
    pub owner: Option<UserId>,
    /// Unique among those of the same owner.
    pub name: String,
    pub kind: EndpointKind,
    pub base_url: String,
    pub key: Option<SealedKey>,
    pub models: Vec<String>,
    pub hidden_models: Vec<String>,
    pub is_enabled: bool,
    /// True if users may bring keys of their own for its address. Never true of a user's own.
    pub takes_own_keys: bool,
    pub created_at: Timestamp,
    pub updated_by: UserId,
    pub updated_at: Timestamp,
}

/// An encrypted key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey(pub Vec<u8>);

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

/// The new values of a model server. Those that are `None` stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointValues {
    pub kind: Option<EndpointKind>,
    pub base_url: Option<String>,
    /// Another key, or none.
    pub key: Option<Option<SealedKey>>,
    pub models: Option<Vec<String>>,
    pub hidden_models: Option<Vec<String>>,
    pub is_enabled: Option<bool>,
    pub takes_own_keys: Option<bool>,
}

/// A change to model servers. The logs of all users say that the models have changed; of a user's own, only the owner's.
#[derive(Clone, Debug)]
pub enum EndpointChange {
    /// Adds one at the end, if its owner has fewer than `limit`. Rejected with `IntentReused` if its id is taken, with
    /// `EndpointNameTaken` if its owner has one of this name.
    Add { endpoint: StoredEndpoint, limit: usize },
    /// Changes one of this owner.
    Update {
        id: EndpointId,
        owner: Option<UserId>,
        values: EndpointValues,
    },
    /// Seals a key again, with a newer key of the server. Nothing else changes, so it is not logged.
    Reseal {
        id: EndpointId,
        from: SealedKey,
        to: SealedKey,
    },
    /// Removes one of this owner, also if its row can't be read.
    Remove { id: EndpointId, owner: Option<UserId> },
    /// Allows keys of users' own, or forbids them. They stay stored.
    AllowOwnKeys { is_allowed: bool },
}

/// The queries about model servers.
#[async_trait]
pub trait EndpointStorage {
    /// Returns the model servers of a user, or those for everybody, in their order.
    async fn endpoints(&self, owner: Option<UserId>) -> Result<Vec<StoredEndpoint>, StorageError>;

    /// Returns the model servers of all users for themselves alone, in their order.
    async fn own_endpoints(&self) -> Result<Vec<StoredEndpoint>, StorageError>;

    /// Returns true if users may bring keys of their own.
    async fn allows_own_keys(&self) -> Result<bool, StorageError>;
}
