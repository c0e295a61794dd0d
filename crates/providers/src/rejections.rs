//! The lessons of rejected requests.

use serde_json::Value;

use super::{
    adapter::Adapter, error_phrases::is_tools_unsupported, fallback_messages::has_tools,
    rejected_roles::rejected_roles, rejection_text::RejectionText,
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
    /// Several calls in one message.
    CallGroups,
    /// Words and calls in one message.
    CallTexts,
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
pub struct Rejected<'a, A: Adapter> {
    pub model: &'a str,
    /// The request, with its tools as they were sent.
    pub request: &'a ModelRequest,
    pub form: &'a A::Form,
    pub body: &'a A::Body,
    pub error: &'a ModelError,
}

impl<A: Adapter> Rejected<'_, A> {
    /// Returns the rejected feature if every protocol has it. `sends_system` is true if the instructions can be
    /// sent otherwise.
    pub fn common_feature(&self, sends_system: bool) -> Option<AnyFeature<A::Feature>> {
        let lacks_tools = || has_tools(self.request) && is_tools_unsupported(self.error);
        rejected_roles(&self.request.messages, sends_system, self.error)
            .or_else(|| lacks_tools().then_some(AnyFeature::Tools))
    }

    /// Returns the body as it was sent.
    pub fn body_json(&self) -> Value {
        serde_json::to_value(self.body).unwrap_or_default()
    }

    pub fn text(&self) -> Option<RejectionText> {
        RejectionText::from_error(self.error)
    }
}
