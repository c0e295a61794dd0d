//! The features of requests that a server has rejected for a model. They are left out of later requests, until
//! Parlor is restarted.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use super::{
    error_phrases::is_tools_unsupported,
    fallback_messages::has_tools,
    rejected_roles::{RejectedRoles, rejected_roles},
    rejection_text::RejectionText,
};
use parlor_model::{ModelError, ModelRequest};

/// A feature of requests that not every model or server takes. `F` are those of one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyFeature<F> {
    /// Tools in their own field.
    Tools,
    /// Earlier calls and their outputs as such.
    ToolRoles,
    /// The files of tools, which are messages of the user, behind their outputs.
    ToolFiles,
    /// Instructions as such.
    System,
    Own(F),
}

/// A lesson of a rejected request, after which the next one differs.
pub enum Lesson<F> {
    /// Later requests to this model are without this.
    Without(AnyFeature<F>),
    /// This conversation leaves room for an answer of so many tokens.
    Room(u64),
    /// The adapter has recorded what it needs.
    Recorded,
}

/// A request that a server has rejected.
pub struct Rejected<'a, Form> {
    pub model: &'a str,
    /// The request, with its tools as they were sent.
    pub request: &'a ModelRequest,
    pub form: &'a Form,
    /// The body as it was sent.
    pub body: Value,
    pub error: &'a ModelError,
}

impl<Form> Rejected<'_, Form> {
    /// Returns the rejected feature if every protocol has it. `sends_system` is true if the instructions can be
    /// sent otherwise.
    pub fn common_feature<F>(&self, sends_system: bool) -> Option<AnyFeature<F>> {
        match rejected_roles(&self.request.messages, sends_system, self.error) {
            Some(RejectedRoles::ToolFiles) => Some(AnyFeature::ToolFiles),
            Some(RejectedRoles::System) => Some(AnyFeature::System),
            Some(RejectedRoles::ToolRoles) => Some(AnyFeature::ToolRoles),
            None => {
                let lacks_tools = has_tools(self.request) && is_tools_unsupported(self.error);
                lacks_tools.then_some(AnyFeature::Tools)
            }
        }
    }

    pub fn text(&self) -> Option<RejectionText> {
        RejectionText::from_error(self.error)
    }
}

/// The rejected features by model.
#[derive(Debug)]
pub struct Rejections<F>(Mutex<HashMap<String, HashSet<F>>>);

impl<F> Default for Rejections<F> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<F: Copy + Eq + Hash> Rejections<F> {
    /// Returns the rejected features of a model.
    pub fn of_model(&self, model: &str) -> HashSet<F> {
        self.lock().get(model).cloned().unwrap_or_default()
    }

    pub fn contains(&self, model: &str, feature: F) -> bool {
        self.lock()
            .get(model)
            .is_some_and(|known| known.contains(&feature))
    }

    /// Returns the number of rejected features.
    pub fn count(&self, model: &str) -> usize {
        self.lock().get(model).map_or(0, HashSet::len)
    }

    /// Adds a feature. Returns false if it was known.
    pub fn add(&self, model: &str, feature: F) -> bool {
        self.lock().entry(model.to_owned()).or_default().insert(feature)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashSet<F>>> {
        self.0.lock()
    }
}
