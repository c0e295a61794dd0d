//! Control text: text that a model writes for Parlor and not for the user. It is removed from the answer
//! while the answer streams.
//!
//! | control text | position | result |
//! |---|---|---|
//! | `SUGGESTED_VALUES: […]`, `SUGGESTED_ACTIONS: […]` | first on a line | [`Item::Values`], [`Item::Actions`] |
//! | a page's marker and JSON, such as `TABLE: {…}` | anywhere at the start of a word | [`Item::Payload`] |
//! | `<!-- METADATA: {…} -->` | anywhere | [`Item::Sources`] if it has any, else nothing: an echo of the history's metadata |
//! | echoes of the history's metadata, well-formed or not | first in the answer | nothing |
//! | the same as a comment | first on a line, and first in the continuation of an answer | nothing |
//! | `{"sources": […]}`, alone or in a fence | last in the answer | [`Item::Sources`], unless a comment has named sources |
//!
//! The markers may be bold, and their JSON may follow in a fence: models write both. Markers behind list
//! bullets or quotes are ignored, since an empty bullet would remain. A marker counts as a use, not a
//! mention, if JSON of the right type follows. Suggestions must also be first on a line, because people do
//! talk about those two markers, while a page's marker is its own word.
//!
//! Code never contains control text: fenced, indented or in backticks, as [`markdown`](parlor_markup::markdown)
//! parses it, including text that may still become code. Rejected data of a marker [whose payloads are
//! corrected](Marker::is_corrected) are an [`Item::Rejected`]. Other rejected control text (invalid, of the wrong type,
//! too long, unfinished) is released unchanged and not filtered again. So a text without control text passes
//! unchanged, and the split into deltas doesn't matter.
//!
//! Only the model's own output is filtered. The user's messages, tool outputs and page contents never pass
//! through here and so never become structure. If the model repeats them, the repetition is its own output
//! and is filtered. Callers check that a suggested action exists and that a source was really found.
//! [`escape_metadata`] is the other direction: it escapes metadata in text from others, so that the model can't
//! mistake them for Parlor's.

use serde_json::Value;

use parlor_protocol::{CitedSource, SuggestedAction, SuggestedValue};

pub use self::parse::limit_sources;
pub use self::{escape::escape_metadata, filter::ControlFilter};

mod echoed_metadata;
mod escape;
mod filter;
mod json_scanner;
mod opening;
mod parse;
mod pending;
mod pending_space;
mod visible_text;

#[cfg(test)]
mod tests;

/// The default maximum length of control text, in bytes.
pub const DEFAULT_MAX_CONTROL_BYTES: usize = 64 * 1024;

/// Parses a payload: returns its data in the page's form, or the reason for rejecting it.
pub type ParsePayload = fn(&Value) -> Result<Value, String>;

/// A page's marker for a payload.
#[derive(Clone, Debug)]
pub struct Marker {
    /// The marker's text, for example `TABLE:`.
    pub marker: String,
    /// The payload's type, for example `table`.
    pub kind: String,
    pub parse: ParsePayload,
    /// True if rejected data become an [`Item::Rejected`] instead of text.
    pub is_corrected: bool,
}

/// A payload that the model wrote and that does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedPayload {
    /// The marker, such as `TABLE:`.
    pub marker: String,
    /// A sentence for the model.
    pub reason: String,
    /// The raw text in the answer, with the whitespace before it.
    pub raw: String,
}

/// An item of a filtered answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Visible text.
    Text(String),
    /// Suggested values. They replace earlier ones.
    Values(Vec<SuggestedValue>),
    /// Suggested actions. They replace earlier ones.
    Actions(Vec<SuggestedAction>),
    /// A payload. Each one counts, in order.
    Payload {
        kind: String,
        data: Value,
        /// The raw text in the answer, with the whitespace before it.
        raw: String,
    },
    /// A payload whose data do not fit.
    Rejected(RejectedPayload),
    /// Sources. They are added to earlier ones.
    Sources(Vec<CitedSource>),
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
