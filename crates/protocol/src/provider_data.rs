//! Provider data: data about parts of an answer that only the model's provider understands.

use super::RawJson;

/// A signature, an encrypted thought, or other data that a model server needs back unchanged. It belongs to a
/// part of an answer, is never shown, and is sent only to the endpoint from which it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderData {
    /// The kind of endpoint that understands it, which is the adapter that made it and sends it back.
    pub kind: String,
    /// The field in which it came, and in which it is sent back.
    pub field: String,
    /// The value, unchanged byte for byte.
    pub value: RawJson,
}

/// [`ProviderData`] with its place in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedProviderData {
    pub node: usize,
    /// The index of the part; `None` for data of the whole node.
    pub part: Option<usize>,
    /// The name of the endpoint from which it came.
    pub endpoint: String,
    pub data: ProviderData,
}
