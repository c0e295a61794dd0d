//! What is wanted of the next message besides its text.

use leptos::prelude::*;

use super::outbox::{MessageOptions, OutgoingMessage};
use crate::{
    protocol::ParameterInput, protocol::intent::SendMessage, protocol::model_list::WEB_SEARCH,
    ui::state::route::Route,
};

/// What the person has set for what they send next.
#[derive(Clone, Copy)]
pub struct NextMessageOptions {
    /// Where the web is to be searched for the next message, and nowhere else.
    search_route: RwSignal<Option<Route>>,
    /// How the model is to be asked in the conversation that begins next. One that is there has its own.
    pub parameters: RwSignal<ParameterInput>,
}

impl NextMessageOptions {
    /// Nothing is wanted.
    pub fn new() -> Self {
        Self {
            search_route: RwSignal::new(None),
            parameters: RwSignal::default(),
        }
    }

    /// Whether the web is to be searched for the next message here.
    pub fn is_search_on(self, place: Route) -> bool {
        self.search_route.get() == Some(place)
    }

    /// Has the web searched, or not after all.
    pub fn toggle_search(self, place: Route) {
        self.search_route
            .update(|search| *search = (*search != Some(place)).then_some(place));
    }

    /// Adds what is wanted of the message that is sent now, and of none after it.
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

    /// A message that was a draft again got through after all: what was wanted of it is not wanted of the next.
    pub(super) fn clear_sent(self, OutgoingMessage { from, intent, .. }: &OutgoingMessage) {
        if searches(intent) && self.search_route.get_untracked() == Some(*from) {
            self.search_route.set(None);
        }
        if intent.parameters.is_some() && intent.parameters == Some(self.parameters.get_untracked()) {
            self.parameters.set(ParameterInput::default());
        }
    }

    /// A message is a draft again, and what was wanted of it is wanted again.
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
