//! The tray: the chat next to a page of another kind. It is the same chat, with the same conversations, drafts and
//! panel; its messages carry the page's context.
//!
//! Its state is in [`state::tray`](super::state::tray), because the navigation depends on it. The views are in a code
//! file of their own ([`content`]).

mod content;
mod texts;

use leptos::prelude::*;

pub use self::content::load;
use crate::runtime::lazy::lazy_part;

/// The tray next to a page, or the button that opens it.
pub fn tray() -> AnyView {
    lazy_part(content::load_view)
}
