//! The action of Escape: it closes the topmost layer, or stops the answer if none is open.
//!
//! The browser itself closes dialogs and popovers. An element that handles the key prevents its default action.

use leptos::ev::KeyboardEvent;

use crate::browser;

/// An action of Escape. The layers above it come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeAction {
    ClosePanel,
    CloseTray,
    StopAnswer,
}

impl EscapeAction {
    /// Returns true if a key press is Escape and triggers this action.
    pub fn is_triggered(self, event: &KeyboardEvent) -> bool {
        event.key() == "Escape"
            && !event.default_prevented()
            && !browser::is_composing(event)
            && !self
                .excluded_fields()
                .is_some_and(|fields| browser::is_within(event, fields))
            && !browser::exists(self.layers_above())
    }

    /// Returns the selector of the layers that Escape closes first.
    fn layers_above(self) -> &'static str {
        match self {
            Self::ClosePanel => "dialog[open], :popover-open",
            Self::CloseTray => "dialog[open], :popover-open, #panel",
            Self::StopAnswer => "dialog[open], :popover-open, #panel, .tray",
        }
    }

    /// Returns the selector of the fields in which Escape has a meaning of its own.
    fn excluded_fields(self) -> Option<&'static str> {
        match self {
            Self::ClosePanel => Some("input, select"),
            Self::CloseTray => None,
            Self::StopAnswer => Some("input, select, textarea:not(#message)"),
        }
    }
}
