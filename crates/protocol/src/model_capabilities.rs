//! The capabilities of a model: what it takes and what it costs, as far as it is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dollars, ThinkingSupport, flat_json::Fields};

/// The capabilities of a model. A missing field is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ModelCapabilities {
    /// True if it sees images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_input: Option<bool>,
    /// True if it reads PDF files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf_input: Option<bool>,
    /// True if it uses tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use: Option<bool>,
    /// Its thinking before an answer, and how to set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingSupport>,
    /// The context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<usize>,
    /// The maximum length of an answer in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

impl ModelCapabilities {
    /// Returns these capabilities, with those of `other` for what is not known.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            image_input: self.image_input.or(other.image_input),
            pdf_input: self.pdf_input.or(other.pdf_input),
            tool_use: self.tool_use.or(other.tool_use),
            thinking: self.thinking.or(other.thinking),
            context_window: self.context_window.or(other.context_window),
            max_output_tokens: self.max_output_tokens.or(other.max_output_tokens),
            prices: self.prices.or(other.prices),
        }
    }

    /// Returns true if nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// The prices of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Prices {
    pub input: Dollars,
    pub output: Dollars,
    /// Input that is read from the server's cache. If missing, it costs as much as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<Dollars>,
    /// Input that is written to the server's cache. If missing, it costs as much as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Dollars>,
    /// Images in the output. If missing, they cost as much as other output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_output: Option<Dollars>,
}
