//! Payloads that the model may write besides text, as the current page defines them. The payload types and
//! their storage are not known here.

use std::fmt;

use serde_json::Value;

use super::control::Marker;
use parlor_model::Toolbox;
use parlor_protocol::{Payload, PayloadRef};

/// The payloads of a page.
pub trait PayloadFactory: fmt::Debug + Send + Sync {
    /// Returns the markers that begin a payload.
    fn markers(&self) -> Vec<Marker>;

    /// Returns the status text while the model writes such a payload, for example "Writing a table...".
    fn status_text(&self, kind: &str) -> String;

    /// Creates a payload with an id and a summary line. `data` matches the payload's type.
    ///
    /// # Errors
    ///
    /// If the payload can't be kept.
    fn create_payload(&self, kind: &str, data: Value) -> Result<Payload, String>;

    /// Returns the reference to a new payload, with the size of its preview.
    fn to_ref(&self, payload: &Payload) -> PayloadRef;

    /// Returns true if a source of an earlier turn in the conversation has this URL, or the output of a tool that finds sources.
    fn is_known_url(&self, url: &str, tools: &dyn Toolbox) -> bool;
}
