//! Staying at the end of a conversation while it grows, unless the person looks at something else.

use leptos::{html, prelude::*, web_sys::HtmlDivElement};

use crate::ui::browser;

/// How far from the end still counts as the end.
const NEAR: i32 = 32;

/// How far the end is.
fn left(scroller: &HtmlDivElement) -> i32 {
    scroller.scroll_height() - scroller.client_height() - scroller.scroll_top()
}

/// Follows the end of a scroller.
#[derive(Clone, Copy)]
pub struct Follower {
    scroller: NodeRef<html::Div>,
    sticking: RwSignal<bool>,
    /// Where the scroller was when it was last asked.
    top: StoredValue<i32>,
    /// The first message, and where it was: what comes before it must not push away what is being read.
    first: StoredValue<Option<(String, i32)>>,
}

impl Follower {
    /// Begins at the end.
    pub fn new(scroller: NodeRef<html::Div>) -> Self {
        Self {
            scroller,
            sticking: RwSignal::new(true),
            top: StoredValue::new(0),
            first: StoredValue::new(None),
        }
    }

    /// Whether the end is in sight.
    pub fn at_end(self) -> bool {
        self.sticking.get()
    }

    /// Goes to the end and stays there.
    pub fn stick(self) {
        self.set(true);
        self.to_end();
    }

    /// Goes to the end.
    pub fn to_end(self) {
        if let Some(scroller) = self.scroller.get_untracked() {
            scroller.set_scroll_top(scroller.scroll_height());
            self.top.set_value(scroller.scroll_top());
        }
    }

    /// Begins where the person is already: who scrolled before the page was taken over, or came to a place in it, stays
    /// there.
    pub fn stay(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        match browser::target() {
            Some(target) => target.scroll_into_view(),
            None if left(&scroller) <= NEAR => self.to_end(),
            None => {}
        }
        self.top.set_value(scroller.scroll_top());
        self.set(left(&scroller) <= NEAR);
    }

    /// The content has another size, or what is seen of it has.
    pub fn resized(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let first = browser::find_in(&scroller, "article").map(|first| (first.id(), first.offset_top()));
        let before = self
            .first
            .try_update_value(|before| std::mem::replace(before, first.clone()));
        if self.sticking.get_untracked() {
            self.to_end();
        } else if let (Some(before), Some(first)) = (before.flatten(), first)
            && before.0 != first.0
        {
            self.hold(&scroller, &before);
        }
    }

    /// Older messages have come before what was the first: what is being read stays where it is. Browsers that see to that
    /// themselves come to the same place.
    fn hold(self, scroller: &HtmlDivElement, (id, before): &(String, i32)) {
        if let Some(first) = browser::element(id) {
            scroller.set_scroll_top(self.top.get_value() + first.offset_top() - before);
            self.top.set_value(scroller.scroll_top());
        }
    }

    /// Whether the first message is not far: less than a screen.
    pub fn near_start(self) -> bool {
        let scroller = self.scroller.get_untracked();
        scroller.is_some_and(|scroller| scroller.scroll_top() < scroller.client_height())
    }

    /// The scroller moved: by the person, or by us.
    pub fn scrolled(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let top = scroller.scroll_top();
        let before = self.top.get_value();
        self.top.set_value(top);
        let left = left(&scroller);
        if top < before && left > 1 {
            // Upwards, and away from the end, only a person goes.
            self.set(false);
        } else if top >= before && left <= NEAR {
            self.set(true);
        }
    }

    fn set(self, sticking: bool) {
        if self.sticking.get_untracked() != sticking {
            self.sticking.set(sticking);
        }
    }
}
