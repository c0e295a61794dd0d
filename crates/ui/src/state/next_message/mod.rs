//! The next message: its [`drafts`] in this browser, and its options besides the text.
//! Also the begun edits of messages.

mod draft_files;
pub mod drafts;

use std::collections::HashMap;

use leptos::prelude::*;

pub use self::draft_files::{DraftFile, DraftFiles};
use super::{connection::Connection, route::Route};
use parlor_protocol::{
    MessageId, ParameterInput, Parameters, ThinkingChoice, intent::SendMessage, tool_kind::WEB_SEARCH,
};

/// The next message. One per page.
#[derive(Clone, Copy)]
pub struct NextMessage {
    /// The route where the web is searched for the next message, and only there.
    search_route: RwSignal<Option<Route>>,
    /// The model parameters of the next new conversation. An existing conversation has its own.
    parameters: RwSignal<ParameterInput>,
    /// True if the next new conversation will be temporary.
    is_temporary: RwSignal<bool>,
    /// The texts to which the user is changing messages.
    edits: StoredValue<HashMap<MessageId, String>>,
    /// The files of drafts.
    pub files: DraftFiles,
}

impl NextMessage {
    /// No options set.
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            search_route: RwSignal::new(None),
            parameters: RwSignal::default(),
            is_temporary: RwSignal::new(false),
            edits: StoredValue::default(),
            files: DraftFiles::new(connection),
        }
    }

    /// Returns true if the web is searched for the next message of this route.
    pub fn is_search_on(self, route: Route) -> bool {
        self.search_route.get() == Some(route)
    }

    /// Toggles the web search.
    pub fn toggle_search(self, route: Route) {
        self.search_route
            .update(|search| *search = (*search != Some(route)).then_some(route));
    }

    /// The model parameters of the next new conversation. Not tracked.
    pub fn parameters(self) -> ParameterInput {
        self.parameters.get_untracked()
    }

    /// Returns true if the parameters of the next new conversation differ from the defaults. Tracked.
    pub fn has_parameters(self) -> bool {
        self.parameters
            .with(|parameters| *parameters != ParameterInput::default())
    }

    /// The thinking that is set for the next new conversation. Tracked.
    pub fn thinking(self) -> Option<ThinkingChoice> {
        self.parameters
            .with(|input| Parameters::parse(input).ok()?.thinking())
    }

    /// Sets the model parameters of the next new conversation.
    pub fn set_parameters(self, parameters: ParameterInput) {
        self.parameters.set(parameters);
    }

    /// Returns true if the next new conversation will be temporary. Tracked.
    pub fn is_temporary(self) -> bool {
        self.is_temporary.get()
    }

    /// Makes the next new conversation a temporary one, or not.
    pub fn toggle_temporary(self) {
        self.is_temporary
            .update(|is_temporary| *is_temporary = !*is_temporary);
    }

    /// Takes that option for the message that is being sent.
    pub(super) fn take_temporary(self, from: Route) -> bool {
        from == Route::New && self.is_temporary.try_update(std::mem::take) == Some(true)
    }

    /// The text to which the user has begun to change a message.
    pub fn edit(self, message: MessageId) -> Option<String> {
        self.edits.with_value(|edits| edits.get(&message).cloned())
    }

    /// Keeps the text to which the user is changing a message; `None` ends the edit.
    pub fn set_edit(self, message: MessageId, text: Option<String>) {
        self.edits.update_value(|edits| {
            match text {
                Some(text) => edits.insert(message, text),
                None => edits.remove(&message),
            };
        });
    }

    /// Takes the options for the message that is being sent: the tools it must use, and the parameters of a new
    /// conversation. Later messages start without them.
    pub(super) fn take_options(self, from: Route) -> (Vec<String>, Option<ParameterInput>) {
        let mut force_tools = Vec::new();
        if self.search_route.get_untracked() == Some(from) {
            self.search_route.set(None);
            force_tools.push(WEB_SEARCH.name.into());
        }
        let parameters = match from {
            from if from.begins_chat() => self.parameters.try_update(std::mem::take),
            _ => None,
        };
        let is_set = |parameters: &ParameterInput| *parameters != ParameterInput::default();
        (force_tools, parameters.filter(is_set))
    }

    /// Clears the options of a message that was a draft again and turned out to be sent.
    pub(super) fn clear_sent(self, from: Route, intent: &SendMessage) {
        if searches(intent) && self.search_route.get_untracked() == Some(from) {
            self.search_route.set(None);
        }
        if intent.parameters.is_some() && intent.parameters == Some(self.parameters.get_untracked()) {
            self.parameters.set(ParameterInput::default());
        }
        if intent.temporary {
            self.is_temporary.set(false);
        }
    }

    /// Restores the options of a message that became a draft again.
    pub(super) fn restore(self, from: Route, intent: &SendMessage) {
        if searches(intent) {
            self.search_route.set(Some(from));
        }
        if let Some(parameters) = &intent.parameters {
            self.parameters.set(parameters.clone());
        }
        if intent.temporary {
            self.is_temporary.set(true);
        }
    }
}

fn searches(intent: &SendMessage) -> bool {
    intent.force_tools.iter().any(|tool| tool == WEB_SEARCH.name)
}
