//! The place that was opened from a search: shown, and kept in view while what is around it is still being drawn.

use leptos::prelude::*;

use super::scroll::EndFollower;
use crate::{
    browser,
    runtime::effect::effect,
    state::{ConversationView, FoundPlace, use_conversations},
};

/// The place of a conversation on the screen.
#[derive(Clone, Copy)]
pub struct Found {
    follower: EndFollower,
    /// The place, until the user scrolls away from it.
    place: StoredValue<Option<FoundPlace>>,
}

impl Found {
    /// Shows places in a conversation from now on, once their messages are there.
    pub fn new(view: &ConversationView, follower: EndFollower) -> Self {
        let found = Self {
            follower,
            place: StoredValue::new(None),
        };
        let (id, rows) = (view.id, view.rows.clone());
        let conversations = use_conversations();
        let place = Memo::new(move |_| conversations.place(id));
        effect(move || {
            rows.track();
            found.place.set_value(place.get());
            // The rows are drawn by then.
            browser::on_next_frame(move || found.show_again());
        });
        found
    }

    /// Scrolls to the place again, after a change of what is around it.
    pub fn show_again(self) {
        let Some(FoundPlace {
            message_id, words, ..
        }) = self.place.try_get_value().flatten()
        else {
            return;
        };
        self.follower.leave_end();
        browser::show_found(".transcript", &message_id.to_string(), &words);
    }

    /// Leaves the scroll position to the user.
    pub fn leave(self) {
        self.place.set_value(None);
    }
}
