//! What is wanted of the next message besides its text.

use leptos::prelude::*;

use super::outbox::{Extras, Sending};
use crate::{
    protocol::{AskedParameters, chat::WEB_SEARCH, intent::SendMessage},
    ui::place::Place,
};

/// What the person has set for what they send next.
#[derive(Clone, Copy)]
pub struct Wishes {
    /// Where the web is to be searched for the next message, and nowhere else.
    search: RwSignal<Option<Place>>,
    /// How the model is to be asked in the conversation that begins next. One that is there has its own.
    pub parameters: RwSignal<AskedParameters>,
}

impl Wishes {
    /// Nothing is wanted.
    pub fn new() -> Self {
        Self {
            search: RwSignal::new(None),
            parameters: RwSignal::default(),
        }
    }

    /// Whether the web is to be searched for the next message here.
    pub fn searches(self, place: Place) -> bool {
        self.search.get() == Some(place)
    }

    /// Has the web searched, or not after all.
    pub fn turn_search(self, place: Place) {
        self.search
            .update(|search| *search = (*search != Some(place)).then_some(place));
    }

    /// Adds what is wanted of the message that is sent now, and of none after it.
    pub(super) fn take(self, from: Place, extras: &mut Extras) {
        if self.search.get_untracked() == Some(from) {
            self.search.set(None);
            extras.force_tools.push(WEB_SEARCH.into());
        }
        if from == Place::New {
            let asked = self.parameters.try_update(std::mem::take);
            extras.parameters = asked.filter(|asked| *asked != AskedParameters::default());
        }
    }

    /// A message that was a draft again got through after all: what was wanted of it is not wanted of the next.
    pub(super) fn take_out(self, Sending { from, intent, .. }: &Sending) {
        if searches(intent) && self.search.get_untracked() == Some(*from) {
            self.search.set(None);
        }
        if intent.parameters.is_some() && intent.parameters == Some(self.parameters.get_untracked()) {
            self.parameters.set(AskedParameters::default());
        }
    }

    /// A message is a draft again, and what was wanted of it is wanted again.
    pub(super) fn put_back(self, Sending { from, intent, .. }: &Sending) {
        if searches(intent) {
            self.search.set(Some(*from));
        }
        if let Some(asked) = &intent.parameters {
            self.parameters.set(asked.clone());
        }
    }
}

fn searches(intent: &SendMessage) -> bool {
    intent.force_tools.iter().any(|tool| tool == WEB_SEARCH)
}
