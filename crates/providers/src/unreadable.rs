//! Reports of content of an answer that can't be read or shown.

use std::collections::VecDeque;

use parlor_base::text::truncate_counted;
use parlor_model::{ModelEvent, UnreadableContent};

/// The maximum number of bytes kept of unreadable content.
const MAX_RAW_BYTES: usize = 2000;

/// The maximum number of unreadable contents that are reported for one answer.
const MAX_UNREADABLE: usize = 20;

/// The unknown contents of one answer, each of which is reported once.
#[derive(Debug, Default)]
pub struct UnreadableContents(Vec<String>);

impl UnreadableContents {
    /// Reports content, unless some of that name was reported.
    pub fn push(&mut self, what: UnreadableContent, raw: &str, events: &mut VecDeque<ModelEvent>) {
        if self.0.len() < MAX_UNREADABLE && !self.0.iter().any(|known| known == what.name()) {
            self.0.push(what.name().to_owned());
            let raw = raw_excerpt(raw);
            events.push_back(ModelEvent::Unreadable { what, raw });
        }
    }
}

/// Truncates unreadable content for the diagnostics.
pub fn raw_excerpt(raw: &str) -> String {
    truncate_counted(raw, MAX_RAW_BYTES)
}
