//! Control text: what a model writes for Parlor and not for the person, taken out of its answer while that streams.
//!
//! | control text | where | what it becomes |
//! |---|---|---|
//! | `SUGGESTED_VALUES: […]`, `SUGGESTED_ACTIONS: […]` | first on a line | [`Item::Values`], [`Item::Actions`] |
//! | a page's marker and JSON, such as `SCHEMA_PROPOSAL: {…}` | anywhere at a word's begin | [`Item::Payload`] |
//! | `<!-- METADATA: {…} -->` | anywhere | [`Item::Sources`] if it has any, else nothing: it imitates what history is enriched with |
//! | imitations of the history's metadata, well written or not | first in the answer | nothing |
//! | the same as a comment | first on a line, and first in what continues an answer | nothing |
//! | `{"sources": […]}`, alone or in a fence | last in the answer | [`Item::Sources`], unless a comment had some |
//!
//! The markers may be bold, and their JSON may stand in a fence behind them: models write both. Behind list bullets or quotes
//! they are not looked for, since an empty bullet would stay. What tells a use from a mention is that JSON of the right type
//! follows; suggestions must be first on a line as well, because a page's marker is the page's own word, while people do
//! talk about those two.
//!
//! Nothing in code is control text: fenced, indented or in backticks, as [`markdown`](crate::markdown) reads it, nor what
//! may yet turn out to be code. What turns out not to be control text (invalid, of the wrong type, too long, unfinished) is
//! released as it came, and not looked through again. So a text without control text goes through unchanged, and where
//! it was cut doesn't matter.
//!
//! This is for what the model itself says. What a person writes, what tools return and what pages contain never come
//! through here and so never become structure; what the model repeats of them is its own text and does.
//! Whether a suggested action exists, or a source was really found, is for others to check. [`neutral`] is the other direction: it
//! spells what somebody's text has of metadata so that the model can't take it for Parlor's.

use serde_json::Value;

use crate::protocol::{CitedSource, SuggestedAction, SuggestedValue};

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

/// The longest control text that is taken, in bytes, unless something else is asked for.
pub const DEFAULT_MAX_CONTROL_BYTES: usize = 64 * 1024;

/// Reads a payload: its data as the page wants it, or why it is none.
pub type ParsePayload = fn(&Value) -> Result<Value, String>;

/// What a page lets the model write before a payload.
#[derive(Clone, Debug)]
pub struct Marker {
    /// Such as `SCHEMA_PROPOSAL:`.
    pub marker: String,
    /// The payload's type, such as `schema_proposal`.
    pub kind: String,
    pub parse: ParsePayload,
}

/// What an answer consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Text for the person.
    Text(String),
    /// They replace those that came before.
    Values(Vec<SuggestedValue>),
    /// They replace those that came before.
    Actions(Vec<SuggestedAction>),
    /// Each counts, in order.
    Payload {
        kind: String,
        data: Value,
        /// As it stood in the answer, with the white space before it.
        written: String,
    },
    /// They come to those of before.
    Sources(Vec<CitedSource>),
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
