//! Keys that users bring of their own for services that are offered. They never enter an address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EndpointId, EndpointKey, EndpointView};

/// The beginning of the name of each model server that a user has for a key of their own. Those for all have other names.
pub const OWN_KEY_PREFIX: &str = "my ";

/// Returns true if a model, by its id, is one of a user's own key.
pub fn is_of_own_key(id: &str) -> bool {
    id.starts_with(OWN_KEY_PREFIX)
}

/// The services that users may bring keys for, and the keys of one user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnKeyList {
    /// False if an administrator has not allowed keys of users' own. Those that are stored are not used then.
    pub is_allowed: bool,
    pub services: Vec<OfferedService>,
    /// The user's model servers, one for each key.
    pub keys: Vec<EndpointView>,
}

/// A service that users may bring keys for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedService {
    /// Its name in requests.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The place where its keys are made; may be empty.
    pub note: String,
}

/// A key to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOwnKey {
    /// An id that the client makes: the same request twice adds one.
    pub id: EndpointId,
    pub service: String,
    pub key: EndpointKey,
    /// The listed models that are not offered.
    #[serde(default)]
    pub hidden_models: Vec<String>,
}

/// A change of a key. What is missing stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnKeyUpdate {
    /// Another key; an empty one changes nothing.
    #[serde(default)]
    pub key: Option<EndpointKey>,
    #[serde(default)]
    pub hidden_models: Option<Vec<String>>,
    #[serde(default)]
    pub is_enabled: Option<bool>,
}

/// A key to test before it is added or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnKeyTest {
    pub service: String,
    #[serde(default)]
    pub key: Option<EndpointKey>,
    /// The user's key that is tested if none is given.
    #[serde(default)]
    pub id: Option<EndpointId>,
}
