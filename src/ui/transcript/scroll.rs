//! Staying at the end of a conversation while it grows, unless the person looks at something else.

use leptos::{html, prelude::*, web_sys::HtmlDivElement};

use crate::ui::browser;

/// How far from the end still counts as the end.
const END_MARGIN_PX: i32 = 32;

/// How far the end is.
fn distance_to_end(scroller: &HtmlDivElement) -> i32 {
    scroller.scroll_height() - scroller.client_height() - scroller.scroll_top()
}

/// Follows the end of a scroller.
#[derive(Clone, Copy)]
pub struct EndFollower {
    scroller: NodeRef<html::Div>,
    is_following: RwSignal<bool>,
    /// Where the scroller was when it was last asked.
    last_top: StoredValue<i32>,
    /// The first message, and where it was: what comes before it must not push away what is being read.
    first_message: StoredValue<Option<(String, i32)>>,
}

impl EndFollower {
    /// Begins at the end.
    pub fn new(scroller: NodeRef<html::Div>) -> Self {
        Self {
            scroller,
            is_following: RwSignal::new(true),
            last_top: StoredValue::new(0),
            first_message: StoredValue::new(None),
        }
    }

    /// Whether the end is in sight.
    pub fn is_at_end(self) -> bool {
        self.is_following.get()
    }

    /// Goes to the end and stays there.
    pub fn follow_end(self) {
        self.set_following(true);
        self.scroll_to_end();
    }

    /// Goes to the end.
    pub fn scroll_to_end(self) {
        if let Some(scroller) = self.scroller.get_untracked() {
            scroller.set_scroll_top(scroller.scroll_height());
            self.last_top.set_value(scroller.scroll_top());
        }
    }

    /// Begins where the person is already: who scrolled before the page was taken over, or came to a place in it, stays
    /// there.
    pub fn keep_initial_position(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        match browser::fragment_target() {
            Some(target) => target.scroll_into_view(),
            None if distance_to_end(&scroller) <= END_MARGIN_PX => self.scroll_to_end(),
            None => {}
        }
        self.last_top.set_value(scroller.scroll_top());
        self.set_following(distance_to_end(&scroller) <= END_MARGIN_PX);
    }

    /// The content has another size, or what is seen of it has.
    pub fn on_resize(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let first = browser::find_in(&scroller, "article").map(|first| (first.id(), first.offset_top()));
        let before = self
            .first_message
            .try_update_value(|before| std::mem::replace(before, first.clone()));
        if self.is_following.get_untracked() {
            self.scroll_to_end();
        } else if let (Some(before), Some(first)) = (before.flatten(), first)
            && before.0 != first.0
        {
            self.keep_reading_position(&scroller, &before);
        }
    }

    /// Older messages have come before what was the first: what is being read stays where it is. Browsers that see to that
    /// themselves come to the same place.
    fn keep_reading_position(self, scroller: &HtmlDivElement, (id, before): &(String, i32)) {
        if let Some(first) = browser::element_by_id(id) {
            scroller.set_scroll_top(self.last_top.get_value() + first.offset_top() - before);
            self.last_top.set_value(scroller.scroll_top());
        }
    }

    /// Whether the first message is not far: less than a screen.
    pub fn is_near_start(self) -> bool {
        let scroller = self.scroller.get_untracked();
        scroller.is_some_and(|scroller| scroller.scroll_top() < scroller.client_height())
    }

    /// The scroller moved: by the person, or by us.
    pub fn on_scroll(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let top = scroller.scroll_top();
        let before = self.last_top.get_value();
        self.last_top.set_value(top);
        let left = distance_to_end(&scroller);
        if top < before && left > 1 {
            // Upwards, and away from the end, only a person goes.
            self.set_following(false);
        } else if top >= before && left <= END_MARGIN_PX {
            self.set_following(true);
        }
    }

    fn set_following(self, sticking: bool) {
        if self.is_following.get_untracked() != sticking {
            self.is_following.set(sticking);
        }
    }
}
