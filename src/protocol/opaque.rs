//! Data of an answer that only the provider of its model understands.

use super::RawJson;

/// A signature, an encrypted thought, or whatever else a model server wants to see again exactly as it said it. It stands beside the
/// part of an answer that it belongs to, is never shown, and goes back to the endpoint that it came from and to no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// The kind of endpoint that understands it: which adapter made it, and takes it back.
    pub kind: String,
    /// The field in which it came, and in which it goes back.
    pub field: String,
    /// As it came, byte for byte.
    pub value: RawJson,
}

/// [`Opaque`] data, and where they belong in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedOpaque {
    pub node: usize,
    /// `None` for what belongs to the node as a whole.
    pub part: Option<usize>,
    /// The name of the endpoint that said it.
    pub endpoint: String,
    pub data: Opaque,
}
