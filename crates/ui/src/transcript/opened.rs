//! What the user has opened in an answer. A view that takes the place of another, as when a call becomes part of a stretch, is
//! open if that one was.

use leptos::prelude::*;

use super::sections::PartKey;

/// A view of a part that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedView {
    Call,
    /// The stretch that the part is in.
    Stretch,
}

/// The opened views of one answer.
#[derive(Clone, Copy)]
pub struct Opened(StoredValue<Vec<(PartKey, OpenedView)>>);

impl Opened {
    pub fn new() -> Self {
        Self(StoredValue::default())
    }

    pub fn contains(self, view: (PartKey, OpenedView)) -> bool {
        self.0.with_value(|opened| opened.contains(&view))
    }

    pub fn set(self, view: (PartKey, OpenedView), is_open: bool) {
        self.0.update_value(|opened| {
            opened.retain(|known| *known != view);
            if is_open {
                opened.push(view);
            }
        });
    }
}
