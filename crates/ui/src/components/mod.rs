//! Small views that every feature uses, and the action of Escape. None of them is about one feature.

pub mod citation;
pub mod code_words;
pub mod confirm;
pub mod copy;
pub mod details;
pub mod edit_field;
pub mod escape;
pub mod highlight;
pub mod icon_button;
pub mod icons;
pub mod job_progress;
pub mod link;
pub mod listbox;
pub mod menu;
pub mod more;
pub mod not_found;
pub mod passage;
pub mod texts;
pub mod time;
pub mod toast;
