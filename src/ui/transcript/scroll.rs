//! Staying at the end of a conversation while it grows, unless the person looks at something else.

use leptos::{html, prelude::*};

/// How far from the end still counts as the end.
const NEAR: i32 = 32;

/// Follows the end of a scroller.
#[derive(Clone, Copy)]
pub struct Follower {
    scroller: NodeRef<html::Div>,
    sticking: RwSignal<bool>,
    /// Where the scroller was when it was last asked.
    top: StoredValue<i32>,
}

impl Follower {
    /// Begins at the end.
    pub fn new(scroller: NodeRef<html::Div>) -> Self {
        Self {
            scroller,
            sticking: RwSignal::new(true),
            top: StoredValue::new(0),
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

    /// The content has another size.
    pub fn grown(self) {
        if self.sticking.get_untracked() {
            self.to_end();
        }
    }

    /// The scroller moved: by the person, or by us.
    pub fn scrolled(self) {
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let top = scroller.scroll_top();
        let before = self.top.get_value();
        self.top.set_value(top);
        let left = scroller.scroll_height() - scroller.client_height() - top;
        if left <= NEAR {
            self.set(true);
        } else if top < before {
            // Upwards only a person goes.
            self.set(false);
        }
    }

    fn set(self, sticking: bool) {
        if self.sticking.get_untracked() != sticking {
            self.sticking.set(sticking);
        }
    }
}
