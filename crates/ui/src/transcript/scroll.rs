//! Scrolling that follows the end of a growing conversation, unless the user has scrolled away.

use leptos::{html, prelude::*, web_sys::HtmlDivElement};

use crate::browser;

/// The maximum distance that still counts as the end.
const END_MARGIN_PX: i32 = 32;

/// The distance to the end.
fn distance_to_end(scroller: &HtmlDivElement) -> i32 {
    scroller.scroll_height() - scroller.client_height() - scroller.scroll_top()
}

fn has_all_in_view(scroller: &HtmlDivElement) -> bool {
    scroller.scroll_height() <= scroller.client_height()
}

/// Follows the end of a scroller.
#[derive(Clone, Copy)]
pub struct EndFollower {
    scroller: NodeRef<html::Div>,
    is_following: RwSignal<bool>,
    /// The last known scroll position.
    last_top: StoredValue<i32>,
    /// The first message with its position, used to keep the reading position when older messages are added.
    first_message: StoredValue<Option<(String, i32)>>,
}

impl EndFollower {
    /// Starts at the end.
    pub fn new(scroller: NodeRef<html::Div>) -> Self {
        Self {
            scroller,
            is_following: RwSignal::new(true),
            last_top: StoredValue::new(0),
            first_message: StoredValue::new(None),
        }
    }

    /// Returns true if the end is visible.
    pub fn is_at_end(self) -> bool {
        self.is_following.get()
    }

    /// Scrolls to the end and follows it.
    pub fn follow_end(self) {
        self.set_following(true);
        self.scroll_to_end();
    }

    /// Stays where it is when the conversation grows. While all of it is in view, there is no place to stay at.
    pub fn leave_end(self) {
        let scroller = self.scroller.get_untracked();
        self.set_following(scroller.is_some_and(|scroller| has_all_in_view(&scroller)));
    }

    /// Scrolls to the end.
    pub fn scroll_to_end(self) {
        if let Some(scroller) = self.scroller.get_untracked() {
            scroller.set_scroll_top(scroller.scroll_height());
            self.last_top.set_value(scroller.scroll_top());
        }
    }

    /// Keeps the initial position if the user has scrolled before hydration or came to a fragment.
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

    /// Handles a change of the size of the content or of the scroller.
    pub fn on_resize(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let first = browser::find_in(&scroller, "article").map(|first| (first.id(), first.offset_top()));
        let before = self
            .first_message
            .try_update_value(|before| std::mem::replace(before, first.clone()));
        if self.is_following.get_untracked() || has_all_in_view(&scroller) {
            // Of messages that were deleted, nothing is left to scroll to.
            self.follow_end();
        } else if let (Some(before), Some(first)) = (before.flatten(), first)
            && before.0 != first.0
        {
            self.keep_reading_position(&scroller, &before);
        }
    }

    /// Keeps the reading position when older messages were added before the first. In browsers with scroll anchoring
    /// the result is the same.
    fn keep_reading_position(self, scroller: &HtmlDivElement, (id, before): &(String, i32)) {
        if let Some(first) = browser::element_by_id(id) {
            scroller.set_scroll_top(self.last_top.get_value() + first.offset_top() - before);
            self.last_top.set_value(scroller.scroll_top());
        }
    }

    /// Returns true if the first message is less than a screen away.
    pub fn is_near_start(self) -> bool {
        let scroller = self.scroller.get_untracked();
        scroller.is_some_and(|scroller| scroller.scroll_top() < scroller.client_height())
    }

    /// Handles a scroll event, caused by the user or by us.
    pub fn on_scroll(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let top = scroller.scroll_top();
        let before = self.last_top.get_value();
        self.last_top.set_value(top);
        let left = distance_to_end(&scroller);
        if top < before && left > 1 {
            // Only a user scrolls up and away from the end.
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
