//! Drafts that are lists of named items: each item is a field, which can be accepted alone.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Draft, FieldChange, ProposedChanges};

/// An item of a list, known by its name.
pub trait DraftItem:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The [name](Draft::NAME) of the list.
    const LIST: &'static str;

    fn name(&self) -> &str;

    /// The item without its name, as a text.
    fn text(&self) -> String;
}

/// A list of named items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DraftList<T>(pub Vec<T>);

// Derived `Default` would require it of the items.
impl<T> Default for DraftList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> DraftList<T> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: DraftItem> Draft for DraftList<T> {
    const NAME: &'static str = T::LIST;

    /// The text of the item with this name; empty if there is none.
    fn text(&self, field: &str) -> Option<String> {
        let item = self.0.iter().find(|item| item.name() == field);
        Some(item.map_or(String::new(), DraftItem::text))
    }

    fn apply(&mut self, change: &FieldChange) -> bool {
        if change.value.as_str() == "null" {
            self.0.retain(|item| item.name() != change.name);
            return true;
        }
        let Some(item) = change.read::<T>().filter(|item| item.name() == change.name) else {
            return false;
        };
        match self.0.iter_mut().find(|known| known.name() == change.name) {
            Some(known) => *known = item,
            None => self.0.push(item),
        }
        true
    }
}

/// Items to add or to change, by their names, and names of items to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListProposal<T> {
    pub items: Vec<T>,
    pub remove: Vec<String>,
    pub explanation: Option<String>,
}

impl<T: DraftItem> ListProposal<T> {
    pub fn into_changes(self) -> ProposedChanges {
        let set = self
            .items
            .iter()
            .map(|item| FieldChange::new(item.name(), item.name(), item.text(), item));
        let removed = self
            .remove
            .iter()
            .map(|name| FieldChange::new(name, name, String::new(), &()));
        ProposedChanges {
            fields: set.chain(removed).collect(),
            explanation: self.explanation,
        }
    }
}
