//! Model servers that administrators add in the page, besides those of the settings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EndpointId, EndpointKind};

/// A key on its way from a person to the server. It is never sent back, and never printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EndpointKey(pub String);

impl fmt::Debug for EndpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

/// All model servers: those of the settings, then those that were added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointList {
    pub endpoints: Vec<EndpointView>,
}

/// A model server, as administrators see it, or the owner of its key. The key is never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct EndpointView {
    /// Its id; null if the settings name it, which nobody can change in the page.
    pub id: Option<EndpointId>,
    /// The first half of its models' ids.
    pub name: String,
    pub kind: EndpointKind,
    /// The base URL, without anything secret.
    pub base_url: String,
    pub key: EndpointKeyState,
    /// False if its models are not offered at present.
    pub is_enabled: bool,
    /// Its models by name, if it has no list of them.
    pub models: Vec<String>,
    /// The listed models that are not offered.
    pub hidden_models: Vec<String>,
    /// True if users may bring keys of their own for its address.
    pub takes_own_keys: bool,
    /// The reason why its models are not offered, in a sentence: the settings name another one so, or its key is needed.
    pub problem: Option<String>,
}

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointKeyState {
    /// There is none.
    None,
    Set,
    /// There is one that Parlor can't read any more: it has to be entered again.
    NeededAgain,
}

/// A model server to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEndpoint {
    /// An id (UUID, best of version 7) that the client makes: the same request twice adds one.
    pub id: EndpointId,
    /// The name: the first half of its models' ids. It can't be changed later.
    pub name: String,
    pub kind: EndpointKind,
    /// The base URL, including the version, such as `https://api.openai.com/v1`; of Anthropic without it.
    pub base_url: String,
    /// The key, if it needs one.
    #[serde(default)]
    pub key: Option<EndpointKey>,
    /// Its models by name, if it has no list of them.
    #[serde(default)]
    pub models: Vec<String>,
    /// The listed models that are not offered.
    #[serde(default)]
    pub hidden_models: Vec<String>,
    /// True if users may bring keys of their own for its address.
    #[serde(default)]
    pub takes_own_keys: bool,
}

/// A change of a model server that was added in the page. What is missing stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointUpdate {
    #[serde(default)]
    pub kind: Option<EndpointKind>,
    /// Another base URL. A key stays only with its host and port; for others it has to be given again.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Another key. An empty one removes the present one.
    #[serde(default)]
    pub key: Option<EndpointKey>,
    #[serde(default)]
    pub models: Option<Vec<String>>,
    #[serde(default)]
    pub hidden_models: Option<Vec<String>>,
    #[serde(default)]
    pub is_enabled: Option<bool>,
    #[serde(default)]
    pub takes_own_keys: Option<bool>,
}

/// A model server to test before it is added or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointTest {
    pub kind: EndpointKind,
    pub base_url: String,
    #[serde(default)]
    pub key: Option<EndpointKey>,
    /// The added model server whose stored key is used if none is given and the address is its own.
    #[serde(default)]
    pub id: Option<EndpointId>,
}

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointTestResult {
    /// The models that it lists.
    pub models: Vec<FoundModel>,
    /// The reason why it can't be used as it is, or something to know; null if all is well.
    pub problem: Option<EndpointProblem>,
}

/// A model that a server lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundModel {
    /// The server's name of it.
    pub name: String,
    /// False if it is known to be no model for conversations, such as one for embeddings. Then it is not offered.
    pub can_chat: bool,
}

/// A model server that was searched for on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalServer {
    /// The name that it would get.
    pub name: String,
    /// Its name for people.
    pub label: String,
    pub base_url: String,
    /// The number of models that it lists; 0 if it is not there.
    pub models: usize,
    /// The finding in a sentence for people.
    pub finding: String,
}

/// A finding of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointProblem {
    pub code: EndpointProblemCode,
    /// The finding in a sentence for people.
    pub message: String,
    /// The technical cause, if there is more to say.
    pub details: String,
}

/// The kinds of findings of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointProblemCode {
    InvalidKey,
    KeyNeeded,
    NoCredit,
    NothingAnswers,
    UnknownHost,
    UntrustedCertificate,
    TooSlow,
    OtherServer,
    /// It answers, but does not list its models: name them.
    ListRefused,
    /// It lists no models.
    NoModels,
    Busy,
    Other,
}
