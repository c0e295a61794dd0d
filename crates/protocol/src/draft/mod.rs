//! Drafts: values on a page that a person edits, and into which the assistant may propose changes.
//!
//! A [`Draft`] is a value of a page. A [`Proposal`] is what the assistant may write for one: from its type follow the JSON schema
//! and the instructions for the model, the check of what it wrote, and the card with the changes, field by field. What is accepted
//! goes into the draft on the screen and is not saved.
//!
//! [`draft!`](crate::draft!) declares a draft of texts with its proposal. [`list`] has drafts that are lists of named items.

mod list;
mod texts;

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{RawJson, json};

pub use self::list::{DraftItem, DraftList, ListProposal};

/// The maximum length of a text in a proposal, in bytes.
pub const MAX_FIELD_BYTES: usize = 20_000;

/// The maximum number of fields of a proposal.
pub const MAX_FIELDS: usize = 100;

/// A value of a page that a person edits. Its fields are texts, or parts that can be shown as texts.
pub trait Draft:
    Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The name of the draft in the context of its page, such as `stream`.
    const NAME: &'static str;

    /// Returns the text of a field; `None` if the draft has no such field.
    fn text(&self, field: &str) -> Option<String>;

    /// Puts the proposed value into its field. Returns false if it does not fit.
    fn apply(&mut self, change: &FieldChange) -> bool;
}

/// What the assistant may write for a draft. Fields that are left out stay as they are.
pub trait Proposal: DeserializeOwned + JsonSchema + 'static {
    type Draft: Draft;

    const KIND: ProposalKind;

    /// Returns the changes, in the order of the fields.
    fn into_changes(self) -> ProposedChanges;
}

/// A kind of proposal, as the assistant and the page know it.
#[derive(Debug)]
pub struct ProposalKind {
    /// The name of the payload type, such as `schema_proposal`.
    pub payload_type: &'static str,
    /// The word before the JSON that occurs nowhere else, such as `SCHEMA_PROPOSAL:`.
    pub marker: &'static str,
    /// The title of its card.
    pub title: &'static str,
    /// What it proposes, for the model: "Changes of the stream that is open".
    pub about: &'static str,
    /// JSON that follows the marker, as an example.
    pub example: &'static str,
    /// The text that the user sees while the model writes it.
    pub progress_text: &'static str,
}

/// The content of a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProposedChanges {
    pub fields: Vec<FieldChange>,
    /// The reason, as Markdown.
    pub explanation: Option<String>,
}

/// The change of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    pub name: String,
    /// The name for the user.
    pub label: String,
    /// The proposed value as text; empty if the field is to be empty or an item is to be removed.
    pub text: String,
    /// The proposed value; `null` to remove an item.
    pub value: RawJson,
}

impl FieldChange {
    /// The change of a field to a value that is shown as `text`.
    pub fn new(name: &str, label: &str, text: String, value: &impl Serialize) -> Self {
        let value = serde_json::to_string(value).unwrap_or_default();
        Self {
            name: name.into(),
            label: label.into(),
            text,
            value: RawJson::parse_or_quote(&value),
        }
    }

    /// The proposed value, if it is of this type.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        json::parse(self.value.as_str().as_bytes()).ok()
    }
}

impl ProposedChanges {
    /// Checks what every proposal must fulfil.
    ///
    /// # Errors
    ///
    /// A sentence for the model.
    pub fn check(&self) -> Result<(), String> {
        if self.fields.is_empty() {
            return Err("it proposes nothing".into());
        }
        if self.fields.len() > MAX_FIELDS {
            return Err(format!(
                "it has {} fields; at most {MAX_FIELDS} are allowed",
                self.fields.len()
            ));
        }
        for (index, field) in self.fields.iter().enumerate() {
            let name = &field.name;
            if field.value.as_str().len() > MAX_FIELD_BYTES {
                return Err(format!(
                    "`{}` is too long; at most {MAX_FIELD_BYTES} bytes are allowed",
                    name.chars().take(60).collect::<String>()
                ));
            }
            if name.trim().is_empty() {
                return Err("a name is empty".into());
            }
            if self.fields[..index].iter().any(|other| other.name == *name) {
                return Err(format!("`{name}` is there twice"));
            }
        }
        let explanation = self.explanation.as_ref().map_or(0, String::len);
        if explanation > MAX_FIELD_BYTES {
            return Err(format!(
                "`explanation` is too long; at most {MAX_FIELD_BYTES} bytes are allowed"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
