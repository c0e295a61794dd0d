//! Options of the next message besides its text.

use leptos::prelude::*;

use super::outbox::{MessageOptions, OutgoingMessage};
use crate::{
    protocol::ParameterInput, protocol::intent::SendMessage, protocol::model_list::WEB_SEARCH,
    ui::state::route::Route,
};

/// The user's options for the next message.
#[derive(Clone, Copy)]
pub struct NextMessageOptions {
    /// The route where the web is searched for the next message, and only there.
    search_route: RwSignal<Option<Route>>,
    /// The model parameters of the next new conversation. An existing conversation has its own.
    pub parameters: RwSignal<ParameterInput>,
}

impl NextMessageOptions {
    /// No options set.
    pub fn new() -> Self {
        Self {
            search_route: RwSignal::new(None),
            parameters: RwSignal::default(),
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

    /// Moves the options into the message that is being sent; later messages start without them.
    pub(super) fn apply_to(self, from: Route, extras: &mut MessageOptions) {
        if self.search_route.get_untracked() == Some(from) {
            self.search_route.set(None);
            extras.force_tools.push(WEB_SEARCH.into());
        }
        if from == Route::New {
            let asked = self.parameters.try_update(std::mem::take);
            extras.parameters = asked.filter(|asked| *asked != ParameterInput::default());
        }
    }

    /// Clears the options of a message that was a draft again and turned out to be sent.
    pub(super) fn clear_sent(self, OutgoingMessage { from, intent, .. }: &OutgoingMessage) {
        if searches(intent) && self.search_route.get_untracked() == Some(*from) {
            self.search_route.set(None);
        }
        if intent.parameters.is_some() && intent.parameters == Some(self.parameters.get_untracked()) {
            self.parameters.set(ParameterInput::default());
        }
    }

    /// Restores the options of a message that became a draft again.
    pub(super) fn restore(self, OutgoingMessage { from, intent, .. }: &OutgoingMessage) {
        if searches(intent) {
            self.search_route.set(Some(*from));
        }
        if let Some(asked) = &intent.parameters {
            self.parameters.set(asked.clone());
        }
    }
}

fn searches(intent: &SendMessage) -> bool {
    intent.force_tools.iter().any(|tool| tool == WEB_SEARCH)
}
